"""Optionals on the hot path: what is in one is checked in a branch of its own.

What it leaves behind are values that stand for both cases: NULL, 0 and False where it was absent.
All else that was read in the branch is forgotten, and read again where it is asked for, from zeros
if it was absent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, Final

from ffi_builder import spec
from ffi_builder.builder.fast_path import tensors
from ffi_builder.builder.fast_path.state import Hot, Symbol
from ffi_builder.ir import Value
from ffi_builder.plan import Part, Place
from ffi_builder.plan import steps as s

_TABLES: Final = (
    *("objects", "types", "present", "texts", "symbols", "reads", "devices", "raw_data", "data"),
    *("dims", "pointers", "products", "strides"),
)
"""What a branch may add to."""


def emit_optional(
    hot: Hot, place: Place, inside: Sequence[s.AnyStep], emit: Callable[[Sequence[s.AnyStep]], None]
) -> None:
    """The checks of an Optional, ``emit(inside)``, where it is not None."""
    b = hot.b
    base, offset = hot.any_at(place.position)
    there = b.ne(b.field(b.types.i32, base, offset), b.i32(0))
    before = {name: dict(getattr(hot, name)) for name in _TABLES}
    start, body = b.block, b.new_block()
    b.block = body
    unsized, hot.unsized = hot.unsized, []
    emit(inside)
    tensors.check_sizes(hot)
    hot.unsized = unsized
    inner = {name: getattr(hot, name) for name in _TABLES}
    for name in _TABLES:
        setattr(hot, name, before[name])
    merge = _Merge(hot)
    _keep_values(merge, inner)
    _keep_symbols(merge, inner["symbols"])
    merge.join(start, there, body)
    hot.present[place.position] = there


class _Merge:
    """Values of the branch, and what takes their place where it is not gone through."""

    def __init__(self, hot: Hot) -> None:
        self.hot = hot
        self._inner: list[Value] = []
        self._outer: list[Value | None] = []
        self._then: list[Callable[[Value], None]] = []

    def add(self, inner: Value, outer: Value | None, then: Callable[[Value], None]) -> None:
        """``outer`` is None for zero; ``then`` gets the value that stands for both."""
        self._inner.append(inner)
        self._outer.append(outer)
        self._then.append(then)

    def keep(self, name: str, key: Any, inner: Value) -> None:
        """Of a table of the hot path: zero where it is absent."""
        self.add(inner, None, lambda value: getattr(self.hot, name).__setitem__(key, value))

    def join(self, start: Any, there: Value, body: Any) -> None:
        """End the start and the body, and go on behind them."""
        b = self.hot.b
        absent, types = b.new_block(), [value.type for value in self._inner]
        merged = b.new_block(*types)
        b.br(merged, *self._inner)
        b.block = start
        b.cond_br(there, body, absent)
        b.block = absent
        zeros = [
            b.zero(type_) if o is None else o for type_, o in zip(types, self._outer, strict=True)
        ]
        b.br(merged, *zeros)
        b.block = merged
        for then, value in zip(self._then, merged.arguments, strict=True):
            then(value)
        self._then.clear()  # they refer to this, which would keep the context until it is collected


def _keep_values(merge: _Merge, inner: dict[str, dict[Any, Any]]) -> None:
    """Objects, addresses, devices and scalars."""
    hot = merge.hot
    for name in ("objects", "data", "devices", "present"):
        for key, value in _added(inner[name], getattr(hot, name)):
            merge.keep(name, key, value)
    for place, value in _added(inner["reads"], hot.reads):
        if place.part in (Part.VALUE, Part.ENTRY):
            merge.keep("reads", place, value)
    for position, parts in _added(inner["texts"], hot.texts):
        hot.texts[position] = []
        for part in parts:
            merge.add(part, None, hot.texts[position].append)


def _added(inner: dict[Any, Any], outer: dict[Any, Any]) -> list[tuple[Any, Any]]:
    """Return the entries that the branch has added to a table, which come last."""
    return list(islice(inner.items(), len(outer), None))


def _keep_symbols(merge: _Merge, inner: dict[spec.Var, Symbol]) -> None:
    """Those that the branch has bound, or bound anew; it may also not have been gone through."""
    outer = merge.hot.symbols
    pairs = zip(inner.items(), outer.values(), strict=False)  # the same symbols, to where it ends
    anew = [(var, bound, before) for (var, bound), before in pairs if bound is not before]
    for var, bound, before in (*anew, *((*item, None) for item in _added(inner, outer))):
        _keep_symbol(merge, var, bound, before)


def _keep_symbol(merge: _Merge, var: spec.Var, bound: Symbol, outer: Symbol | None) -> None:
    b = merge.hot.b
    low, high = (0, 0) if outer is None else (outer.low, outer.high)
    both = replace(bound, low=min(bound.low, low), high=max(bound.high, high))
    merge.hot.symbols[var] = both
    yes = b.i1(True)
    merge.add(bound.value, outer and outer.value, partial(setattr, both, "value"))
    certain = yes if bound.certain is None else bound.certain
    merge.add(certain, outer and outer.certain, partial(setattr, both, "certain"))
    if outer is None or outer.seen is not None:
        seen = yes if bound.seen is None else bound.seen
        merge.add(seen, outer and outer.seen, partial(setattr, both, "seen"))
