"""Convert what tvm-ffi does not: enumerators, NumPy's bools, streams, and elements of structs.

One Python function is made for a signature. It passes on what is of the right type already:

    def adapter(a0, a1, a2):
        return function(array_0(a0), a1 if type(a1) is int else plain(a1), elements_2(unpack(a2)))

Arrays are checked by the rules of their frameworks (`arrays.py`), also where nothing is converted.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeGuard, cast

import tvm_ffi
from tvm_ffi.utils.unpack_dataclass import unpack_dataclass_to_tuple

from ffi_builder.records import dataclass
from ffi_builder.runtime.metadata import Info, Parameter
from ffi_builder.runtime.python import arrays
from ffi_builder.runtime.python.arrays import Place

_INTEGERS: Final = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
_FLOATS: Final = ["float16", "bfloat16", "float32", "float64"]

_EXPRESSIONS: Final[dict[str, str]] = {
    **dict.fromkeys(_INTEGERS, "{0} if type({0}) is int else plain({0})"),
    **dict.fromkeys(_FLOATS, "{0} if type({0}) is float else plain({0})"),
    "bool": "{0} if type({0}) is bool else plain({0})",
    "Literal": "plain({0})",
    "String": "{0} if type({0}) is str else plain({0})",
    "Choice": "{0} if type({0}) is str else choice({0})",
    "Stream": "{0} if {0} is None else stream({0})",
}
"""Conversions by the kind of the parameter; `{0}` is the argument. Others pass it on as it is."""

_TENSORS, _TUPLE = 1, 2
"""Kinds of results, as in `_entry.h`: tensors, and several without tensors."""

_ARRAYS: Final = {
    "Tensor": arrays.check_array,
    "TensorList": arrays.check_list,
    "Array": arrays.check_items,
    "Map": arrays.check_items,
    "Object": arrays.check_items,
}
"""Checks of frameworks' rules, by the kind of the parameter."""


def has_arrays(params: Iterable[Parameter]) -> bool:
    """Tell whether frameworks' rules are about an argument, or an element of one."""
    return any(param.kind in _ARRAYS or has_arrays(param.elements) for param in params)


def adapter(
    function: Callable[..., Any], order: Sequence[int], info: Info, *, converts: bool = True
) -> Callable[..., Any]:
    """Wrap `function` to check, convert and reorder its arguments, if there is anything to do.

    Argument i of the function is number `order[i]` of the wrapper. Of the signature, only the
    number of arguments gets into the code. Without `converts`, arrays alone are looked at.
    """
    scope = _Scope(
        {
            "function": finishing(function, info),
            "plain": plain_value,
            "choice": choice_name,
            "stream": stream_handle,
            "unpack": unpack_dataclass_to_tuple,
        },
        _EXPRESSIONS if converts else {},
    )
    made = [
        _expression(param, f"a{at}", scope, arrays.place(param, at, info))
        for at, param in enumerate(info.parameters)
    ]
    names = [f"a{at}" for at in sorted(range(len(order)), key=order.__getitem__)]
    if made == names:
        return function
    return _defined(f"({', '.join(names)}): return function({', '.join(made)})", scope.names)


@dataclass
class _Scope:
    """The names that the code of an adapter uses, and the expressions for kinds of parameters."""

    names: dict[str, Any]
    expressions: Mapping[str, str]

    def add(self, name: str, value: object) -> str:
        """Give `value` a name of its own that begins with `name`."""
        name = f"{name}_{len(self.names)}"
        self.names[name] = value
        return name


def _expression(param: Parameter, argument: str, scope: _Scope, at: Place) -> str:
    """Write what is passed on for `argument`, a name; `scope` gets functions that it calls."""
    if (check := _ARRAYS.get(param.kind)) is not None:
        return f"{scope.add('array', functools.partial(check, at=at))}({argument})"
    if param.kind not in ("Struct", "Tuple"):
        return scope.expressions.get(param.kind, "{0}").format(argument)
    passed = argument
    if scope.expressions:
        record = _record(param)
        if record.named:
            passed = f"{scope.add('check', functools.partial(_check, record=record))}({passed})"
        passed = f"unpack({passed})"
    converted = _elements(param, scope, at)
    return f"{converted}({passed})" if converted else passed


