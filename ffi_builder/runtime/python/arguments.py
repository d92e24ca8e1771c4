"""Convert what tvm-ffi does not: enumerators, NumPy's bools, streams, and elements of structs.

One Python function is made for a signature. It passes on what is of the right type already:

    def adapter(a0, a1, a2):
        return function(a0, a1 if type(a1) is int else plain(a1), elements_2(unpack(a2)))
"""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeGuard, cast

from tvm_ffi.utils.unpack_dataclass import unpack_dataclass_to_tuple

from ffi_builder.runtime.metadata import Info, Parameter

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
"""By the kind of the parameter; `{0}` is the argument, which other kinds pass on as it is."""


def adapter(function: Callable[..., Any], order: Sequence[int], info: Info) -> Callable[..., Any]:
    """Wrap `function` to convert and reorder its arguments, if there is anything to do.

    Argument i of the function is number `order[i]` of the wrapper. Of the signature, only the
    number of arguments gets into the code.
    """
    scope: dict[str, Any] = {
        "function": function,
        "plain": plain_value,
        "choice": choice_name,
        "stream": stream_handle,
        "unpack": unpack_dataclass_to_tuple,
    }
    made = [_expression(param, f"a{at}", scope) for at, param in enumerate(info.parameters)]
    names = [f"a{at}" for at in sorted(range(len(order)), key=order.__getitem__)]
    if made == names:
        return function
    return _defined(f"({', '.join(names)}): return function({', '.join(made)})", scope)


def _expression(param: Parameter, argument: str, scope: dict[str, Any]) -> str:
    """Write what is passed on for `argument`, a name; `scope` gets functions that it calls."""
    if param.kind not in ("Struct", "Tuple"):
        return _EXPRESSIONS.get(param.kind, "{0}").format(argument)
    checked = argument
    record = _record(param)
    if record.named:
        checked = f"check_{len(scope)}({argument})"
        scope[checked.partition("(")[0]] = functools.partial(_check, record=record)
    converted = _elements(param, scope)
    return f"{converted}(unpack({checked}))" if converted else f"unpack({checked})"


def _elements(param: Parameter, scope: dict[str, Any]) -> str:
    """The name of a function that converts the elements of a tuple; empty if none needs it."""
    names = [f"e{index}" for index in range(len(param.elements))]
    made: list[str] = []
    for name, element in zip(names, param.elements, strict=True):
        if element.kind in ("Struct", "Tuple"):
            inner = _elements(element, scope)
            made.append(f"{inner}({name})" if inner else name)
        else:
            made.append(_EXPRESSIONS.get(element.kind, "{0}").format(name))
    if made == names:
        return ""
    split = _defined(
        f"(values):\n    {', '.join(names)}, = values\n    return ({', '.join(made)},)", scope
    )

    def elements(values: Any) -> Any:
        # For anything else, or too few, the wrapper raises the error.
        right = _is_sequence(values) and len(values) == len(names)
        return split(values) if right else values

    result = f"elements_{len(scope)}"
    scope[result] = elements
    return result


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
