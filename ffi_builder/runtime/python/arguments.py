"""Converts what tvm-ffi does not: enumerators, NumPy's bools, streams, and elements of structs.

For each signature, one Python function is made. It passes arguments of the right type unchanged:

    def adapter(a0, a1, a2):
        if type(a0) not in flat: a0 = look(0, a0)
        …
        try:
            return function(array_0(a0), a1 if type(a1) is int else plain(a1), elements_2(a2))
        except Exception as error:
            …

It always checks arrays by the rules of their frameworks (`arrays.py`), also if it converts nothing.
Of what tvm-ffi does not pass, its errors name the argument (`conversion.py`).
"""

from __future__ import annotations

import ctypes
import dataclasses
import enum
import functools
import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, Final, cast

import tvm_ffi

from ffi_builder import conversion
from ffi_builder.records import dataclass
from ffi_builder.runtime.metadata import Info, Parameter
from ffi_builder.runtime.python import arrays
from ffi_builder.runtime.python.arrays import is_sequence, items, unwrapped
from ffi_builder.runtime.python.handles import Handle, fits
from ffi_builder.runtime.python.position import Position, position_of

_INTEGERS: Final = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
_FLOATS: Final = ["float16", "bfloat16", "float32", "float64"]

SCALARS: Final[dict[str, str]] = {
    **dict.fromkeys(_INTEGERS, "{0} if type({0}) is int else plain({0})"),
    **dict.fromkeys(_FLOATS, "{0} if type({0}) is float else plain({0})"),
    "bool": "{0} if type({0}) is bool else plain({0})",
    "Literal": "plain({0})",
    "Bytes": "{0} if type({0}) is bytes else contents({0})",
    "String": "{0} if type({0}) is str else plain({0})",
    "Choice": "{0} if type({0}) is str else choice({0})",
    "Stream": "{0} if {0} is None else stream({0})",
}
"""The kinds of parameters that take ints, floats, bools, strs and bytes, with conversions to these.

`{0}` is the argument. Other kinds pass it unchanged.
"""

_TENSORS, _TUPLE = 1, 2
"""Kinds of results, as in `_entry.h`: with tensors, and several results without tensors."""

_TUPLE_CLASS: Final[Any] = tuple
"""Typed as Any, so that type checkers do not narrow types after a comparison with it."""

_ARRAYS: Final = {
    "Tensor": arrays.check_array,
    "TensorList": arrays.check_list,
    "Array": arrays.check_items,
    "Map": arrays.check_items,
    "Object": arrays.check_items,
    "Any": arrays.check_items,
    "Variant": arrays.check_items,
}
"""Checks of frameworks' rules, by the kind of the parameter."""


def has_arrays(params: Iterable[Parameter]) -> bool:
    """Tell whether an argument, or an element of one, may be an array, which has rules to check."""
    return any(param.kind in _ARRAYS or has_arrays(param.elements) for param in params)


def adapter(
    function: Callable[..., Any], info: Info, order: Sequence[int] = (), *, converts: bool = True
) -> Callable[..., Any]:
    """Wrap `function` to check, convert and reorder its arguments, if there is anything to do.

    Argument i of the function is argument `order[i]` of the wrapper, or i without an order. The
    generated code contains only numbers from the signature, no names. Without `converts`, only
    arrays are checked.
    """
    scope = _Scope(
        {
            "function": finishing(function, info),
            "plain": plain_value,
            "choice": choice_name,
            "contents": contents,
            "stream": stream_handle,
        },
        SCALARS if converts else {},
    )
    made = [
        _expression(param, f"a{at}", scope, position_of(param, at, info))
        for at, param in enumerate(info.parameters)
    ]
    if not made:
        return function
    order = order or range(len(made))
    names = [f"a{at}" for at in sorted(range(len(order)), key=order.__getitem__)]
    given = "".join(f"a{at}, " for at in range(len(made)))
    looked_at = len(made)
    if info.takes_more:
        looked_at -= 1
        rest = f"a{looked_at}"
        names[-1], given = f"*{rest}", given.replace(rest, f"*{rest}")
    scope.names |= {
        "flat": conversion.FLAT,
        "look": functools.partial(_looked_through, info),
        "refused": functools.partial(refused, info),
    }
    looks = "".join(
        f"    if type(a{at}) not in flat: a{at} = look({at}, a{at})\n" for at in range(looked_at)
    )
    return _defined(
        f"""({", ".join(names)}):
{looks}    try:
        return function({", ".join(made)})
    except Exception as error:
        argument_error = refused(({given}), error)
        if argument_error is None:
            raise
        raise argument_error from error
""",
        scope.names,
    )


def _looked_through(info: Info, number: int, value: Any) -> Any:
    """Return the value that an argument stands for.

    Raises ValueError if it is nested too deeply to be passed.
    """
    with suppress(Exception):  # of a method, which raises it again when tvm-ffi converts the value
        value = unwrapped(value)
    if conversion.deep((value,)) is not None:
        at = position_of(info.parameters[number], number, info)
        raise at.mismatch(conversion.EXPECTED, conversion.GOT)
    return value


