"""The operations of the builder: arithmetic, memory, blocks and control flow.

As in LLVM, arithmetic operations have signed and unsigned names. Each construct of control flow
terminates the blocks that it opens. Hot blocks stand in the order in which they are made; blocks
made with ``cold=True`` go to the end of the function, so that printed IR reads from top to bottom.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any, Final

from ffi_builder.errors import BuildError
from ffi_builder.ir.protocols import Attribute, Block, Operation, Type, Value
from ffi_builder.ir.types import FLOAT_PREDICATES, PREDICATES, Types, not_a_value, wrong_operation

_COMPARED: Final = {"==": "eq", "!=": "ne", "<=": "sle", "<": "slt", ">=": "sge", ">": "sgt"}
_WIDE: Final = 64


class Core:
    """A cursor in a function: operations are appended at the end of :attr:`block`."""

    def __init__(self, types: Types, function: Operation, block: Block, location: Any) -> None:
        self.types = types
        self.function = function
        self.entry: Block = function.regions[0].blocks[0]
        self.location = location
        self._create = types.ir.Operation.create
        self._point = types.ir.InsertionPoint
        self.block = block

    @property
    def block(self) -> Block:
        """The block at whose end operations are appended; assign to it to move the cursor."""
        return self._block

    @block.setter
    def block(self, block: Block) -> None:
        self._block = block
        self._ip = self._point(block)

    def op(
        self,
        name: str,
        operands: Sequence[Value] = (),
        results: Sequence[Type] = (),
        attributes: dict[str, Attribute] | None = None,
        successors: Sequence[Block] | None = None,
    ) -> Operation:
        """Append any operation by its name.

        Raises:
            BuildError: the bindings refuse an operand, a result type, a successor or an attribute.
        """
        try:
            return self._create(
                name, results, operands, attributes, successors, 0, self.location, self._ip
            )
        except (TypeError, ValueError) as error:
            raise wrong_operation(
                self.types.ir, name, operands, results, attributes, successors, error
            ) from None

    def value(
        self,
        name: str,
        operands: Sequence[Value],
        result: Type,
        attributes: dict[str, Attribute] | None = None,
    ) -> Value:
        """Append an operation with one result, and return the result."""
        # Most operations are made here, so this does not call op().
        try:
            return self._create(
                name, (result,), operands, attributes, None, 0, self.location, self._ip
            ).result
        except (TypeError, ValueError) as error:
            raise wrong_operation(
                self.types.ir, name, operands, (result,), attributes, None, error
            ) from None

    @staticmethod
    def type_of(where: str, value: Value) -> Type:
        """Return the type of a value; ``where`` begins the message of the error.

        Raises:
            BuildError: the object is not a value.
        """
        try:
            return value.type
        except AttributeError:
            raise not_a_value(where, value) from None

    # ---- constants

    def constant(self, bits: int, value: int) -> Value:
        """Make an integer constant of type ``i<bits>``; ``value`` may be signed or unsigned."""
        types = self.types
        return self.value(
            "llvm.mlir.constant", (), types.integer(bits), types.of_constant(bits, value)
        )

    def i1(self, value: bool) -> Value:
        """Make an ``i1`` constant."""
        return self.constant(1, int(bool(value)))

    def i8(self, value: int) -> Value:
        """Make an ``i8`` constant."""
        return self.constant(8, value)

    def i32(self, value: int) -> Value:
        """Make an ``i32`` constant."""
        return self.constant(32, value)

    def i64(self, value: int) -> Value:
        """Make an ``i64`` constant."""
        return self.constant(64, value)

    def null(self, address_space: int | None = None) -> Value:
        """Make a NULL pointer."""
        return self.zero(self.types.pointer(address_space))

    def zero(self, type_: Type) -> Value:
        """Make the zero of any type."""
        return self.value("llvm.mlir.zero", (), type_)


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

    def relate(self, op: str, lhs: Value, rhs: Sequence[Value], *, signed: bool = True) -> Value:
        """Append Python's comparison ``lhs op rhs``; ``in`` takes several values on the right."""
        if op == "in":
            return reduce(self.or_, [self.eq(lhs, value) for value in rhs])
        predicate = _COMPARED[op]
        if not signed and predicate[0] == "s":
            predicate = f"u{predicate[1:]}"
        return self.compare(predicate, lhs, rhs[0])

    def rest(self, value: Value, divisor: int, *, signed: bool = True) -> Value:
        """Return 0 if a value is a multiple of a positive int, else some other number."""
        bits = self.width(value)
        if divisor.bit_length() >= bits < _WIDE:
            value = (self.sext if signed else self.zext)(value, self.types.i64)
            bits = _WIDE
        if divisor & (divisor - 1) == 0:  # valid for negative numbers too, in two's complement
            return self.and_(value, self.constant(bits, divisor - 1))
        return (self.srem if signed else self.urem)(value, self.constant(bits, divisor))

    @staticmethod
    def width(value: Value) -> int:
        """Return the bits of an integer."""
        return int(str(value.type).removeprefix("i"))

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


