"""Decodes and checks lists of tensors on the fast path, and writes their arrays for the kernel.

For ``xs: TensorList(Tensor([n, k], float32), each=[n])`` the code is a loop::

    %length = …                                       // not negative, at most an int32
    %space = length <= 51 ? %stack : malloc(length * 40)
    for (i = 0; i < %length; ++i) {
      …                                               // the checks of xs[i], as of any tensor
      %pointers[i] = data + byte_offset
      %shapes[i] = {n, k}
      %strides[i] = {k, 1}
    }

State that an element passes to the next is in memory: the symbols that all elements share, whether
each is bound, and the device of the first element. Later lists of the same length read symbols of
each element from ``%shapes``. Addresses from malloc are kept on the stack, so that every exit of
the function frees them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from ffi_builder import abi, spec
from ffi_builder.abi import TypeIndex
from ffi_builder.builder.fast_path import objects, tensors, values
from ffi_builder.builder.fast_path.context import FastPath
from ffi_builder.builder.fast_path.state import ListValues, Position, Symbol, TensorValues
from ffi_builder.ir import CheckingBuilder, Value
from ffi_builder.ir.builder import call_extern
from ffi_builder.ir.checking import run_support
from ffi_builder.plan import Part, Place, Plan
from ffi_builder.plan import steps as s
from ffi_builder.plan.results import checked_range
from ffi_builder.records import dataclass
from ffi_builder.spec.numbers import INT_RANGES
from ffi_builder.spec.tensors.entries import MOST_ELEMENTS

_STACK: Final = 2048
"""The most bytes of the stack that a list uses; longer lists use malloc."""
_EXTENT_SIZE: Final = 32
"""Bytes for the first and the last address of a tensor, and as many again for sorting."""


def reserve(fast: FastPath, plan: Plan) -> None:
    """Reserve stack space, at first NULL, for the address of each list's memory."""
    b = fast.b
    for step in plan.every_step:
        is_map = isinstance(step, s.OpenMap)
        copies = isinstance(step, s.EachElement) and not isinstance(step.param, spec.Array)
        if (is_map or copies) and not step.place.is_each:
            if is_map:
                fast.maps.add(step.place.position)
            fast.memory[step.place.position] = b.alloca(b.types.ptr)
            b.store(b.null(), fast.memory[step.place.position])


def release(fast: FastPath) -> None:
    """Free the memory of lists."""
    b, t = fast.b, fast.b.types
    for position, slot in fast.memory.items():
        noted = b.load(t.ptr, slot)
        with b.when(b.ne(noted, b.null()), cold=True):
            if position in fast.maps:
                run_support(b, "free_map_items", [noted])
            else:
                call_extern(b, "free", [noted], t.void)


def decode_list(fast: FastPath, step: s.DecodeList) -> None:
    """Decode the Array or List; check that an int32 can count its elements."""
    object_, length = sequence(fast, step.place, (TypeIndex.LIST,))
    none = fast.b.null()
    fast.state.records[step.place.position] = ListValues(
        object=object_,
        length=length,
        pointers=none,
        shapes=none,
        strides=none,
        extents=None,
        ndim=0,
    )


def sequence(fast: FastPath, place: Place, others: tuple[TypeIndex, ...]) -> tuple[Value, Value]:
    """Return the Array at a place, or object of another type, with its length, an int32."""
    b = fast.b
    object_ = objects.array_object(fast, place, others)
    fast.require(b.ne(object_, b.null()))
    length = b.field(b.types.i64, object_, abi.CELL_SIZE)
    fast.require(b.ule(length, b.i64(MOST_ELEMENTS)))
    return object_, length


def cells(fast: FastPath, object_: Value, nothing: Value) -> Value:
    """Return the pointer to the elements, which may be NULL if there is ``nothing``."""
    b = fast.b
    elements = b.field(b.types.ptr, object_, abi.CELL_DATA)
    fast.require(b.or_(b.ne(elements, b.null()), nothing))
    return elements


@contextmanager
def each(fast: FastPath, length: Value) -> Generator[Value]:
    """Emit a loop, in which alone the values are known that are decoded in it; yield the index."""
    before = fast.state
    with fast.b.loop(length) as index:
        fast.state = before.fork()
        yield index
    fast.state = before


