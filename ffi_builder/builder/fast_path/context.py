"""The fast path of one wrapper while it is being emitted."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Final, TypeVar

from ffi_builder import abi, spec
from ffi_builder.builder.fast_path import state
from ffi_builder.builder.fast_path.state import Position
from ffi_builder.ir import Block, CheckingBuilder, Value
from ffi_builder.ir.checking import call_support
from ffi_builder.plan import Place
from ffi_builder.records import dataclass

Kind = TypeVar("Kind", bound=state.Record)

DL: Final = abi.OBJECT_SIZE
"""Offset of the DLTensor in a Tensor object, behind the object's header."""


@dataclass(repr=False, eq=False)
class FastPath:
    """The cursor, the arguments and the decoded values, with methods to read and check values."""

    b: CheckingBuilder
    args: Value
    count: Value
    slow: Block
    """Target of failed checks, except those below."""
    wrong: Block
    """Target of a failed count check. It takes the count as a block argument, so that later
    failures need not keep it live."""
    overlapping: Block
    """Target of failed comparisons of memory: ``slow`` unless lists are compared."""
    rank: int
    """The largest number of dimensions of any tensor."""

    def __post_init__(self) -> None:
        self.alone: frozenset[spec.Var] = frozenset()
        """Symbols that no check reads. A stride that binds one is loaded only where it is used."""
        self.sorted: frozenset[Position] = frozenset()
        """Lists whose elements are sorted by address, to compare their memory."""
        self.stored: dict[spec.Var, state.Stored] = {}
        """Symbols whose strides have not been loaded."""
        self.elements: dict[Position, Value] = {}
        """The address of the current ``TVMFFIAny`` of each list that a loop goes through."""
        self.numbers: dict[Position, tuple[Value, Value]] = {}
        """The type index and payload of the current number, likewise."""
        self.rows: dict[Position, tuple[Value, Value]] = {}
        """The rows of lists of lists: the slot with the next address for a copy, and the end."""
        self.memory: dict[Position, Value] = {}
        """Stack slots with the addresses of memory to free, one for each list or Map."""
        self.maps: set[Position] = set()
        """The Maps among them, whose memory the support code has allocated."""
        self.doubts: list[tuple[Block, Block]] = []
        """Blocks that ask the diagnosis whether a call is wrong, each with the one that goes on."""
        self.state = state.State()

    # ---- reading

    def symbol(self, var: spec.Var) -> state.Symbol:
        """Return a bound symbol; a symbol in ``stored`` is loaded at the cursor."""
        stored = self.stored.get(var)
        if stored is None:
            return self.state.symbols[var]
        b, place = self.b, stored.place
        assert place.index is not None
        strides = self.tensor(place.position).strides
        assert strides is not None, "read_ahead has asked for them"
        value = b.field(b.types.i64, strides, 8 * place.index)
        if place.packing > 1:
            value = b.mul(value, b.i64(place.packing))
        return state.Symbol(value=value, low=stored.low, high=stored.high, certain=None, seen=None)

    def record(self, position: Position, kind: type[Kind]) -> Kind:
        """Return the record at a position, which must be of this kind."""
        record = self.state.records[position]
        assert isinstance(record, kind)
        return record

    def tensor(self, position: Position) -> state.TensorValues:
        """Return the record of the tensor at a position."""
        return self.record(position, state.TensorValues)

    def data(self, position: Position) -> Value:
        """Return data + byte_offset of a tensor."""
        data = self.tensor(position).data
        assert data is not None
        return data

    def entries(self, position: Position) -> list[Value]:
        """Return the entries of the Shape at a position."""
        return self.record(position, state.ShapeValues).entries

    def tensor_list(self, position: Position) -> state.ListValues:
        """Return the record of the list of tensors at a position."""
        return self.record(position, state.ListValues)

    def length(self, position: Position) -> Value:
        """Return the number of elements of the list at a position, as i64."""
        return self.record(position, state.CountedValues).length

    def text(self, position: Position) -> state.TextValues:
        """Return the record of the str or bytes at a position."""
        return self.record(position, state.TextValues)

    def scalar(self, position: Position) -> Value:
        """Return the value of the scalar or Choice at a position."""
        record = self.state.records[position]
        if isinstance(record, state.TextValues):
            assert record.choice is not None
            return record.choice
        assert isinstance(record, state.ScalarValues)
        return record.value

    def any_at(self, position: Position) -> tuple[Value, int]:
        """Return base pointer and byte offset of the ``TVMFFIAny`` at a position."""
        if position in self.elements:
            return self.elements[position], 0
        *outer, last = position
        if isinstance(self.state.records.get(tuple(outer)), state.VariantValues):
            return self.any_at(tuple(outer))  # the value itself
        base = self.cells(tuple(outer)) if outer else self.args
        return base, last * abi.ANY_SIZE

    def type_and_payload(self, position: Position) -> tuple[Value, Value]:
        """Load type index (i32) and payload (i64) of the ``TVMFFIAny`` at a position."""
        b = self.b
        if position in self.numbers:
            return self.numbers[position]
        base, offset = self.any_at(position)
        index = b.field(b.types.i32, base, offset)
        return index, b.field(b.types.i64, base, offset + abi.ANY_PAYLOAD)

    def look(self, position: Position) -> tuple[Value, Value]:
        """Load the type index, and the payload as a pointer, of the ``TVMFFIAny`` at a position."""
        b, t = self.b, self.b.types
        base, offset = self.any_at(position)
        return b.field(t.i32, base, offset), b.field(t.ptr, base, offset + abi.ANY_PAYLOAD)

    def object_at(self, position: Position) -> Value:
        """Return the object at a position; NULL if it is absent."""
        return self.record(position, state.ObjectValues).object

    def object(self, position: Position) -> Value:
        """Return the object at a position; if it is absent, ``zeros``."""
        return self.or_zeros(position, self.object_at(position))

    def or_zeros(self, position: Position, pointer: Value) -> Value:
        """Return a pointer into what is at a position; if it is absent, to ``zeros``."""
        there, b = self.guard(position), self.b
        return pointer if there is None else b.select(there, pointer, b.address_of(self.zeros))

    def _pointer(self, position: Position, offset: int) -> Value:
        """Load a pointer field of the object at a position; if it is absent, return ``zeros``."""
        pointer = self.b.field(self.b.types.ptr, self.object(position), offset)
        return self.or_zeros(position, pointer)

    def cells(self, position: Position) -> Value:
        """Return the pointer to the elements of an Array or List."""
        container = self.record(position, state.ContainerValues)
        if container.cells is None:
            container.cells = self._pointer(position, abi.CELL_DATA)
        return container.cells

    def shape(self, position: Position) -> Value:
        """Return the pointer to the dimensions of a tensor."""
        tensor = self.tensor(position)
        if tensor.shape is None:
            tensor.shape = self._pointer(position, DL + abi.DLTENSOR_SHAPE)
        return tensor.shape

    def given_strides(self, position: Position) -> Value:
        """Return the given pointer to the strides of a tensor, which may be NULL."""
        tensor = self.tensor(position)
        if tensor.given_strides is None:
            tensor.given_strides = self._pointer(position, DL + abi.DLTENSOR_STRIDES)
        return tensor.given_strides

    @cached_property
    def zeros(self) -> str:
        """Define a constant of zeros, which can be read in place of any object; return its name."""
        size = DL + abi.DLTENSOR_SIZE + 8 * self.rank
        return self.b.symbols.text(bytes(size), align=8)

    def guard(self, position: Position) -> Value | None:
        """Return an i1 that says whether a value is present; None if it always is."""
        present = self.state.present
        for end in range(len(position), 0, -1):
            if position[:end] in present:
                return present[position[:end]]
        return None

    def dim(self, place: Place) -> Value:
        """Load a dimension, as it is stored."""
        tensor, axis = self.tensor(place.position), place.index
        assert axis is not None
        if axis not in tensor.loaded:
            b = self.b
            value = b.field(b.types.i64, self.shape(place.position), 8 * axis)
            tensor.loaded[axis] = tensor.dims[axis] = value
        return tensor.loaded[axis]

    def product(self, dims: list[Value | int]) -> Value | int:
        """Multiply dimensions, modulo 2^64. Equal products are emitted once."""
        products = self.state.products
        marks = tuple(dim if isinstance(dim, int) else id(dim) for dim in dims)
        start = 0
        while start < len(marks) and marks[start:] not in products:
            start += 1
        product = products[marks[start:]] if start < len(marks) else 1
        for at in reversed(range(start)):
            product = products[marks[at:]] = self._multiply(dims[at], product)
        return product

    def _multiply(self, lhs: Value | int, rhs: Value | int) -> Value | int:
        if isinstance(lhs, int) and isinstance(rhs, int):
            return (lhs * rhs) & (2**64 - 1)
        if isinstance(lhs, int) and lhs == 1:  # Values are not compared: that may emit an operation
            return rhs
        if isinstance(rhs, int) and rhs == 1:
            return lhs
        return self.b.mul(self.value(lhs), self.value(rhs))

    def value(self, number: Value | int) -> Value:
        """Return an int as an i64 constant; return a value as it is."""
        return self.b.i64(number) if isinstance(number, int) else number

    # ---- checking

    def require(self, condition: Value) -> None:
        """Go on if the condition holds, else go to the slow block."""
        self.b.require(condition, self.slow)

    def usually(self, fits: Value, value: Value, rare: Callable[[], Value]) -> Value:
        """Return ``value`` if it ``fits``, else what ``rare`` emits, off the fast path."""
        b = self.b
        ready, other = b.new_block(value.type), b.new_block(cold=True)
        b.cond_br(fits, ready, other, (value,), likely=True)
        b.block = other
        b.br(ready, rare())
        b.block = ready
        return ready.arguments[0]

    def require_or(self, condition: Value, rare: Callable[[], Value]) -> None:
        """Go on if the condition or else ``rare()`` holds, which is evaluated only in that case."""
        b = self.b
        following = b.new_block()
        cold = b.new_block(cold=True)
        b.cond_br(condition, following, cold, likely=True)
        b.block = cold
        b.cond_br(rare(), following, self.slow)
        b.block = following

    def require_unless_fine(self, condition: Value) -> None:
        """Go on if the condition holds, or if the diagnosis finds nothing wrong with the call."""
        following = self.b.new_block()
        self.doubt(condition, following)
        self.b.block = following

    def doubt(self, condition: Value, following: Block) -> None:
        """Branch to a block if the condition holds, or the diagnosis finds nothing wrong."""
        cold = self.b.new_block(cold=True)
        self.b.cond_br(condition, following, cold, likely=True)
        self.doubts.append((cold, following))

    def shared(self, name: str, operands: list[Value]) -> Value:
        """Call one of the support functions that return an i1 and keep the caller's registers."""
        return call_support(self.b, name, operands)

    def is_free(self, place: Place) -> Value:
        """Return an i1 that says whether the stride at this place is free."""
        assert place.index is not None
        tensor = self.tensor(place.position).object
        return self.shared("free_stride", [tensor, self.b.i64(place.index)])

    def check(self, condition: Value, place: Place, *, free: bool) -> None:
        """Go on if the condition holds or, with ``free``, if the stride is free."""
        if free:
            self.require_or(condition, lambda: self.is_free(place))
        else:
            self.require(condition)
