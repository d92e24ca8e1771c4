"""Decoded values of the fast path.

Each position has one record, of the kind that was decoded there. Fields without a default are
passed on where a branch ends (``join``). Fields with a default cache values that were read; a
branch does not pass them on.

A position's record is written only by the steps of that position and, once all branches have ended,
by providers. So a branch shares the records that were there before it.

At the end of a branch, block arguments take the value of either path (``merge``).
"""

from __future__ import annotations

from dataclasses import MISSING, field, fields, replace
from functools import cached_property
from itertools import islice, zip_longest
from typing import Any, ClassVar, TypeAlias, Union, cast

from typing_extensions import Self

from ffi_builder import spec
from ffi_builder.ir import Value
from ffi_builder.ir.builder import Builder
from ffi_builder.plan import Place
from ffi_builder.records import dataclass


class Merge:
    """The block after a branch. Make this object where the branch ends."""

    def __init__(self, b: Builder) -> None:
        self._b = b
        self._absent, self._block = b.new_block(), b.new_block()
        self._inner: list[Value] = []
        self._outer: list[Value | None] = []

    def __call__(self, inner: Value, outer: Value | None = None) -> Value:
        """Return a value that is ``inner`` if the branch was taken, else ``outer`` (None: zero)."""
        self._inner.append(inner)
        self._outer.append(outer)
        return self._b.new_argument(self._block, inner.type)

    def flag(self, inner: Value | None, outer: Value | None) -> Value:
        """Merge an i1 in the same way; ``inner`` None means True."""
        return self(self._true if inner is None else inner, outer)

    @cached_property
    def _true(self) -> Value:
        return self._b.i1(True)

    def emit(self, start: Any, condition: Value, body: Any) -> None:
        """End the branch, and block ``start``, which enters it on a condition; go on after both."""
        b = self._b
        b.br(self._block, *self._inner)
        b.block = start
        b.cond_br(condition, body, self._absent)
        b.block = self._absent
        pairs = zip(self._inner, self._outer, strict=True)
        without = [b.zero(inner.type) if outer is None else outer for inner, outer in pairs]
        b.br(self._block, *without)
        b.block = self._block


Position: TypeAlias = tuple[int, ...]
"""An argument, or an element of a tuple: the ``position`` of a Place."""


@dataclass(frozen=True, kw_only=True)
class Symbol:
    """A bound symbol.

    ``value`` is an i64 with the bits of an integer, bool or handle, or a float of the symbol's
    dtype (i16 bits for the 16-bit ones). ``certain`` is None if the symbol is certainly bound, else
    an i1 that says whether it is. ``seen`` likewise says whether the symbol is bound at all, maybe
    only provisionally; otherwise the value is 0. ``low`` and ``high`` are the checked range of an
    integer.
    """

    value: Value
    low: int
    high: int
    certain: Value | None
    seen: Value | None

    def joined(self, outer: Symbol | None, merge: Merge) -> Symbol:
        """Return the symbol after a branch that bound it; ``outer`` is the symbol before it."""
        low, high = (0, 0) if outer is None else (outer.low, outer.high)
        value = merge(self.value, outer and outer.value)
        certain = merge.flag(self.certain, outer and outer.certain)
        seen: Value | None = None
        if outer is None or outer.seen is not None:
            seen = merge.flag(self.seen, outer and outer.seen)
        return Symbol(
            value=value,
            low=min(self.low, low),
            high=max(self.high, high),
            certain=certain,
            seen=seen,
        )


@dataclass(frozen=True)
class Stored:
    """A symbol that is loaded from its place wherever it is used."""

    place: Place
    low: int
    high: int


class Record:
    """The base of records."""

    on_the_stack: ClassVar[tuple[str, ...]] = ()
    """Fields with addresses in the frame, which both paths have."""

    def joined(self, merge: Merge) -> Self:
        """Return the record after the branch: it keeps the fields without a default."""

        def either(name: str) -> Any:
            value: Any = getattr(self, name)
            if isinstance(value, list):
                return [merge(each) for each in cast("list[Value]", value)]
            kept = value is None or isinstance(value, int) or name in self.on_the_stack
            return value if kept else merge(cast("Value", value))

        own: Any = self
        given = [f.name for f in fields(own) if f.default is f.default_factory is MISSING]
        return type(self)(**{name: either(name) for name in given})


@dataclass(kw_only=True)
class ObjectValues(Record):
    """An object."""

    object: Value