def _elements(param: Parameter, scope: _Scope, at: Place) -> str:
    """The name of a function that converts the elements of a tuple; empty if none needs it."""
    names = [f"e{index}" for index in range(len(param.elements))]
    made: list[str] = []
    for index, (name, element) in enumerate(zip(names, param.elements, strict=True)):
        inside = at.element(param, index)
        if element.kind in ("Struct", "Tuple"):
            inner = _elements(element, scope, inside)
            made.append(f"{inner}({name})" if inner else name)
        else:
            made.append(_expression(element, name, scope, inside))
    if made == names:
        return ""
    body = f"(values):\n    {', '.join(names)}, = values\n    return ({', '.join(made)},)"
    split = _defined(body, scope.names)

    def elements(values: Any) -> Any:
        # For anything else, or too few, the wrapper raises the error.
        values = arrays.unwrapped(values)
        right = _is_sequence(values) and len(values) == len(names)
        return split(values) if right else values

    return scope.add("elements", elements)


# ---- after a call


def finishing(function: Callable[..., Any], info: Info) -> Callable[..., Any]:
    """Wrap `function` to tell autograd what it wrote, and to return arrays as the caller has them.

    Nothing is told of a call that fails, as in PyTorch. If a framework does not export an array,
    its error names the argument.
    """
    paths = list(array_paths(info.parameters))
    written = [path for path, param in paths if param.intent != "in"]
    convert = returning(info) if what_returns(info) else None

    def call(*args: Any) -> Any:
        try:
            result = function(*args)
        except BufferError as error:
            found = _not_exported(args, info)
            if found is None:
                raise
            raise found from error
        for path in written:
            arrays.mark_written(_at(args, path))
        return result if convert is None else convert(result, args)

    return call if paths or convert else function


def _not_exported(args: Sequence[Any], info: Info) -> BufferError | None:
    """Return an error that names the first array that its framework does not export."""
    for path, param in array_paths(info.parameters):
        outer, at = info.parameters[path[0]], arrays.place(info.parameters[path[0]], path[0], info)
        for index in path[1:]:
            at, outer = at.element(outer, index), outer.elements[index]
        value = _at(args, path)
        items = [(value, at)]
        if param.kind == "TensorList" and isinstance(value, (list, tuple)):
            values = enumerate(cast("list[Any]", value))
            items = [(item, at.item(index)) for index, item in values]
        for item, place in items:
            if (found := arrays.not_exported(item, place)) is not None:
                return found
    return None


def what_returns(info: Info) -> int:
    """Return the kind of the results: `_TENSORS`, `_TUPLE`, or 0 for one without tensors."""
    if any(result.kind == "Tensor" for result in info.results):
        return _TENSORS
    return _TUPLE if info.returns.startswith("(") else 0


def returning(info: Info) -> Callable[[Any, Sequence[Any]], Any]:
    """Make the function that converts a result to the framework of the arrays in the arguments."""
    paths = [path for path, _ in array_paths(info.parameters)]

    def converted(result: Any, args: Sequence[Any]) -> Any:
        found = [array for path in paths for array in arrays.arrays_in(_at(args, path))]
        return arrays.like_arguments(result, found)

    return converted


def array_paths(
    params: Sequence[Parameter], path: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[int, ...], Parameter]]:
    """Yield the places of parameters that may have arrays, in tuples too, and the parameters."""
    for index, param in enumerate(params):
        if param.kind in _ARRAYS:
            yield (*path, index), param
        yield from array_paths(param.elements, (*path, index))


