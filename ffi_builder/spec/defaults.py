"""Defaults: whether a parameter takes its own.

Only plain Python values are looked at: None, numbers, strs, bytes, lists, tuples, dicts, and what
stands for such (enumerators, dataclasses). What an array, or an object of another class, becomes is
tvm-ffi's to say.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from numbers import Integral, Real
from typing import Any, Final, NoReturn

from ffi_builder.errors import SpecError
from ffi_builder.spec.composite import Optional, Param, Struct, TupleParam, elements
from ffi_builder.spec.expr import INT_RANGES, Dim, Var
from ffi_builder.spec.param import MISSING
from ffi_builder.spec.params import (
    ConstBool,
    ConstFloat,
    ConstInt,
    ConstNone,
    DataPointer,
    EnvStream,
    Shape,
    Stream,
)
from ffi_builder.spec.tensor import Tensor
from ffi_builder.spec.values import (
    Array,
    Bytes,
    Choice,
    Device,
    DType,
    Function,
    Map,
    Object,
    String,
)
from ffi_builder.suggest import did_you_mean


def check_default(what: str, param: Param) -> None:
    """The default of a parameter, if it has one, is a value that it takes.

    Raises:
        SpecError: it is another one.
    """
    if param.default is not MISSING:
        _check(what, param, param.default, param.name)


_KINDS: Final[dict[str, tuple[type, ...]]] = {
    "None": (type(None),),
    "bool": (bool,),
    "int": (Integral,),
    "float": (Real,),
    "str": (str,),
    "bytes": (bytes, bytearray),
    "list": (list, tuple),
    "dict": (dict,),
}
"""The first that a value is an instance of is its kind."""


def _check(what: str, param: Param, given: object, path: str) -> None:
    if isinstance(param, Optional):
        if given is not None:
            _check(what, param.param, given, path)
        return
    value = _passed(param, given)
    kind = next((kind for kind, types in _KINDS.items() if isinstance(value, types)), None)
    if kind is None:
        return
    where = f"{what}: {path!r}: default"
    expected, *kinds = _taken(param)
    if kind not in kinds:
        _refuse(where, expected, given)
    _check_value(what, where, param, value, path)


def _check_value(what: str, where: str, param: Param, value: Any, path: str) -> None:
    """A value of a kind that the parameter takes is one that it takes."""
    match param:
        case Var():
            _check_number(where, param, value)
        case DataPointer():
            _check_range(where, value or 0, 0, 2**64 - 1, "an address")
        case ConstBool() | ConstInt() | ConstFloat():
            both_nan = value != value and param.value != param.value
            if value != param.value and not both_nan:
                _refuse(where, repr(param.value), value)
        case Choice(choices=choices) if value not in choices:
            names = ", ".join(map(repr, choices))
            _refuse(where, f"one of {names}", value, did_you_mean(value, choices))
        case Shape(shape=shape):
            _check_shape(what, where, shape, value, path)
        case TupleParam() | Struct():
            inner = list(elements(param, path))
            _check_length(where, len(inner), value)
            for (inner_path, element), item in zip(inner, value, strict=True):
                _check(what, element, item, inner_path)
        case _:
            pass


def _passed(param: Param, value: object) -> Any:
    """Return what is passed for a Python caller's value."""
    if isinstance(value, enum.Enum):
        by_name = isinstance(param, Choice) and not isinstance(value.value, str)
        return value.name if by_name else value.value
    if is_dataclass(value) and not isinstance(value, type):
        return tuple(getattr(value, item.name) for item in fields(value))
    return value


def _taken(param: Param) -> tuple[str, ...]:
    """Words for what a parameter takes, and the kinds of plain values that it does."""
    match param:
        case Var(dtype=dtype):
            if dtype in INT_RANGES:
                return "an int", "int", "bool"
            if dtype == "bool":
                return "True or False", "bool", "int"
            return (
                ("a pointer", "None") if dtype == "handle" else ("a float", "float", "int", "bool")
            )
        case Stream() | DataPointer():
            return "an int, a pointer or None", "None", "int"
        case ConstBool(value=value):
            return repr(value), "bool"
        case ConstInt(value=value):
            return repr(value), "int"
        case ConstFloat(value=value):
            return repr(value), "float", "int"
        case Object():
            return "an object", "str", "bytes", "list", "dict"
        case _:
            return _TAKEN[type(param)]


_TAKEN: Final[dict[type, tuple[str, ...]]] = {
    Tensor: ("a tensor",),
    Shape: ("a tuple of ints", "list"),
    TupleParam: ("a tuple", "list"),
    Struct: ("a tuple", "list"),
    ConstNone: ("None", "None"),
    Choice: ("a str", "str"),
    String: ("a str", "str"),
    Bytes: ("bytes", "bytes"),
    DType: ("a dtype",),
    Device: ("a device",),
    Function: ("a function",),
    Array: ("a list", "list"),
    Map: ("a dict", "dict"),
    EnvStream: ("nothing",),
}


def _check_number(where: str, var: Var, value: Any) -> None:
    if var.dtype == "bool" and value not in (0, 1):
        _refuse(where, "True or False", value)
    if not var.is_integer:
        return
    _check_range(where, value, *INT_RANGES[var.dtype], var.dtype)
    if var.min is not None and value < var.min:
        _refuse(where, f"at least {var.min} (min)", value)
    if var.max is not None and value > var.max:
        _refuse(where, f"at most {var.max} (max)", value)
    if var.divisibility is not None and value % var.divisibility:
        _refuse(where, f"a multiple of {var.divisibility} (divisibility)", value)


def _check_range(where: str, value: int, low: int, high: int, what: str) -> None:
    if not low <= value <= high:
        raise SpecError(f"{where}: {_shown(value)} does not fit {what} ({low} to {high})")


_ENTRY: Final = Var("entry", "int64")
"""The parameter that an entry of a Shape is like, without a value to be equal to."""


def _check_shape(
    what: str, where: str, shape: Sequence[Dim], value: Sequence[object], path: str
) -> None:
    _check_length(where, len(shape), value)
    for index, (entry, item) in enumerate(zip(shape, value, strict=True)):
        inner = f"{path}[{index}]"
        _check(what, entry if isinstance(entry, Var) else _ENTRY, item, inner)
        if isinstance(item, Integral) and item < 0:
            _refuse(f"{what}: {inner!r}: default", "a non-negative int", item)
        if isinstance(item, Integral) and isinstance(entry, int) and item != entry:
            _refuse(f"{what}: {inner!r}: default", str(entry), item)


def _check_length(where: str, length: int, value: Sequence[object]) -> None:
    if len(value) != length:
        _refuse(where, f"a length of {length}", value)


def _refuse(where: str, expected: str, given: object, hint: str = "") -> NoReturn:
    kind = "" if isinstance(given, (type(None), bool)) else f" ({type(given).__name__})"
    raise SpecError(f"{where}: expected {expected} but got {_shown(given)}{kind}{hint}")


def _shown(given: object) -> str:
    try:
        return repr(given)
    except ValueError:  # Python refuses to write ints of more than 4300 digits
        return "a value that is too large to be shown"