@dataclass(kw_only=True)
class TensorValues(ObjectValues):
    """A tensor."""

    ndim: int | None
    """The number of dimensions; None if any is accepted."""
    data: Value | None
    """data + byte_offset; None until it has been checked."""
    device: Value
    """Device type and id in one i64, the type in the low half."""
    shape: Value | None = None
    given_strides: Value | None = None
    """The given pointer, which may be NULL."""
    strides: Value | None = None
    """A pointer that is never NULL: missing strides are written out on the stack."""
    ends: Value | None = None
    """The stack slot with the first and the last address of the tensor's memory."""
    loaded: dict[int, Value] = field(default_factory=dict[int, Value])
    """The dimensions by axis, as they are stored."""
    dims: dict[int, Union[Value, int]] = field(default_factory=dict[int, Union[Value, int]])
    """The dimensions by axis; if one equals an int or a symbol, that int or the symbol's value."""


@dataclass(kw_only=True)
class ContainerValues(ObjectValues):
    """An Array or List."""

    cells: Value | None = None
    """Pointer to the elements."""


@dataclass(kw_only=True)
class ShapeValues(Record):
    """A Shape."""

    entries: list[Value]
    """The entries, as i64."""


@dataclass(kw_only=True)
class CountedValues(ObjectValues):
    """A list."""

    length: Value
    """The number of elements, as i64."""


@dataclass(kw_only=True)
class ListValues(CountedValues):
    """A list of tensors. The arrays are those of :class:`~ffi_builder.spec.TensorList`."""

    pointers: Value
    shapes: Value
    strides: Value
    extents: Value | None
    """The address of the sorted extents of the elements; None if they are not sorted."""
    ndim: int
    """The number of dimensions of each element."""
    sorted: Value | None = None
    """The number of extents, as i64, once they are sorted by address."""


@dataclass(kw_only=True)
class NumberListValues(CountedValues):
    """A list of numbers, strs or bytes."""

    data: Value
    """The copied numbers, in their dtype; or the address and the size of each text; or
    the addresses of lists."""
    lengths: Value | None
    """The lengths of lists."""


@dataclass(kw_only=True)
class TextValues(Record):
    """A str or bytes."""

    on_the_stack = ("array",)

    choice: Value | None
    """The value of a Choice, as i64."""
    pointer: Value
    length: Value
    array: Value
    """Pointer and length as a ``TVMFFIByteArray`` on the stack."""


@dataclass(kw_only=True)
class VariantValues(Record):
    """Which parameter of a Variant came."""

    number: Value
    """Its number from 1 on, as i32; 0 if the Variant is absent."""


@dataclass(kw_only=True)
class ScalarValues(Record):
    """A scalar: an i64, or a float of its dtype (an i16 for the 16-bit ones)."""

    value: Value


@dataclass(kw_only=True)
class State:
    """All values that are known at the cursor."""

    records: dict[Position, Record] = field(default_factory=dict[Position, Record])
    present: dict[Position, Value] = field(default_factory=dict[Position, Value])
    """An i1 for each Optional before the cursor: whether it is present."""
    symbols: dict[spec.Var, Symbol] = field(default_factory=dict[spec.Var, Symbol])
    reads: dict[Place, Value] = field(default_factory=dict[Place, Value])
    """Values computed from what is stored at a place; each is emitted once."""
    products: dict[tuple[object, ...], Union[Value, int]] = field(
        default_factory=dict[tuple[object, ...], Union[Value, int]]
    )
    """Products of dimensions; each is emitted once."""
    unsized: list[Position] = field(default_factory=list[Position])
    """Tensors whose sizes have yet to be checked, several together."""
    unsigned: list[Value] = field(default_factory=list[Value])
    """Entries of Shapes that must not be negative; they are checked with the sizes."""
    narrow: list[Value] = field(default_factory=list[Value])
    """Dimensions that must fit int32; they are checked with the sizes."""
    unaligned: dict[int, list[Position]] = field(default_factory=dict[int, list[Position]])
    """Tensors whose addresses have yet to be checked, by the alignment of their elements."""

    def fork(self) -> State:
        """Return a copy of the state for a branch. Additions in the branch do not change this."""
        return State(**self._copies())

    def _copies(self) -> dict[str, Any]:
        known = ("records", "present", "symbols", "reads", "products")
        return {name: dict(getattr(self, name)) for name in known}

    def join(self, branch: State, merge: Merge) -> State:
        """Return the state after a branch; ``self`` is the state before it.

        Values that were only read or computed in the branch are dropped.
        """
        waiting = (branch.unsized, branch.unsigned, branch.narrow, branch.unaligned)
        assert not any(waiting), "a branch checks its own tensors and Shapes"
        joined = replace(self, **self._copies())
        # The branch's dicts began as copies of these, so the entries that it added come last.
        for position, record in islice(branch.records.items(), len(self.records), None):
            joined.records[position] = record.joined(merge)
        for position, there in islice(branch.present.items(), len(self.present), None):
            joined.present[position] = merge(there)
        every = zip_longest(branch.symbols.items(), self.symbols.values())
        for (var, symbol), outer in every:
            if symbol is not outer:
                joined.symbols[var] = symbol.joined(outer, merge)
        return joined