def _at(args: Any, path: tuple[int, ...]) -> Any:
    """Return the argument or element at a path; None if it is in an Optional that is absent.

    None too if it is in something else that tvm-ffi converts to an Array, by a method.
    """
    for index in path:
        if not isinstance(args, (tuple, list, tvm_ffi.Array)):
            return None
        args = cast("Sequence[Any]", args)[index]
    return args


def _defined(rest: str, scope: dict[str, Any]) -> Callable[..., Any]:
    made: dict[str, Any] = {}
    exec(f"def adapter{rest}", scope, made)
    return made["adapter"]


# ---- enumerators and streams


def plain_value(value: Any) -> Any:
    """Convert an enumerator to its value, and NumPy's bool to Python's."""
    if isinstance(value, enum.Enum):
        return value.value
    kind = cast("type[object]", type(value))
    return bool(value) if _is_numpy_bool(kind) else value


@functools.lru_cache(maxsize=256)
def _is_numpy_bool(cls: type[object]) -> bool:
    """Tell whether it is `np.bool_`, which NumPy 2 calls bool, without importing NumPy."""
    return cls.__module__ == "numpy" and cls.__name__ in ("bool", "bool_")


def choice_name(value: Any) -> Any:
    """Convert an enumerator to its value if that is a str, else to its name."""
    if isinstance(value, enum.Enum):
        return value.value if isinstance(value.value, str) else value.name
    return value


def stream_handle(stream: Any) -> Any:
    """Convert a `torch.cuda.Stream` or a `CUstream` to an int; tvm-ffi converts the rest."""
    if _has(stream, "__cuda_stream__"):
        return stream
    handle = getattr(stream, "cuda_stream", stream)
    # With `__float__` as well, it is a number or an array.
    if type(handle) is int or (_has(handle, "__int__") and not _has(handle, "__float__")):
        return int(handle)
    return stream


def _has(value: object, name: str) -> bool:
    """Tell whether the class of `value` has an attribute: tvm-ffi looks there too."""
    return hasattr(type(value), name)


# ---- records: dataclasses and NamedTuples


@dataclass(frozen=True)
class _Record:
    """The names in a Struct (in a Tuple, none), and the records among its elements."""

    path: str
    names: tuple[str, ...]
    inner: tuple[tuple[int, str, _Record], ...]

    @property
    def named(self) -> bool:
        return bool(self.names) or any(record.named for _, _, record in self.inner)


def _record(param: Parameter, path: str = "") -> _Record:
    path = path or param.name
    is_struct = param.kind == "Struct"
    inner: list[tuple[int, str, _Record]] = []
    for index, element in enumerate(param.elements):
        if element.kind in ("Struct", "Tuple"):
            below = f"{path}.{element.name}" if is_struct else f"{path}[{index}]"
            inner.append((index, element.name, _record(element, below)))
    names = tuple(element.name for element in param.elements) if is_struct else ()
    return _Record(path, names, tuple(inner))


def _check(value: object, record: _Record) -> Any:
    """Check that fields are named as in the Struct, since they are passed by position."""
    given = _field_names(type(value))
    if given is not None and record.names and given != record.names:
        raise TypeError(
            f"Mismatched {record.path}, expected the fields {', '.join(record.names)} but got "
            f"{type(value).__name__} with {', '.join(given) or 'none'}"
        )
    for index, name, inner in record.inner:
        if given is not None and record.names:
            _check(getattr(value, name), inner)
        elif _is_sequence(value) and index < len(value):
            _check(value[index], inner)
    return value


def _is_sequence(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, (tuple, list))


@functools.lru_cache(maxsize=256)
def _field_names(cls: type[object]) -> tuple[str, ...] | None:
    """The fields of a dataclass or NamedTuple; None for other classes."""
    if dataclasses.is_dataclass(cls):
        return tuple(field.name for field in dataclasses.fields(cls))
    if not issubclass(cls, tuple):
        return None
    return getattr(cast("Any", cls), "_fields", None)
