"""Optionals on the fast path: what is in one is checked in a branch of its own.

Behind the branch, values stand for both cases: NULL, 0 and False where the Optional was absent.
All else that was read in the branch is read again where it is asked for, from zeros if it was
absent (:mod:`ffi_builder.builder.fast_path.state`).
"""

from __future__ import annotations

from collections.abc import Callable

from ffi_builder.builder.fast_path import tensors
from ffi_builder.builder.fast_path.context import FastPath
from ffi_builder.builder.fast_path.merge import Merge
from ffi_builder.plan import Place


def emit_optional(fast: FastPath, place: Place, emit_inside: Callable[[], None]) -> None:
    """The checks of an Optional, ``emit_inside()``, where it is not None."""
    b = fast.b
    base, offset = fast.any_at(place.position)
    there = b.ne(b.field(b.types.i32, base, offset), b.i32(0))
    before, start, body = fast.state, b.block, b.new_block()
    b.block = body
    fast.state = before.fork()
    emit_inside()
    tensors.check_sizes(fast)
    merge = Merge(b)
    fast.state = before.join(fast.state, merge)
    fast.state.present[place.position] = there
    merge.emit(start, there, body)