def check_elements(fast: FastPath, step: s.EachElement, emit_inside: Callable[[], None]) -> None:
    """Check each element, and write its address, its shape and its strides."""
    b, place, param = fast.b, step.place, step.param
    assert isinstance(param, spec.TensorList)
    tensor = param.tensor
    own = fast.tensor_list(place.position)
    nothing = b.eq(own.length, b.i64(0))
    items = cells(fast, own.object, nothing)
    _allocate(fast, place, tensor, own)
    bound = _bound_inside(step)
    carried = [_Carried.begin(fast, var) for var in bound]
    device = b.alloca(b.types.i64)
    b.store(b.i64(0), device)
    first = place.first.position
    with each(fast, own.length) as index:
        fast.elements[place.each.position] = b.element(items, index, CELL)
        later = b.ne(index, b.i64(0))
        _note_first(fast, first, device, later)
        for symbol in carried:
            symbol.load(fast)
        for var, at in step.known:
            fast.state.symbols[var] = _of_element(fast, var, at, index)
        emit_inside()
        tensors.check_waiting(fast)
        _write(fast, place, tensor, own, index)
        current = fast.tensor(place.each.position).device
        b.store(b.select(later, b.load(b.types.i64, device), current), device)
        for symbol in carried:
            symbol.store(fast)
    never_empty = param.never_empty
    _note_first(fast, first, device, None if never_empty else b.xor(nothing, b.i1(True)))
    for symbol in carried:
        symbol.load(fast, certain=never_empty and bound[symbol.var])


CELL: Final = f"!llvm.array<{abi.ANY_SIZE // 8} x i64>"


def _note_first(fast: FastPath, first: Position, device: Value, there: Value | None) -> None:
    """Record the device of the first element, for other tensors."""
    b = fast.b
    fast.state.records[first] = TensorValues(
        object=b.null(), ndim=None, device=b.load(b.types.i64, device), data=b.null()
    )
    if there is not None:
        fast.state.present[first] = there


# ---- symbols


def _bound_inside(step: s.EachElement) -> dict[spec.Var, bool]:
    """Return the shared symbols that the first element may bind.

    The value says whether it certainly does; a free stride may not.
    """
    bound: dict[spec.Var, bool] = {}
    for inner in step.inside:
        if isinstance(inner, s.BindOrEqual):
            bound[inner.symbol] = bound.get(inner.symbol, False) or not inner.free
    return bound


@dataclass
class _Carried:
    """A symbol that one element passes to the next, in memory."""

    var: spec.Var
    value: Value
    certain: Value
    seen: Value

    @staticmethod
    def begin(fast: FastPath, var: spec.Var) -> _Carried:
        """Write the state of the symbol before the list."""
        b = fast.b
        outer = fast.state.symbols.get(var)
        carried = _Carried(var, *(b.alloca(t) for t in (b.types.i64, b.types.i1, b.types.i1)))
        if outer is None:
            b.store(b.i64(0), carried.value)
            b.store(b.i1(False), carried.certain)
            b.store(b.i1(False), carried.seen)
        else:
            carried._write(fast, outer)
        return carried

    def load(self, fast: FastPath, *, certain: bool = False) -> None:
        """Load the symbol for later steps; ``certain`` says that it is certainly bound."""
        b = fast.b
        low, high = INT_RANGES[self.var.dtype]
        fast.state.symbols[self.var] = Symbol(
            value=b.load(b.types.i64, self.value),
            low=low,
            high=high,
            certain=None if certain else b.load(b.types.i1, self.certain),
            seen=None if certain else b.load(b.types.i1, self.seen),
        )

    def store(self, fast: FastPath) -> None:
        """Write the symbol after an element."""
        self._write(fast, fast.state.symbols[self.var])

    def _write(self, fast: FastPath, symbol: Symbol) -> None:
        b = fast.b
        b.store(symbol.value, self.value)
        for flag, slot in ((symbol.certain, self.certain), (symbol.seen, self.seen)):
            b.store(b.i1(True) if flag is None else flag, slot)


