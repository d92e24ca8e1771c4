"""Arithmetic, comparisons and conversions. As in LLVM, the names say the signedness."""

from __future__ import annotations

from ffi_builder.errors import BuildError
from ffi_builder.ir.core import Core
from ffi_builder.ir.protocols import Type, Value
from ffi_builder.ir.types import FLOAT_PREDICATES, PREDICATES


class Arithmetic(Core):
    """Operations on integers and floats. Both operands have the same type."""

    def binary(self, name: str, lhs: Value, rhs: Value) -> Value:
        """Append ``llvm.<name>``: add, sub, mul, sdiv, udiv, srem, urem, and, or, xor, shl, …."""
        return self.value(f"llvm.{name}", (lhs, rhs), self.type_of(f"llvm.{name}", lhs))

    def add(self, lhs: Value, rhs: Value) -> Value:
        """lhs + rhs, modulo 2**width."""
        return self.binary("add", lhs, rhs)

    def sub(self, lhs: Value, rhs: Value) -> Value:
        """lhs - rhs, modulo 2**width."""
        return self.binary("sub", lhs, rhs)

    def mul(self, lhs: Value, rhs: Value) -> Value:
        """lhs * rhs, modulo 2**width."""
        return self.binary("mul", lhs, rhs)

    def sdiv(self, lhs: Value, rhs: Value) -> Value:
        """Signed quotient, rounded towards zero."""
        return self.binary("sdiv", lhs, rhs)

    def udiv(self, lhs: Value, rhs: Value) -> Value:
        """Unsigned quotient."""
        return self.binary("udiv", lhs, rhs)

    def srem(self, lhs: Value, rhs: Value) -> Value:
        """Signed remainder, with the sign of lhs."""
        return self.binary("srem", lhs, rhs)

    def urem(self, lhs: Value, rhs: Value) -> Value:
        """Unsigned remainder."""
        return self.binary("urem", lhs, rhs)

    def and_(self, lhs: Value, rhs: Value) -> Value:
        """Bitwise and."""
        return self.binary("and", lhs, rhs)

    def or_(self, lhs: Value, rhs: Value) -> Value:
        """Bitwise or."""
        return self.binary("or", lhs, rhs)

    def xor(self, lhs: Value, rhs: Value) -> Value:
        """Bitwise exclusive or."""
        return self.binary("xor", lhs, rhs)

    def shl(self, lhs: Value, rhs: Value) -> Value:
        """Shift left."""
        return self.binary("shl", lhs, rhs)

    def lshr(self, lhs: Value, rhs: Value) -> Value:
        """Shift right, filling with zeros."""
        return self.binary("lshr", lhs, rhs)

    def ashr(self, lhs: Value, rhs: Value) -> Value:
        """Shift right, filling with the sign."""
        return self.binary("ashr", lhs, rhs)

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

    def eq(self, lhs: Value, rhs: Value) -> Value:
        """lhs == rhs."""
        return self.compare("eq", lhs, rhs)

    def ne(self, lhs: Value, rhs: Value) -> Value:
        """lhs != rhs."""
        return self.compare("ne", lhs, rhs)

    def slt(self, lhs: Value, rhs: Value) -> Value:
        """lhs < rhs, signed."""
        return self.compare("slt", lhs, rhs)

    def sle(self, lhs: Value, rhs: Value) -> Value:
        """lhs <= rhs, signed."""
        return self.compare("sle", lhs, rhs)

    def sgt(self, lhs: Value, rhs: Value) -> Value:
        """lhs > rhs, signed."""
        return self.compare("sgt", lhs, rhs)

    def sge(self, lhs: Value, rhs: Value) -> Value:
        """lhs >= rhs, signed."""
        return self.compare("sge", lhs, rhs)

    def ult(self, lhs: Value, rhs: Value) -> Value:
        """lhs < rhs, unsigned."""
        return self.compare("ult", lhs, rhs)

    def ule(self, lhs: Value, rhs: Value) -> Value:
        """lhs <= rhs, unsigned."""
        return self.compare("ule", lhs, rhs)

    def ugt(self, lhs: Value, rhs: Value) -> Value:
        """lhs > rhs, unsigned."""
        return self.compare("ugt", lhs, rhs)

    def uge(self, lhs: Value, rhs: Value) -> Value:
        """lhs >= rhs, unsigned."""
        return self.compare("uge", lhs, rhs)

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
