"""Constants as LLVM folds them while it builds, so that both ways to LLVM IR give one text.

A constant is an int, the bits of a number or pointer, and 0 for the zero of any type; a tuple, the
members of a struct or array; an :class:`Address`; or a str, which LLVM IR writes as it is:
``undef``, ``poison``, or a conversion of an address.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias, Union

from ffi_builder.plain.types import Type


class Address(NamedTuple):
    """The address of a symbol, or a place behind it."""

    symbol: str
    size: int
    """The size of the global in bytes; 0 for a function, and if it is unknown."""
    weak: bool
    """Whether the symbol may be missing, and the address then NULL."""
    offset: int = 0

    def __str__(self) -> str:
        if not self.offset:
            return self.symbol
        known = "inbounds nuw " if 0 <= self.offset <= self.size else ""
        return f"getelementptr {known}(i8, ptr {self.symbol}, i64 {self.offset})"


Constant: TypeAlias = Union[int, str, Address, "tuple[Constant, ...]"]

_CODES: Final = {"f16": "e", "f32": "f", "f64": "d"}
_LEAST_NORMAL: Final = {"f16": 2.0**-14, "bf16": 2.0**-126, "f32": 2.0**-126, "f64": 2.0**-1022}
_DOUBLE_EXPONENT: Final = 0x7FF


def spelled(type_: Type, constant: Constant) -> str:
    """Return a constant in LLVM IR, without its type."""
    if isinstance(constant, (str, Address)):
        return str(constant)
    if isinstance(constant, tuple):
        inner = ", ".join(
            f"{type_.member(index).llvm} {spelled(type_.member(index), member)}"
            for index, member in enumerate(constant)
        )
        opened = type_.llvm[: 2 if type_.llvm.startswith("<{") else 1]
        return f"{opened}{inner}{'}>' if opened == '<{' else '}' if opened == '{' else ']'}"
    match type_.kind:
        case "int":
            if type_.bits == 1:
                return "true" if constant else "false"
            return str(constant - (1 << type_.bits) if constant >> (type_.bits - 1) else constant)
        case "ptr":
            return f"inttoptr (i64 {constant} to {type_.llvm})" if constant else "null"
        case "float":
            return _spelled_float(type_, constant)
        case _:
            return "zeroinitializer"


def _spelled_float(type_: Type, bits: int) -> str:
    if type_.bits == 16:
        return f"0x{'H' if type_.text == 'f16' else 'R'}{bits:04X}"
    if type_.bits == 32:  # LLVM writes it as a double, NaNs with their bits
        exponent, rest = bits >> 23 & 0xFF, bits & 0x7FFFFF
        if exponent == 0xFF:
            bits = (bits >> 31) << 63 | _DOUBLE_EXPONENT << 52 | rest << 29
        else:
            (bits,) = struct.unpack("<Q", struct.pack("<d", _float(type_, bits)))
    return f"0x{bits:016X}"


def _float(type_: Type, bits: int) -> float:
    if type_.text == "bf16":
        return struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    data = bits.to_bytes(type_.bits // 8, "little")
    return struct.unpack(f"<{_CODES[type_.text]}", data)[0]


def float_bits(type_: Type, value: float, *, exact: bool = True) -> int | None:
    """Return the bits of a float; None if it is too large, or if ``exact`` it has no such value."""
    code = "f" if type_.text == "bf16" else _CODES[type_.text]
    try:
        bits = int.from_bytes(struct.pack(f"<{code}", value), "little")
    except OverflowError:
        return None
    if type_.text == "bf16":  # to nearest, ties to even
        bits = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return bits if not exact or _float(type_, bits) == value else None


def signed(bits: int, value: int) -> int:
    """Return the value of an int of two's complement."""
    return value - (1 << bits) if value >> (bits - 1) else value


def _quotient(one: int, other: int) -> int:
    return abs(one) // abs(other) * (-1 if (one < 0) != (other < 0) else 1)


_INTEGERS: Final[dict[str, Callable[[int, int], int]]] = {
    "add": lambda one, other: one + other,
    "sub": lambda one, other: one - other,
    "mul": lambda one, other: one * other,
    "udiv": lambda one, other: one // other,
    "urem": lambda one, other: one % other,
    "and": lambda one, other: one & other,
    "or": lambda one, other: one | other,
    "xor": lambda one, other: one ^ other,
    "shl": lambda one, other: one << other,
    "lshr": lambda one, other: one >> other,
    "sdiv": _quotient,
    "srem": lambda one, other: one - other * _quotient(one, other),
    "ashr": lambda one, other: one >> other,
}
BINARY: Final = tuple(_INTEGERS)
_SIGNED: Final = ("sdiv", "srem", "ashr")


