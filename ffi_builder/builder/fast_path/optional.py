"""Emits Optionals on the fast path: a branch of its own checks the argument if it is not None.

After the branch, decoded values are NULL, 0 or False if the Optional was absent. Other values that
were read in the branch are read again where they are needed, from a constant of zeros if the
Optional was absent (:mod:`ffi_builder.builder.fast_path.state`).
"""

from __future__ import annotations

from collections.abc import Callable

from ffi_builder.builder.fast_path import tensors
from ffi_builder.builder.fast_path.context import FastPath
from ffi_builder.builder.fast_path.merge import Merge
from ffi_builder.plan import Place


def emit_optional(fast: FastPath, place: Place, emit_inside: Callable[[], None]) -> None:
    """Emit the checks of an Optional; ``emit_inside`` emits those that None skips."""
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
