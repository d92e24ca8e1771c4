"""Checks that a parameter accepts its own default.

Only plain Python values are checked: None, numbers, strs, bytes, lists, tuples, dicts, and the
enumerators and dataclasses that stand for them. tvm-ffi converts arrays and objects of other
classes, so only a call can tell whether they are accepted.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from numbers import Integral, Real
from types import NoneType
from typing import Any, Final, NoReturn, cast

from ffi_builder.errors import SpecError
from ffi_builder.spec import params as kinds
from ffi_builder.spec.composite import Optional, Param, Plain, Struct, TupleParam, elements
from ffi_builder.spec.expr import Dim, Var
from ffi_builder.spec.lists import List
from ffi_builder.spec.numbers import INT_RANGES
from ffi_builder.spec.param import MISSING, PlainValues
from ffi_builder.spec.tensors.tensor_list import TensorList
from ffi_builder.spec.variant import Variant
from ffi_builder.suggest import did_you_mean


def check_default(what: str, param: Param) -> None:
    """Check that a parameter accepts its default, if it has one.

    Args:
        what: where the parameter stands; error messages begin with it.
        param: the parameter.

    Raises:
        SpecError: a call with the default as argument would fail.
    """
    if param.default is not MISSING:
        _check(what, param, param.default, param.name)


PLAIN_TYPES: Final[dict[type, tuple[type, ...]]] = {
    NoneType: (NoneType,),
    bool: (bool,),
    int: (Integral,),
    float: (Real,),
    str: (str,),
    bytes: (bytes, bytearray),
    list: (list, tuple),
    dict: (dict,),
}
"""The types of plain values, each with its classes. The first match counts: a bool is an int."""


def _check(what: str, param: Param, given: object, path: str) -> None:
    if isinstance(param, Optional):
        if given is not None:
            _check(what, param.param, given, path)
        return
    value = passed(param, given)
    plain = next((t for t, classes in PLAIN_TYPES.items() if isinstance(value, classes)), None)
    if plain is None:
        return
    where = f"{what}: {path!r}: default"
    if isinstance(param, Variant):
        taking = [each for each in param.params if plain in _accepted(each).types]
        if not taking:
            _refuse(where, " or ".join(_accepted(each).words for each in param.params), given)
        _check(what, param.parts.get(plain.__name__, taking[0]), given, path)
        return
    accepted = _accepted(param)
    if plain not in accepted.types:
        _refuse(where, accepted.words, given)
    _check_value(what, where, param, value, path)


def _check_value(what: str, where: str, param: Param, value: Any, path: str) -> None:
    """Check a value whose type the parameter accepts."""
    match param:
        case Var():
            _check_number(where, param, value)
        case kinds.DataPointer():
            _check_range(where, value or 0, 0, 2**64 - 1, "an address")
        case kinds.ConstBool() | kinds.ConstInt() | kinds.ConstFloat():
            both_nan = value != value and param.value != param.value
            if value != param.value and not both_nan:
                _refuse(where, repr(param.value), value)
        case kinds.Choice(choices=choices) if value not in choices:
            names = ", ".join(map(repr, choices))
            _refuse(where, f"one of {names}", value, did_you_mean(value, choices))
        case kinds.Shape(shape=shape):
            _check_shape(what, where, shape, value, path)
        case TensorList(tensor=element, length=length) | List(element=element, length=length):
            _check_list(what, where, element, length, value, path)
        case kinds.Array(of=of) if of is not None:
            _check_list(what, where, cast("Param", of), None, value, path)
        case kinds.Map(items=items) if items is not None:
            parts = ("keys", value), ("values", value.values())
            for (part, values), of in zip(parts, cast("Sequence[Param]", items), strict=True):
                _check_list(what, where, of, None, list(values), f"{path}.{part}")
        case TupleParam() | Struct():
            inner = list(elements(param, path))
            _check_length(where, len(inner), value)
            for (inner_path, element), item in zip(inner, value, strict=True):
                _check(what, element, item, inner_path)
        case _:
            pass


def passed(param: Param | None, value: object) -> Any:
    """Return the plain value that an enumerator or dataclass stands for; others as they are.

    An enumerator stands for its value, or for its name where the parameter is a Choice and the
    value is no str. A dataclass stands for a tuple.
    """
    if isinstance(value, enum.Enum):
        by_name = isinstance(param, kinds.Choice) and not isinstance(value.value, str)
        return passed(None, value.name if by_name else value.value)
    if is_dataclass(value) and not isinstance(value, type):
        return tuple(getattr(value, item.name) for item in fields(value))
    return value


def _accepted(param: Plain) -> PlainValues:
    match param:
        case Var():
            return _SCALARS.get(param.dtype, _FLOAT)
        case kinds.ConstInt() | kinds.ConstBool() | kinds.ConstFloat():
            return param.accepts._replace(words=repr(param.value))
        case _:
            return param.accepts


_FLOAT: Final = PlainValues("a float", (float, int, bool))
_SCALARS: Final = {
    **dict.fromkeys(INT_RANGES, PlainValues("an int", (int, bool))),
    "bool": PlainValues("True or False", (bool, int)),
    "handle": PlainValues("a pointer", (NoneType,)),
}
"""The plain values that a Var accepts, by dtype; the other dtypes are floats."""


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
"""The parameter whose rules apply to an entry of a Shape that is not a Var."""


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


def _check_list(
    what: str,
    where: str,
    element: Param,
    length: Dim | None,
    value: Sequence[object],
    path: str,
) -> None:
    if isinstance(length, int):
        _check_length(where, length, value)
    elif isinstance(length, Var):
        _check_number(f"{where}: length", length, len(value))
    for index, item in enumerate(value):
        _check(what, element, item, f"{path}[{index}]")


def _check_length(where: str, length: int, value: Sequence[object]) -> None:
    if len(value) != length:
        _refuse(where, f"a length of {length}", value)


def _refuse(where: str, expected: str, given: object, hint: str = "") -> NoReturn:
    kind = "" if isinstance(given, (type(None), bool)) else f" ({type(given).__name__})"
    raise SpecError(f"{where}: expected {expected} but got {_shown(given)}{kind}{hint}")


def _shown(given: object) -> str:
    try:
        return repr(given)
    except ValueError:  # Python refuses to print ints of more than 4300 digits
        return "a value that is too large to be shown"
