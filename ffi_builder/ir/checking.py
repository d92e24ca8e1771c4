"""The builder that call providers get: it can also raise errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ffi_builder.errors import BuildError
from ffi_builder.ir.builder import Builder
from ffi_builder.ir.protocols import Block, Operation, Value
from ffi_builder.ir.symbols import Symbols

ERROR_KINDS = (
    "RuntimeError",
    "ValueError",
    "TypeError",
    "AttributeError",
    "KeyError",
    "IndexError",
    "AssertionError",
    "MemoryError",
)
"""The error kinds that tvm-ffi raises as the Python class of that name."""

_DIGITS = 20
"""An int64 in decimal, with its sign."""


class CheckingBuilder(Builder):
    """All of :class:`Builder`, and :meth:`check`.

    ``raiser`` is the symbol of ``i32 (ptr kind, i64, ptr message, i64, ptr backtrace, i64)``, which
    sets the error and returns what the function then returns; ``suffix`` is added to every message,
    and ``backtrace`` is lines ``  File "f", line 1, in g``.
    """

    def __init__(
        self,
        symbols: Symbols,
        function: Operation,
        block: Block,
        location: Any,
        *,
        raiser: str,
        suffix: str,
        backtrace: str = "",
    ) -> None:
        super().__init__(symbols, function, block, location)
        self._raiser = raiser
        self._suffix = suffix
        self._backtrace = backtrace.encode()

    def check(self, condition: Value, kind: str, words: str, *values: Value) -> None:
        """Go on where an i1 holds; else the wrapper fails with an error of this kind.

        Each ``{}`` in the words shows one of the values: an integer of up to 64 bits, in decimal,
        signed. The signature is added to the words.

        Raises:
            BuildError: if the kind is none that tvm-ffi knows, or values and ``{}`` do not match.
        """
        if kind not in ERROR_KINDS:
            raise BuildError(f"check: expected one of {', '.join(ERROR_KINDS)} but got {kind!r}")
        if words.count("{}") != len(values):
            raise BuildError(
                f"check: {words!r} has {words.count('{}')} places for values, but {len(values)} "
                f"values are given"
            )
        following, failed = self.new_block(), self.new_block(cold=True)
        self.cond_br(condition, following, failed)
        self.block = failed
        message, length = self._message(words + self._suffix, values)
        kind_text = self.text_constant(kind.encode())
        backtrace = self.text_constant(self._backtrace) if self._backtrace else kind_text
        extent = self.i64(len(self._backtrace))
        self.ret(
            self.call_value(
                self._raiser,
                [kind_text, self.i64(len(kind)), message, length, backtrace, extent],
                self.types.i32,
            )
        )
        self.block = following

    def _message(self, words: str, values: Sequence[Value]) -> tuple[Value, Value]:
        if not values:
            data = words.encode()
            return self.text_constant(data), self.i64(len(data))
        t = self.types
        format_ = words.replace("%", "%%").replace("{}", "%lld").encode() + b"\0"
        size = len(format_) + _DIGITS * len(values)
        space = self.alloca(t.i8, size)
        wide = [v if v.type == t.i64 else self.sext(v, t.i64) for v in values]
        length = self.call_variadic(
            "snprintf", [space, self.i64(size), self.text_constant(format_)], wide, t.i32
        )
        return space, self.sext(length, t.i64)