class Memory(Core):
    """Operations on memory. Offsets and alignments are bytes."""

    def load(self, result: Type, pointer: Value, *, align: int | None = None) -> Value:
        """Load a value; give ``align`` only if it is less than the alignment of the type."""
        attributes = {"alignment": self.types.int_attribute(64, align)} if align else None
        return self.value("llvm.load", (pointer,), result, attributes)

    def store(self, value: Value, pointer: Value) -> None:
        """Store a value with the alignment of its type."""
        self.op("llvm.store", (value, pointer))

    def offset(self, pointer: Value, offset: int) -> Value:
        """``pointer + offset``."""
        if offset == 0:
            return pointer
        types = self.types
        return self.value("llvm.getelementptr", (pointer,), types.ptr, types.of_offset(offset))

    def element(self, pointer: Value, index: Value, element: str = "i8") -> Value:
        """Return the address of an array's element; ``element`` is the text of its type."""
        types = self.types
        return self.value(
            "llvm.getelementptr", (pointer, index), types.ptr, types.of_element(element)
        )

    def member(self, pointer: Value, struct: Type, index: int) -> Value:
        """Return the address of a member of a struct."""
        if index == 0:
            return pointer
        types = self.types
        attributes = types.of_member(types.text(struct), index)
        return self.value("llvm.getelementptr", (pointer,), types.ptr, attributes)

    def field(self, result: Type, pointer: Value, offset: int) -> Value:
        """Load a value ``offset`` bytes after a pointer."""
        return self.load(result, self.offset(pointer, offset))

    def alloca(self, type_: Type, count: int = 1, *, align: int | None = None) -> Value:
        """Reserve stack space for ``count`` values in the entry block, and so once per call."""
        here = self._ip
        self._ip = self._point.at_block_begin(self.entry)
        space = self.alloca_here(type_, self.i32(count), align=align)
        self._ip = here
        return space

    def alloca_here(self, type_: Type, count: Value, *, align: int | None = None) -> Value:
        """Reserve stack space at the cursor, for a number of values known only at run time."""
        types = self.types
        attributes = {"elem_type": types.type_attribute(types.text(type_))}
        if align:
            attributes["alignment"] = types.int_attribute(64, align)
        return self.value("llvm.alloca", (count,), types.ptr, attributes)


TERMINATORS = frozenset(
    ("llvm.br", "llvm.cond_br", "llvm.switch", "llvm.return", "llvm.unreachable")
)


