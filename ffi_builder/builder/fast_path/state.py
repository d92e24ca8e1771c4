"""What the fast path has decoded so far.

There is one record for each position, of the kind that was decoded there. No field has a default:
where a record, a symbol or the state is made, each one is given, so that none can be forgotten
where a branch is forked or joined.

A record is written only by the steps of its own position, and by those who read it behind all
branches. So a branch shares the records that were there before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import TypeAlias, Union

from ffi_builder import spec
from ffi_builder.builder.fast_path.merge import Merge
from ffi_builder.ir import Value
from ffi_builder.plan import Place

Position: TypeAlias = tuple[int, ...]
"""Which argument, or element of tuples: the ``position`` of a Place."""


@dataclass(frozen=True, kw_only=True)
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
    certain: Value | None
    seen: Value | None

    def joined(self, outer: Symbol | None, merge: Merge) -> Symbol:
        """The symbol behind a branch that has bound it; ``outer`` is the one before the branch."""
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
    """A symbol whose value is loaded from its place where it is asked for."""

    place: Place
    low: int
    high: int


@dataclass(kw_only=True)
class TensorValues:
    """A tensor. What is None has not been read here."""

    object: Value
    ndim: int | None
    """The number of dimensions that it has been checked to have; None if it may have any."""
    device: Value
    """Device type and id in one i64, the type in the low half."""
    data: Value | None
    """data + byte_offset."""
    shape: Value | None
    given_strides: Value | None
    """As they came, perhaps NULL."""
    strides: Value | None
    """Where strides are, also of a tensor that came with none."""
    loaded: dict[int, Value]
    """The dimensions as stored, by axis."""
    dims: dict[int, Value | int]
    """The same, but an int or a symbol's value where the check has made it one."""

    @staticmethod
    def decoded(object_: Value, ndim: int | None, device: Value) -> TensorValues:
        """A tensor of which nothing else has been read."""
        return TensorValues(
            object=object_,
            ndim=ndim,
            device=device,
            data=None,
            shape=None,
            given_strides=None,
            strides=None,
            loaded={},
            dims={},
        )

    def joined(self, merge: Merge) -> TensorValues:
        """What is known behind the branch: object, data and device; all else is read again."""
        assert self.data is not None
        return TensorValues(
            object=merge(self.object),
            ndim=self.ndim,
            data=merge(self.data),
            device=merge(self.device),
            shape=None,
            given_strides=None,
            strides=None,
            loaded={},
            dims={},
        )


@dataclass(kw_only=True)
class ContainerValues:
    """A Shape, Array or List."""

    object: Value
    cells: Value | None
    """Where the elements are."""
    entries: list[Value]
    """Those of a Shape, as i64."""

    def joined(self, merge: Merge) -> ContainerValues:
        """What is known behind the branch: object and entries."""
        return ContainerValues(
            object=merge(self.object),
            cells=None,
            entries=[merge(entry) for entry in self.entries],
        )


@dataclass(kw_only=True)
class TextValues:
    """A str or bytes."""

    choice: Value | None
    """The i64 that a choice stands for."""
    pointer: Value
    length: Value
    array: Value
    """Pointer and length as a ``TVMFFIByteArray`` on the stack."""

    def joined(self, merge: Merge) -> TextValues:
        """What is known behind the branch."""
        return TextValues(
            choice=self.choice and merge(self.choice),
            pointer=merge(self.pointer),
            length=merge(self.length),
            array=self.array,
        )


@dataclass(kw_only=True)
class ObjectValues:
    """An object of any other type."""

    object: Value

    def joined(self, merge: Merge) -> ObjectValues:
        """What is known behind the branch."""
        return ObjectValues(object=merge(self.object, None))


@dataclass(kw_only=True)
class ScalarValues:
    """A scalar as an i64, or a float of its dtype (i16 bits for the 16-bit ones)."""

    value: Value

    def joined(self, merge: Merge) -> ScalarValues:
        """What is known behind the branch."""
        return ScalarValues(value=merge(self.value, None))


Record: TypeAlias = Union[TensorValues, ContainerValues, TextValues, ObjectValues, ScalarValues]


@dataclass(kw_only=True)
class State:
    """All that the fast path has decoded, as far as it is known at the cursor."""

    records: dict[Position, Record]
    present: dict[Position, Value]
    """For each Optional that is behind the cursor, an i1: whether it is there."""
    symbols: dict[spec.Var, Symbol]
    reads: dict[Place, Value]
    """What was computed from what is stored at a place, to be emitted once."""
    products: dict[tuple[object, ...], Value | int]
    """Products of dimensions, likewise."""
    unsized: list[Position]
    """Tensors whose sizes are still to be checked, as far as that is done together."""

    @staticmethod
    def empty() -> State:
        """Nothing is known yet."""
        return State(records={}, present={}, symbols={}, reads={}, products={}, unsized=[])

    def fork(self) -> State:
        """The state at the beginning of a branch: what it adds is not known here."""
        return State(
            records=dict(self.records),
            present=dict(self.present),
            symbols=dict(self.symbols),
            reads=dict(self.reads),
            products=dict(self.products),
            unsized=[],
        )

    def join(self, branch: State, merge: Merge) -> State:
        """The state behind a branch that this was the state before.

        What was only read or computed in the branch is not known here.
        """
        assert not branch.unsized, "a branch checks the sizes of its own tensors"
        joined = self.fork()
        # The tables of the branch began as copies: what it has added comes last.
        for position, record in islice(branch.records.items(), len(self.records), None):
            joined.records[position] = record.joined(merge)
        for position, there in islice(branch.present.items(), len(self.present), None):
            joined.present[position] = merge(there)
        every = zip_longest(branch.symbols.items(), self.symbols.values())
        for (var, symbol), outer in every:
            if symbol is not outer:
                joined.symbols[var] = symbol.joined(outer, merge)
        joined.unsized = self.unsized
        return joined
