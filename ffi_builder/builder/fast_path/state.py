"""What the hot path has decoded so far, and where values come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

from ffi_builder import abi, spec
from ffi_builder.builder.helpers import call_shared
from ffi_builder.ir import Block, Builder, Value
from ffi_builder.plan import Part, Place

DL: Final = abi.OBJECT_SIZE
"""A DLTensor's fields, counted from the object: the header comes first."""

Position: TypeAlias = tuple[int, ...]
"""Which argument, or element of tuples: the ``position`` of a Place."""


@dataclass
class Symbol:
    """A bound symbol.

    ``value`` is an i64 with the bits of an integer, bool or handle, or a float of the symbol's
    dtype (i16 bits for the 16-bit ones). ``certain`` is None where the symbol is bound for certain,
    else an i1 that says whether it is; ``seen`` likewise says whether it is bound at all (its value
    is 0 otherwise). ``low`` and ``high`` are the least and the greatest value that an integer can
    have, as far as that has been checked.
    """

    value: Value
    low: int
    high: int
    certain: Value | None = None
    seen: Value | None = None


@dataclass
class Stored:
    """A symbol whose value is loaded from its place where it is asked for."""

    place: Place
    low: int
    high: int


class Hot:
    """The hot path of one wrapper while it is being emitted: cursor, arguments, decoded values."""

    def __init__(
        self, b: Builder, args: Value, count: Value, slow: Block, wrong: Block, rank: int
    ) -> None:
        self.b = b
        self.args = args
        self.count = count
        self.slow = slow
        """Where every failing check goes, but that of the number of arguments."""
        self.wrong = wrong
        """Where that goes, with the number: behind it, it is known and takes no register."""
        self.rank = rank
        """The most dimensions that a tensor may have."""
        self.objects: dict[Position, Value] = {}
        """The object at each position: a Tensor's, a tuple's, a Shape's."""
        self.types: dict[Position, Value] = {}
        """The type index of each Shape and tuple."""
        self.present: dict[Position, Value] = {}
        """Of each Optional that is behind the cursor, an i1: whether it is there."""
        self.texts: dict[Position, list[Value]] = {}
        """Pointer and length of each str and bytes."""
        self.arrays: dict[Position, Value] = {}
        """The same as a ``TVMFFIByteArray``; nothing that outlives its branch."""
        self.lengths: dict[Position, int] = {}
        """How many elements each Shape and tuple has been checked to have."""
        self.symbols: dict[spec.Var, Symbol] = {}
        self.stored: dict[spec.Var, Stored] = {}
        """Strides that are only passed on: their values stay where they are until then."""
        self.reads: dict[Place, Value] = {}
        """What was read from each place, as an i64 (floats as floats)."""
        self.devices: dict[Position, Value] = {}
        """Device type and id of each tensor in one i64, the type in the low half."""
        self.ndims: dict[Position, int] = {}
        """The number of dimensions that each tensor has been checked to have."""
        self.alone: frozenset[spec.Var] = frozenset()
        """Symbols that no check looks at, so that strides of them need not be read before."""
        self.raw_data: dict[Position, Value] = {}
        """data of each tensor."""
        self.data: dict[Position, Value] = {}
        """data + byte_offset of each tensor."""
        self.dims: dict[Position, list[Value | int]] = {}
        """The dimensions of each tensor as stored; an int where the check has made it one."""
        self.unsized: list[Position] = []
        """Tensors whose dimensions are still to be checked, as far as that is done together."""
        self.pointers: dict[tuple[Position, int], Value] = {}
        self.strides: dict[Position, Value] = {}
        """Where the strides of each tensor are, also where it came with none."""
        self.products: dict[tuple[object, ...], Value | int] = {}

    # ---- reading

    def symbol(self, var: spec.Var) -> Symbol:
        """A bound symbol; one that is only passed on is loaded at the cursor."""
        stored = self.stored.get(var)
        if stored is None:
            return self.symbols[var]
        b, place = self.b, stored.place
        assert place.index is not None
        value = b.field(b.types.i64, self.strides[place.position], 8 * place.index)
        if place.packing > 1:
            value = b.mul(value, b.i64(place.packing))
        return Symbol(value, stored.low, stored.high)

    def any_at(self, position: Position) -> tuple[Value, int]:
        """Base pointer and byte offset of a ``TVMFFIAny``."""
        *outer, last = position
        base = self.pointer(tuple(outer), abi.CELL_DATA) if outer else self.args
        return base, last * abi.ANY_SIZE

    def type_and_payload(self, position: Position) -> tuple[Value, Value]:
        """Type index (i32) and payload (i64) of a ``TVMFFIAny``."""
        b = self.b
        base, offset = self.any_at(position)
        index = b.field(b.types.i32, base, offset)
        return index, b.field(b.types.i64, base, offset + abi.ANY_PAYLOAD)

    def pointer(self, position: Position, offset: int) -> Value:
        """A pointer field of the object at a position, loaded once.

        Of an absent tensor it points to zeros, as many as it may have dimensions.
        """
        key = (position, offset)
        if key not in self.pointers:
            b = self.b
            found = b.field(b.types.ptr, self.object(position), offset)
            there = self.guard(position)
            if there is not None:
                found = b.select(there, found, b.address_of(self.zeros))
            self.pointers[key] = found
        return self.pointers[key]

    def object(self, position: Position) -> Value:
        """The object at a position; for one that may be absent, zeros stand in."""
        there, b = self.guard(position), self.b
        if there is None:
            return self.objects[position]
        return b.select(there, self.objects[position], b.address_of(self.zeros))

    @cached_property
    def zeros(self) -> str:
        """A constant that can be read like any tensor."""
        size = DL + abi.DLTENSOR_SIZE + 8 * self.rank
        return self.b.symbols.text(bytes(size), align=8)

    def guard(self, position: Position) -> Value | None:
        """An i1: whether what is at a position is there; None where it is for certain."""
        for end in range(len(position), 0, -1):
            if position[:end] in self.present:
                return self.present[position[:end]]
        return None

    def shape(self, position: Position) -> Value:
        """The shape pointer of a tensor."""
        return self.pointer(position, DL + abi.DLTENSOR_SHAPE)

    def dim(self, place: Place) -> Value:
        """A dimension as it is stored."""
        stored = Place(place.position, place.path, Part.SHAPE, place.index)
        if stored not in self.reads:
            assert place.index is not None
            b = self.b
            value = b.field(b.types.i64, self.shape(place.position), 8 * place.index)
            self.reads[stored] = value
            self.dims.setdefault(place.position, []).append(value)
        return self.reads[stored]

    def product(self, dims: list[Value | int]) -> Value | int:
        """The product of dimensions, modulo 2^64; equal products are emitted once."""
        marks = tuple(dim if isinstance(dim, int) else id(dim) for dim in dims)
        start = 0
        while start < len(marks) and marks[start:] not in self.products:
            start += 1
        found = self.products[marks[start:]] if start < len(marks) else 1
        for at in reversed(range(start)):
            found = self._multiply(dims[at], found)
            self.products[marks[at:]] = found
        return found

    def _multiply(self, lhs: Value | int, rhs: Value | int) -> Value | int:
        if isinstance(lhs, int) and isinstance(rhs, int):
            return (lhs * rhs) & (2**64 - 1)
        if isinstance(lhs, int) and lhs == 1:  # a Value is not compared: that may emit an operation
            return rhs
        if isinstance(rhs, int) and rhs == 1:
            return lhs
        return self.b.mul(self.value(lhs), self.value(rhs))

    def value(self, number: Value | int) -> Value:
        """An int as an i64 constant; a value as it is."""
        return self.b.i64(number) if isinstance(number, int) else number

    # ---- checking

    def require(self, condition: Value) -> None:
        """Go on if the condition holds, else to the slow block."""
        self.b.require(condition, self.slow)

    def require_or(self, condition: Value, rare: Callable[[], Value]) -> None:
        """Go on if the condition holds, else if ``rare()`` does, which is evaluated only then."""
        b = self.b
        following = b.new_block()
        cold = b.new_block(cold=True)
        b.cond_br(condition, following, cold, likely=True)
        b.block = cold
        b.cond_br(rare(), following, self.slow)
        b.block = following

    def shared(self, name: str, operands: list[Value]) -> Value:
        """Call one of the i1 helpers that keep the caller's registers."""
        return call_shared(self.b, name, operands, self.b.types.i1)

    def is_free(self, place: Place) -> Value:
        """Whether the stride at this place is free."""
        assert place.index is not None
        tensor = self.objects[place.position]
        return self.shared("free_stride", [tensor, self.b.i64(place.index)])

    def check(self, condition: Value, place: Place, *, free: bool) -> None:
        """Go on if the condition holds, or with ``free`` if the stride is free."""
        if free:
            self.require_or(condition, lambda: self.is_free(place))
        else:
            self.require(condition)
