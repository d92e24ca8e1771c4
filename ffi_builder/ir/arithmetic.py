"""Arithmetic, comparisons and conversions. As in LLVM, the names say the signedness."""

from __future__ import annotations

from collections.abc import Callable

from ffi_builder.errors import BuildError
from ffi_builder.ir.core import Core
from ffi_builder.ir.protocols import Type, Value
from ffi_builder.ir.types import FLOAT_PREDICATES, PREDICATES


def _method(
    append: Callable[[Arithmetic, str, Value, Value], Value], name: str, doc: str
) -> Callable[[Arithmetic, Value, Value], Value]:
    """Make a method that calls ``append`` with the name of an operation or predicate."""

    def method(self: Arithmetic, lhs: Value, rhs: Value) -> Value:
        return append(self, name, lhs, rhs)

    method.__name__, method.__doc__ = name, doc
    return method


class Arithmetic(Core):
    """Operations on integers and floats. Both operands have the same type."""

    def binary(self, name: str, lhs: Value, rhs: Value) -> Value:
        """Append ``llvm.<name>``: add, sub, mul, sdiv, udiv, srem, urem, and, or, xor, shl, …."""
        return self.value(f"llvm.{name}", (lhs, rhs), self.type_of(f"llvm.{name}", lhs))

    add = _method(binary, "add", "lhs + rhs, modulo 2**width.")
    sub = _method(binary, "sub", "lhs - rhs, modulo 2**width.")
    mul = _method(binary, "mul", "lhs * rhs, modulo 2**width.")
    sdiv = _method(binary, "sdiv", "Signed quotient, rounded towards zero.")
    udiv = _method(binary, "udiv", "Unsigned quotient.")
    srem = _method(binary, "srem", "Signed remainder, with the sign of lhs.")
    urem = _method(binary, "urem", "Unsigned remainder.")
    and_ = _method(binary, "and", "Bitwise and.")
    or_ = _method(binary, "or", "Bitwise or.")
    xor = _method(binary, "xor", "Bitwise exclusive or.")
    shl = _method(binary, "shl", "Shift left.")
    lshr = _method(binary, "lshr", "Shift right, filling with zeros.")
    ashr = _method(binary, "ashr", "Shift right, filling with the sign.")

    def with_overflow(self, name: str, lhs: Value, rhs: Value) -> tuple[Value, Value]:
        """Return ``(result, overflowed: i1)`` of sadd, ssub, smul, uadd, usub or umul."""
        types = self.types
        pair = self.value(
            f"llvm.intr.{name}.with.overflow", (lhs, rhs), types.struct((lhs.type, types.i1))
        )
        return self.extract(pair, 0, lhs.type), self.extract(pair, 1, types.i1)

    # ---- comparisons

    def compare(self, predicate: str, lhs: Value, rhs: Value) -> Value:
        """Append ``llvm.icmp``: eq, ne, slt, sle, sgt, sge, ult, ule, ugt or uge.

        Raises:
            BuildError: there is no such predicate.
        """
        types = self.types
        if not isinstance(predicate, str) or predicate not in PREDICATES:  # pyright: ignore[reportUnnecessaryIsInstance]
            known = ", ".join(PREDICATES)
            raise BuildError(f"llvm.icmp: expected {known} but got {predicate!r}")
        attributes = types.of_compare(PREDICATES[predicate])
        return self.value("llvm.icmp", (lhs, rhs), types.i1, attributes)

    eq = _method(compare, "eq", "lhs == rhs.")
    ne = _method(compare, "ne", "lhs != rhs.")
    slt = _method(compare, "slt", "lhs < rhs, signed.")
    sle = _method(compare, "sle", "lhs <= rhs, signed.")
    sgt = _method(compare, "sgt", "lhs > rhs, signed.")
    sge = _method(compare, "sge", "lhs >= rhs, signed.")
    ult = _method(compare, "ult", "lhs < rhs, unsigned.")
    ule = _method(compare, "ule", "lhs <= rhs, unsigned.")
    ugt = _method(compare, "ugt", "lhs > rhs, unsigned.")
    uge = _method(compare, "uge", "lhs >= rhs, unsigned.")

    def is_null(self, pointer: Value) -> Value:
        """Test whether a pointer is NULL."""
        return self.eq(pointer, self.null())

    def float_compare(self, predicate: str, lhs: Value, rhs: Value) -> Value:
        """Append ``llvm.fcmp``: oeq, olt (false on NaN) or uno (true if either is NaN)."""
        types = self.types
        attributes = types.of_compare(FLOAT_PREDICATES[predicate])
        return self.value("llvm.fcmp", (lhs, rhs), types.i1, attributes)

    def same_float(self, lhs: Value, rhs: Value) -> Value:
        """Test whether two floats are equal or both NaN."""
        both = self.and_(self.float_compare("uno", lhs, lhs), self.float_compare("uno", rhs, rhs))
        return self.or_(self.float_compare("oeq", lhs, rhs), both)

    def select(self, condition: Value, then: Value, otherwise: Value) -> Value:
        """``condition ? then : otherwise``; both are evaluated."""
        operands = (condition, then, otherwise)
        return self.value("llvm.select", operands, self.type_of("llvm.select", then))

    # ---- conversions

    def cast(self, name: str, value: Value, result: Type) -> Value:
        """Append ``llvm.<name>``: trunc, zext, sext, bitcast, inttoptr, ptrtoint, sitofp, …."""
        return self.value(f"llvm.{name}", (value,), result)

    def trunc(self, value: Value, result: Type) -> Value:
        """Keep the low bits."""
        return self.cast("trunc", value, result)

    def zext(self, value: Value, result: Type) -> Value:
        """Widen, filling with zeros."""
        return self.cast("zext", value, result)

    def sext(self, value: Value, result: Type) -> Value:
        """Widen, filling with the sign."""
        return self.cast("sext", value, result)

    def bitcast(self, value: Value, result: Type) -> Value:
        """Reinterpret the bits as another type."""
        return self.cast("bitcast", value, result)

    def to_int(self, pointer: Value) -> Value:
        """Convert a pointer to an ``i64``."""
        return self.cast("ptrtoint", pointer, self.types.i64)

    def to_pointer(self, address: Value, address_space: int | None = None) -> Value:
        """Convert an integer to a pointer."""
        return self.cast("inttoptr", address, self.types.pointer(address_space))

    # ---- aggregates

    def undef(self, type_: Type) -> Value:
        """Make a value with arbitrary bits, to insert members into."""
        return self.value("llvm.mlir.undef", (), type_)

    def insert(self, aggregate: Value, value: Value, index: int) -> Value:
        """Return the aggregate with member ``index`` replaced."""
        return self.value(
            "llvm.insertvalue", (aggregate, value), aggregate.type, self.types.of_position(index)
        )

    def extract(self, aggregate: Value, index: int, result: Type) -> Value:
        """Return member ``index`` of an aggregate; ``result`` is its type."""
        return self.value("llvm.extractvalue", (aggregate,), result, self.types.of_position(index))

    def pack(self, members: list[Value]) -> Value:
        """Make a struct of these members."""
        struct = self.undef(self.types.struct([member.type for member in members]))
        for index, member in enumerate(members):
            struct = self.insert(struct, member, index)
        return struct