class Flow(Arithmetic):
    """Branches and blocks."""

    def __init__(self, types: Types, function: Operation, block: Block, location: Any) -> None:
        super().__init__(types, function, block, location)
        self._last_hot: Any = block
        self._last_cold: Block | None = None

    def new_block(self, *arguments: Type, cold: bool = False) -> Any:
        """Make a block after the last hot block or, if ``cold``, at the end of the function."""
        locations = [self.location] * len(arguments)
        if cold:
            self._last_cold = self.function.regions[0].blocks.append(*arguments, arg_locs=locations)
            return self._last_cold
        self._last_hot = self._last_hot.create_after(*arguments, arg_locs=locations)
        return self._last_hot

    def new_argument(self, block: Any, type_: Type) -> Value:
        """Add an argument to a block that nothing branches to yet."""
        return block.add_argument(type_, self.location)

    def new_block_after(self, block: Any) -> Any:
        """Make a block right after another block, for a side path whose end exists already."""
        return block.create_after()

    def continue_at_end(self) -> None:
        """Append later hot blocks after all existing blocks, including the cold ones.

        This keeps a cold block near its hot block in a long function. LLVM's register allocation
        visits all blocks between the two.
        """
        if self._last_cold is not None:
            self._last_hot, self._last_cold = self._last_cold, None

    @contextmanager
    def out_of_line(self) -> Generator[None]:
        """Put the blocks that the body makes right after the current, cold block."""
        hot, self._last_hot = self._last_hot, self.block
        yield
        self._last_hot = hot

    # ---- terminators

    def br(self, target: Block, *arguments: Value) -> None:
        """Branch to a block."""
        self.op("llvm.br", arguments, successors=(target,))

    def cond_br(
        self,
        condition: Value,
        then: Block,
        otherwise: Block,
        then_arguments: Sequence[Value] = (),
        otherwise_arguments: Sequence[Value] = (),
        *,
        likely: bool = False,
    ) -> None:
        """Branch to one of two blocks; ``likely`` says that it is nearly always the first."""
        self.op(
            "llvm.cond_br",
            (condition, *then_arguments, *otherwise_arguments),
            attributes=self.types.of_branch(
                len(then_arguments), len(otherwise_arguments), likely=likely
            ),
            successors=(then, otherwise),
        )

    def switch(self, value: Value, default: Block, cases: dict[int, Block]) -> None:
        """Branch to the block whose ``i32`` key equals ``value``, or to the default."""
        numbers = ", ".join(map(str, cases))
        none = ", ".join("0" for _ in cases)
        types = self.types
        self.op(
            "llvm.switch",
            (value,),
            attributes={
                "case_values": types.attribute(f"dense<[{numbers}]> : vector<{len(cases)}xi32>"),
                "case_operand_segments": types.attribute(f"array<i32: {none}>"),
                "operandSegmentSizes": types.i32_array(1, 0, 0),
            },
            successors=(default, *cases.values()),
        )

    def ret(self, *value: Value) -> None:
        """Return a value, or nothing."""
        self.op("llvm.return", value)

    # ---- structured flow

    def require(self, condition: Value, otherwise: Block) -> None:
        """Continue in a new hot block if the condition holds, else branch to ``otherwise``."""
        following = self.new_block()
        self.cond_br(condition, following, otherwise)
        self.block = following

    @contextmanager
    def when(self, condition: Value, *, cold: bool = False) -> Generator[None]:
        """Run the body if the condition holds, then continue. The body may return or branch."""
        body = self.new_block(cold=cold)
        start = self.block
        self.block = body
        yield
        end = self.block
        following = self.new_block()
        if not self.terminated(end):
            self.br(following)
        self.block = start
        self.cond_br(condition, body, following)
        self.block = following

    @contextmanager
    def loop(self, count: Value) -> Generator[Value]:
        """Run the body for each ``i64`` index in ``range(count)``; ``count`` is signed.

        Raises:
            BuildError: the body terminates its block.
        """
        head = self.new_block(self.types.i64)
        body = self.new_block()
        self.br(head, self.i64(0))
        self.block = body
        index = head.arguments[0]
        yield index
        if self.terminated(self.block):
            raise BuildError("the body of a loop must not terminate its block itself")
        self.br(head, self.add(index, self.i64(1)))
        following = self.new_block()
        self.block = head
        self.cond_br(self.slt(index, count), body, following)
        self.block = following

    @staticmethod
    def terminated(block: Any) -> bool:
        """Return whether a block ends in a terminator."""
        operations = block.operations
        return len(operations) > 0 and operations[len(operations) - 1].operation.name in TERMINATORS