def _of_element(fast: FastPath, var: spec.Var, bound: Place, index: Value) -> Symbol:
    """Read a symbol from the shape of the same element of an earlier list."""
    b, axis = fast.b, bound.index
    assert bound.part is Part.SHAPE
    assert axis is not None
    other = fast.tensor_list(bound.position[:-1])
    row = b.element(other.shapes, index, _row(other.ndim))
    low, high = checked_range(bound, var)
    value = b.field(b.types.i64, row, 8 * axis)
    return Symbol(value=value, low=low, high=high, certain=None, seen=None)


# ---- the arrays


def _row(ndim: int) -> str:
    return f"!llvm.array<{ndim} x i64>"


def _allocate(fast: FastPath, place: Place, tensor: spec.Tensor, own: ListValues) -> None:
    """Reserve contiguous memory for the three arrays, followed by the extents."""
    b, row = fast.b, 8 * tensor.ndim
    is_sorted = place.position in fast.sorted
    own.ndim = tensor.ndim
    own.pointers = memory(fast, place, own.length, 8 + 2 * row + _EXTENT_SIZE * is_sorted)
    own.shapes = b.element(own.pointers, own.length, "i64")
    own.strides = own.shapes
    if tensor.ndim:
        own.strides = b.element(own.shapes, own.length, _row(tensor.ndim))
    if is_sorted:
        own.extents = b.element(own.strides, own.length, _row(tensor.ndim))


def memory(fast: FastPath, place: Place, length: Value, size: int) -> Value:
    """Reserve memory for the elements of a list, of ``size`` bytes each, until the call ends."""
    b, t = fast.b, fast.b.types
    most = max(1, _STACK // size)
    stack = b.alloca(t.i64, most * size // 8)

    def heap() -> Value:
        made = call_extern(b, "malloc", [b.mul(length, b.i64(size))], t.ptr)
        with b.out_of_line(), b.when(b.is_null(made), cold=True):
            raise_no_memory(b, f"There is no memory for the list {place.path}")
        b.store(made, fast.memory[place.position])
        return made

    return fast.usually(b.ule(length, b.i64(most)), stack, heap)


def raise_no_memory(b: CheckingBuilder, words: str) -> None:
    """Raise a MemoryError. It leaves out the signature, so the code is the same for all names."""
    kind = b.text_constant(b"MemoryError")
    message = b.text_constant(words.encode())
    operands = [kind, b.i64(len("MemoryError")), message, b.i64(len(words)), kind, b.i64(0)]
    b.ret(b.call_value(b.raiser, operands, b.types.i32))


def _write(
    fast: FastPath, place: Place, tensor: spec.Tensor, own: ListValues, index: Value
) -> None:
    """Write the element to the arrays."""
    b, at = fast.b, place.each
    b.store(fast.data(at.position), b.element(own.pointers, index, "i64"))
    if not tensor.ndim:
        return
    sizes = [_size(fast, tensor, at, axis) for axis in range(tensor.ndim)]
    arrays = (own.shapes, sizes), (own.strides, _strides(fast, tensor, at, sizes))
    for array, entries in arrays:
        row = b.element(array, index, _row(tensor.ndim))
        for axis, entry in enumerate(entries):
            b.store(fast.value(entry), b.offset(row, 8 * axis))


def _size(fast: FastPath, tensor: spec.Tensor, at: Place, axis: int) -> Value | int:
    """Return a dimension as the kernel counts it."""
    if axis != tensor.packed_axis:
        return fast.tensor(at.position).dims[axis]
    return values.read(fast, replace(at.at(Part.SHAPE, axis), packing=tensor.packing))


def _strides(
    fast: FastPath, tensor: spec.Tensor, at: Place, sizes: Sequence[Value | int]
) -> Sequence[Value | int]:
    """Return the strides as the kernel counts them; contiguous strides are computed."""
    if tensor.order is not None:
        return tensors.contiguous(fast, list(sizes), tensor.order)
    return [
        values.read(fast, replace(at.at(Part.STRIDES, axis), packing=packing))
        for axis in range(tensor.ndim)
        for packing in (1 if axis == tensor.packed_axis else tensor.packing,)
    ]