def refused(info: Info, values: Sequence[Any], error: Exception) -> TypeError | None:
    """Return an error that names the argument which tvm-ffi did not convert, if that was it."""
    unconverted = conversion.unconverted(values, error)
    if unconverted is None:
        return None
    number, got = unconverted
    param = info.parameters[min(number, len(info.parameters) - 1)]
    return position_of(param, number, info).mismatched_type(param.type, got)


@dataclass
class _Scope:
    """The names that the code of an adapter uses, and the expressions for kinds of parameters."""

    names: dict[str, Any]
    expressions: Mapping[str, str]

    def add(self, name: str, value: object) -> str:
        """Return a new name for `value`, which begins with `name`."""
        name = f"{name}_{len(self.names)}"
        self.names[name] = value
        return name


def _expression(param: Parameter, argument: str, scope: _Scope, at: Position) -> str:
    """Return the expression to pass for the name `argument`; add what it calls to `scope`."""
    if param.is_varargs:
        check = functools.partial(arrays.check_items, at=at)
        return f"*map({scope.add('array', check)}, {argument})"
    if (check := _ARRAYS.get(param.kind)) is not None:
        if param.kind == "Variant":  # a bool may be NumPy's
            argument = scope.expressions.get("bool", "{0}").format(argument)
        return f"{scope.add('array', functools.partial(check, at=at))}({argument})"
    if param.kind == "handle":
        handle = scope.add("handle", functools.partial(_address, param, at))
        return f"{argument} if {argument} is None else {handle}({argument})"
    if param.kind not in ("Struct", "Tuple"):
        return scope.expressions.get(param.kind, "{0}").format(argument)
    elements = _elements(param, scope, at)
    return f"{elements}({argument})" if elements else argument


def _elements(param: Parameter, scope: _Scope, at: Position) -> str:
    """Return the name of a function that converts a tuple or record; empty if none is needed."""
    count = len(param.elements)
    names = [f"e{index}" for index in range(count)]
    made = [
        _expression(element, name, scope, at.element(param, index))
        for index, (name, element) in enumerate(zip(names, param.elements, strict=True))
    ]
    takes_records = bool(scope.expressions)
    if made == names and not takes_records:
        return ""
    body = f"(values):\n    [{', '.join(names)}] = values\n    return [{', '.join(made)}]"
    split = _defined(body, scope.names)
    named = tuple(element.name for element in param.elements) if param.kind == "Struct" else ()

    def elements(values: Any) -> Any:
        if type(values) is not _TUPLE_CLASS:
            values = unwrapped(values)
            if takes_records:
                values = _fields(values, named, at)
            if is_sequence(values):
                values = tuple(items(values))
        # For other values, or another number of elements, the wrapper raises the error.
        return split(values) if type(values) is _TUPLE_CLASS and len(values) == count else values

    return scope.add("elements", elements)


def _address(param: Parameter, at: Position, value: Any) -> Any:
    """Return the address of a function of ctypes, or of a handle, which must be open and of a kind.

    tvm-ffi would take the function for one of Python.
    """
    if isinstance(value, _PYTHON_FUNCTIONS) and not param.pointee:
        got = "ffi.Function: C calls a function of Python as ctypes.CFUNCTYPE(…)(f)"
        raise at.mismatched_type("opaque pointer or None", got)
    if not isinstance(value, Handle):
        return function_address(value)
    if value.closed:
        raise at.mismatch("an open handle", f"{value!r}")
    if not fits(value, param):
        got = f"{value!r}, a pointer to {value.pointee}"
        raise at.mismatched_type(f"a pointer to {param.pointee}", got)
    return value


# ---- after a call


def finishing(function: Callable[..., Any], info: Info) -> Callable[..., Any]:
    """Wrap `function` to tell autograd what it wrote, and to return the caller's kind of arrays.

    As in PyTorch, autograd is not told about calls that fail. If a framework does not export an
    array, the error names the argument.
    """
    paths = list(array_paths(info.parameters))
    written = [path for path, param in paths if param.intent != "in"]
    convert = returning(info) if what_returns(info) else None

    def call(*args: Any) -> Any:
        try:
            result = function(*args)
        except BufferError as error:
            argument_error = _not_exported(args, info)
            if argument_error is None:
                raise
            raise argument_error from error
        if "torch" in sys.modules:
            for path in written:
                arrays.mark_written(_at(args, path))
        return result if convert is None else convert(result, args)

    return call if paths or convert else function


def _not_exported(args: Sequence[Any], info: Info) -> TypeError | ValueError | None:
    """Return an error that names the first array that its framework does not export."""
    for path, param in array_paths(info.parameters):
        outer = info.parameters[path[0]]
        at = position_of(outer, path[0], info)
        for index in path[1:]:
            at, outer = at.element(outer, index), outer.elements[index]
        value = _at(args, path)
        places = [(value, at)]
        if param.kind == "TensorList" and is_sequence(value):
            places = [(item, at.item(index)) for index, item in enumerate(items(value))]
        for item, place in places:
            if (argument_error := arrays.not_exported(item, place)) is not None:
                return argument_error
    return None


