"""Values as another dtype, ``"int32(n * 2)"``, and by address: ``"&n"``, ``"&n -> written"``."""

from __future__ import annotations

import re
import struct
from typing import Any, Final

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.ir import Value
from ffi_builder.ir.builder import Builder
from ffi_builder.providers.context import CallContext
from ffi_builder.spec.expr import Expr
from ffi_builder.spec.numbers import FLOAT_DTYPES, INT_RANGES, VAR_DTYPES

FLOATS: Final = {"f32": struct.Struct("<f"), "f64": struct.Struct("<d")}
"""The types of MLIR as which a float of ``args=`` is passed."""
_FIELD: Final = re.compile(
    rf"(?:(?P<dtype>{'|'.join(VAR_DTYPES)})\((?P<cast>.*)\)|(?P<plain>.*?))"
    r"\s*(?:->\s*(?P<result>\w*))?"
)
_TEXT: Final = re.compile(rf"&\s*{_FIELD.pattern}")
_FLOAT: Final = r"[-+]?(\d+\.\d*|\.\d+|\d+(?=e))(e[-+]?\d+)?"
_ANY_FLOAT: Final = rf"{_FLOAT}|[-+]?(\d+|inf|nan)"
POINTERS: Final = (
    "dltensor",
    "pointers",
    "shapes",
    "strides",
    "lengths",
    "data",
    "c_str",
    "keys",
    "values",
)
"""The parts of parameters that are pointers."""
_RANGES: Final = {**INT_RANGES, "bool": (0, 1)}
_REALS: Final = ("float32", "float64")


def split_address(where: str, text: object) -> tuple[str | float, str | None, str | None] | None:
    """Return the value of a text with ``&``, the dtype that it names, and the result.

    A float is returned as one; any other value as its text. None for another entry of ``args=``.

    Raises:
        BuildError: the text names nothing, or a dtype that the result says, too.
    """
    if not isinstance(text, str) or not (text.startswith("&") or "->" in text):
        return None
    match = _TEXT.fullmatch(text)
    value = "" if match is None else (match["cast"] or match["plain"] or "").strip()
    if match is None or not value or match["result"] == "":
        raise BuildError(
            f"{where}: expected the address of a value, as in '&n', '&int32(n * 2)' or, for a "
            f"value whose place the kernel overwrites with a result, '&n -> written'"
        )
    return _number(value, match["dtype"]), *_dtype_and_result(where, match)


def split_field(where: str, entry: Any) -> tuple[Any, str | None, str | None]:
    """Return what the field of a struct gets, the dtype that it names, and the result.

    ``"int32(n * 2)"`` names a dtype, and of ``"n -> left"`` the kernel overwrites ``n`` with a
    result. None stands for what ``"-> left"`` finds there: 0.

    Raises:
        BuildError: as :func:`split_address`.
    """
    if not isinstance(entry, str) or entry.startswith("&"):
        return entry, None, None
    match = _FIELD.fullmatch(entry.strip())
    value = "" if match is None else (match["cast"] or match["plain"] or "").strip()
    if match is None or match["result"] == "" or not (value or match["result"]):
        raise BuildError(
            f"{where}: expected the value of a field, as in 'n', 'int32(n * 2)' or, for a field "
            f"that the kernel overwrites with a result, '-> written' or 'n -> written', but got "
            f"{entry!r}"
        )
    dtype, result = _dtype_and_result(where, match)
    return _number(value, dtype) if value else None, dtype, result


def _dtype_and_result(where: str, match: re.Match[str]) -> tuple[str | None, str | None]:
    dtype, result = match["dtype"], match["result"]
    if dtype is not None and result is not None:
        raise BuildError(f"{where}, but the result {result!r} says the dtype: drop {dtype}(…)")
    return dtype, result


def _number(value: str, dtype: str | None) -> str | float:
    """Return a float that a text is, or the text."""
    pattern = _ANY_FLOAT if dtype in FLOAT_DTYPES else _FLOAT
    return float(value) if re.fullmatch(pattern, value) else value


def dtype_of(item: object) -> str | None:
    """Return the dtype of one value that can be passed by its address; None for anything else."""
    match item:
        case spec.Optional(param=param):
            return dtype_of(param)
        case spec.Var(dtype=dtype) | spec.Choice(dtype=dtype):
            return dtype
        case spec.Field(part="length", dtype=dtype):
            return dtype
        case spec.Field(param=param, part=part) if (
            isinstance(variant := spec.required(param), spec.Variant) and part in variant.parts
        ):
            return dtype_of(variant.parts[part])
        case spec.Field(part=part) if part not in POINTERS:
            return "bool" if part == "present" else "int32"
        case Expr() | int() | spec.Device():
            return "int64"
        case spec.DType():
            return "int32"
        case spec.DataPointer() | spec.Stream() | spec.EnvStream():
            return "handle"
        case float():
            return "float64"
        case _:
            return None


def converts(own: str, dtype: str) -> bool:
    """Return whether numbers of one dtype are passed as another: a float not as an integer."""
    if dtype in _REALS:
        return own in (*INT_RANGES, *_REALS)
    return own in _RANGES and dtype in INT_RANGES


def declared(name: str, own: str, dtype: str) -> str:
    """Return what makes a number of the signature one of another dtype."""
    also = f", or pass '{dtype}({name})'" if converts(own, dtype) else ""
    return f"declare `{name}: {dtype}`{also}"


def check_fits(where: str, shown: object, item: object, own: str, dtype: str) -> None:
    """Raise BuildError if a value is not of a dtype, nor a number that becomes one of it.

    Each call checks the range of an integer.
    """
    if own == dtype:
        return
    match item.param if isinstance(item, spec.Optional) else item:
        case float() as number if dtype in _REALS:
            try:
                FLOATS["f32"].pack(number)
            except OverflowError:
                raise BuildError(f"{where}, but {dtype} does not hold {shown}") from None
            return
        case int() as number if dtype in _RANGES:
            low, high = _RANGES[dtype]
            if not low <= number <= high:
                raise BuildError(f"{where}, but {dtype} holds {low} to {high}")
            return
        case spec.Field(part="dtype"):
            cure = ""
        case spec.Var() | Expr() | spec.Choice() | spec.Field() | int() if converts(own, dtype):
            return
        case _:
            cure = f": declare `{shown}: {dtype}`" if isinstance(item, spec.Var) else ""
    raise BuildError(f"{where}, but {shown} is {own}, and {dtype} is passed{cure}")


def address_of(context: CallContext, value: Value) -> Value:
    """Return the address of a copy of a value on the stack, where a bool is a byte."""
    b, value = context.builder, stored(context.builder, value)
    place = b.alloca(value.type)
    b.store(value, place)
    return place


def stored(b: Builder, value: Value) -> Value:
    """Return a value as it is in memory, where a bool is a byte."""
    return b.zext(value, b.types.i8) if value.type == b.types.i1 else value


def extended(b: Builder, value: Value, dtype: str) -> Value:
    """Return an integer or bool of a dtype as an i64; the bits of a uint64 are kept."""
    extend = b.zext if dtype.startswith(("u", "b")) else b.sext
    return value if value.type == b.types.i64 else extend(value, b.types.i64)
