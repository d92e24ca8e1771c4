"""The end of a branch: block arguments take the value of either way."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ffi_builder.ir import Builder, Value


class Merge:
    """The block after a branch. Make it where the branch ends."""

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
        """Do the same for an i1; ``inner`` None means True."""
        return self(self._true if inner is None else inner, outer)

    @cached_property
    def _true(self) -> Value:
        return self._b.i1(True)

    def emit(self, start: Any, condition: Value, body: Any) -> None:
        """End the branch, and block ``start``, which takes it on a condition; go on after both."""
        b = self._b
        b.br(self._block, *self._inner)
        b.block = start
        b.cond_br(condition, body, self._absent)
        b.block = self._absent
        pairs = zip(self._inner, self._outer, strict=True)
        without = [b.zero(inner.type) if outer is None else outer for inner, outer in pairs]
        b.br(self._block, *without)
        b.block = self._block