def what_returns(info: Info) -> int:
    """Return the kind of the results: `_TENSORS`, `_TUPLE`, or 0 for one without tensors."""
    if any(result.kind in ("Tensor", "TensorList") for result in info.results):
        return _TENSORS
    return _TUPLE if info.returns.startswith("(") else 0


def returning(info: Info) -> Callable[[Any, Sequence[Any]], Any]:
    """Make the function that converts a result to the framework of the arrays in the arguments."""
    paths = [path for path, _ in array_paths(info.parameters)]

    def converted(result: Any, args: Sequence[Any]) -> Any:
        given = [array for path in paths for array in arrays.arrays_in(_at(args, path))]
        return arrays.like_arguments(result, given)

    return converted


def array_paths(
    params: Sequence[Parameter], path: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[int, ...], Parameter]]:
    """Yield the path of each parameter that may have arrays, also in tuples, and the parameter."""
    for index, param in enumerate(params):
        if param.kind in _ARRAYS:
            yield (*path, index), param
        yield from array_paths(param.elements, (*path, index))


def _at(args: Any, path: tuple[int, ...]) -> Any:
    """Return the argument or element at a path; None if it is in an absent Optional.

    Also return None for an element of an object that tvm-ffi converts to an Array by a method.
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


# ---- callbacks, enumerators and streams

_C_FUNCTION: Final = ctypes.CFUNCTYPE(None).__mro__[1]
"""The class of all functions of ctypes, which has a private name."""
_PYTHON_FUNCTIONS: Final = (FunctionType, MethodType, BuiltinFunctionType)


def function_address(value: Any) -> Any:
    """Return the address of a function of ctypes, which tvm-ffi would take for one of Python."""
    return ctypes.cast(value, ctypes.c_void_p) if isinstance(value, _C_FUNCTION) else value


def plain_value(value: Any) -> Any:
    """Convert an enumerator to its value, and NumPy's bool to Python's."""
    if isinstance(value, enum.Enum):
        return value.value
    kind = cast("type[object]", type(value))
    return bool(value) if _is_numpy_bool(kind) else value


@functools.lru_cache(maxsize=256)
def _is_numpy_bool(cls: type[object]) -> bool:
    """Tell whether a class is `np.bool_`, which NumPy 2 calls bool, without importing NumPy."""
    return cls.__module__ == "numpy" and cls.__name__ in ("bool", "bool_")


def choice_name(value: Any) -> Any:
    """Convert an enumerator to its value if that is a str, else to its name."""
    if isinstance(value, enum.Enum):
        return value.value if isinstance(value.value, str) else value.name
    return value


def contents(value: Any) -> Any:
    """Convert a memoryview to bytes, as tvm-ffi converts a bytearray."""
    return cast("memoryview", value).tobytes() if isinstance(value, memoryview) else value


def stream_handle(stream: Any) -> Any:
    """Convert a `torch.cuda.Stream` or a `CUstream` to an int; tvm-ffi converts the rest."""
    if _has(stream, "__cuda_stream__"):
        return stream
    handle = getattr(stream, "cuda_stream", stream)
    # An object that also has `__float__` is a number or an array.
    if type(handle) is int or (_has(handle, "__int__") and not _has(handle, "__float__")):
        return int(handle)
    return stream


def _has(value: object, name: str) -> bool:
    """Tell whether the class of `value` has an attribute, as tvm-ffi does."""
    return hasattr(type(value), name)


# ---- records: dataclasses and NamedTuples


def _fields(value: Any, expected: tuple[str, ...], at: Position) -> Any:
    """Return the fields of a dataclass, and any other value unchanged.

    Fields are passed by position. So if names are `expected`, a record with other names raises
    TypeError.
    """
    cls = cast("type[object]", type(value))
    record = _record(cls)
    if record is None:
        return value
    given, read = record
    if expected and given != expected:
        raise TypeError(
            f"Mismatched {at.path}, expected the fields {', '.join(expected)} but got "
            f"{cls.__name__} with {', '.join(given) or 'none'}"
        )
    fields = read(value)
    if conversion.deep(fields) is not None:
        raise at.mismatch(conversion.EXPECTED, conversion.GOT)
    return fields


@functools.lru_cache(maxsize=256)
def _record(cls: type[object]) -> tuple[tuple[str, ...], Callable[[Any], Any]] | None:
    """Return the field names of a dataclass or NamedTuple, and a function to read them; or None."""
    if dataclasses.is_dataclass(cls):
        names = tuple(field.name for field in dataclasses.fields(cls))
        if len(names) > 1:
            return names, operator.attrgetter(*names)  # not for one field: it makes no tuple
        return names, lambda value: tuple(getattr(value, name) for name in names)
    names = getattr(cast("Any", cls), "_fields", None) if issubclass(cls, tuple) else None
    return None if names is None else (names, lambda value: value)