def binary(name: str, bits: int, one: Constant | None, other: Constant | None) -> Constant | None:
    """Fold an operation on ints; None if LLVM keeps the instruction."""
    if not isinstance(one, int) or not isinstance(other, int):
        return None
    if (name in ("shl", "lshr", "ashr") and other >= bits) or (
        name in ("udiv", "sdiv", "urem", "srem") and not other
    ):
        return "poison"
    if name in _SIGNED:
        one, other = signed(bits, one), other if name == "ashr" else signed(bits, other)
        if name != "ashr" and bits > 1 and (one, other) == (-(1 << (bits - 1)), -1):
            return "poison"
    return _INTEGERS[name](one, other) & ((1 << bits) - 1)


def icmp(predicate: str, type_: Type, one: Constant, other: Constant) -> int | None:
    """Fold a comparison; None if LLVM keeps the instruction."""
    if isinstance(one, int) and isinstance(other, int):
        if predicate[0] == "s":
            one, other = signed(type_.bits, one), signed(type_.bits, other)
        return int(getattr(operator, predicate[-2:])(one, other))
    if isinstance(one, Address) and not one.weak and not one.offset and other == 0:
        return int(predicate == "ne") if predicate in ("eq", "ne") else None
    return None


def fcmp(predicate: str, type_: Type, one: Constant, other: Constant) -> int | None:
    """Fold a comparison of floats."""
    if not isinstance(one, int) or not isinstance(other, int):
        return None
    left, right = _float(type_, one), _float(type_, other)
    least = _LEAST_NORMAL[type_.text]
    if 0 < abs(left) < least or 0 < abs(right) < least:  # some processors take these for 0
        return None
    unordered = left != left or right != right
    match predicate:
        case "true" | "false":
            return int(predicate == "true")
        case "ord" | "uno":
            return int(unordered == (predicate == "uno"))
        case _:
            if unordered:
                return int(predicate[0] == "u")
            return int(getattr(operator, predicate[1:])(left, right))


def cast(name: str, from_: Type, to: Type, value: Constant) -> Constant | None:
    """Fold a conversion; None if LLVM keeps the instruction."""
    if value in ("undef", "poison"):
        return value if name in ("trunc", "bitcast", "inttoptr", "ptrtoint") else None
    if isinstance(value, (str, Address)):
        if name in ("inttoptr", "ptrtoint") or (name == "trunc" and from_.kind == "int"):
            return f"{name} ({from_.llvm} {value} to {to.llvm})"
        return None
    if not isinstance(value, int):
        return None
    match name:
        case "trunc" | "inttoptr" | "ptrtoint" | "zext" | "bitcast":
            return value & ((1 << (64 if to.kind == "ptr" else to.bits)) - 1)
        case "sext":
            return signed(from_.bits, value) & ((1 << to.bits) - 1)
        case "sitofp":
            return float_bits(to, signed(from_.bits, value))
        case "uitofp":
            return float_bits(to, value)
        case _:  # fpext and fptrunc
            return float_bits(to, _float(from_, value))


def moved(pointer: Constant, element: Type, indices: list[Constant]) -> Constant | None:
    """Fold a getelementptr with constant indices; None if LLVM has an expression of its own."""
    if all(index == 0 for index in indices):
        return pointer
    size = size_of(element)
    if len(indices) != 1 or not isinstance(indices[0], int) or not size:
        return None
    offset = size * indices[0]
    if isinstance(pointer, Address):
        return pointer._replace(offset=pointer.offset + offset)
    return (pointer + offset) & ((1 << 64) - 1) if isinstance(pointer, int) else None


def size_of(type_: Type) -> int:
    """Return the size in memory of a number, a pointer or an array of them; 0 if it is another."""
    if type_.kind == "array":
        return type_.bits * size_of(type_.members[0])
    if type_.kind == "ptr":
        return 8
    if type_.kind in ("int", "float") and type_.bits in (1, 8, 16, 32, 64):
        return (type_.bits + 7) // 8
    return 0


def members(type_: Type, constant: Constant) -> tuple[Constant, ...]:
    """Return the members of an aggregate constant: ``undef`` and 0 stand for such members."""
    if isinstance(constant, tuple) and not isinstance(constant, Address):
        return constant
    return (constant,) * (type_.bits if type_.kind == "array" else len(type_.members))
