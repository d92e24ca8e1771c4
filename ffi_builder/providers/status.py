"""A provider that wraps another one and raises an error if the callee's status is not 0."""

from __future__ import annotations

import re
import string
from collections.abc import Hashable
from dataclasses import field
from typing import Final

from ffi_builder.errors import BuildError
from ffi_builder.ir import ERROR_KINDS, Block, Value
from ffi_builder.packed.anys import return_failure
from ffi_builder.providers.context import CallContext, ModuleContext
from ffi_builder.providers.packed import PackedCallProvider
from ffi_builder.providers.provider import CallProvider, Members
from ffi_builder.records import dataclass
from ffi_builder.suggest import did_you_mean

_FIELDS: Final = ("callee", "status")
_MOST_BITS: Final = 64


@dataclass(frozen=True)
class CheckStatus:
    """Calls as another provider does, and raises an error if the callee does not return 0.

    The callee returns an integer of up to 64 bits; one that is not in the module is declared to
    return an i32. An author's provider can be wrapped if it sets ``context.returned`` to what its
    callee returned.

    Args:
        provider: emits the call.
        error: the class of the error: RuntimeError, ValueError, TypeError, AttributeError,
            KeyError, IndexError, AssertionError or MemoryError. None says that the callee returns
            an i32, and with one other than 0 has set an error of TVM-FFI's, as a callee with
            :func:`~ffi_builder.call_packed` in it does: that error is raised.
        message: the error's message; the signature is appended. ``{callee}`` stands for the
            callee's name, ``{status}`` for the signed status; braces are doubled as in Python.

    Raises:
        BuildError: if ``error`` is another class, or the message has other fields; when attached,
            if the callee does not return an integer.
    """

    provider: CallProvider
    error: str | None = field(default="RuntimeError", kw_only=True)
    message: str = field(default="{callee} failed with status {status}", kw_only=True)

    def __post_init__(self) -> None:
        self._check_provider()
        self._words()

    @property
    def callee(self) -> str | None:
        """The callee of the inner provider, if it has one."""
        return Members(self.provider).callee

    @property
    def one_at_a_time(self) -> bool:
        """The property of the inner provider."""
        return Members(self.provider).one_at_a_time

    @property
    def trusted(self) -> bool:
        """The property of the inner provider: the check itself is known to translate."""
        return Members(self.provider).trusted

    @property
    def borrows_tensors(self) -> bool:
        """Whether the inner provider borrows tensors."""
        return Members(self.provider).borrows_tensors

    def prepare(self, context: ModuleContext) -> None:
        """Prepare the inner provider."""
        Members(self.provider).prepare(context)

    def cache_key(self, context: ModuleContext) -> Hashable | None:
        """Return the words of the error with the inner provider's key, if that has one."""
        key = Members(self.provider).cache_key(context)
        return None if key is None else (self.error, self.message, key)

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit the call, and then the check."""
        context.returned, context.called = None, None
        wanted = context.status_wanted
        context.status_wanted = True
        context.builder.block = self.provider(current_block, context)
        context.status_wanted = wanted
        status = self._status(context.returned)
        b = context.builder
        if self.error is None:
            return_failure(b, status)
            return b.block
        fine = b.eq(status, b.zero(status.type))
        shown = b.zext(status, b.types.i64) if status.type == b.types.i1 else status
        words, fields = self._words(is_known=context.called is None)
        values = {"status": shown, "callee": context.called}
        b.check(fine, self.error, words, *(v for f in fields if (v := values[f]) is not None))
        return b.block

    def _check_provider(self) -> None:
        inner: object = self.provider
        if isinstance(inner, type) or not callable(inner):
            raise BuildError(
                f"CheckStatus: expected a call provider, such as DirectCallProvider('f'), but got "
                f"{inner!r}"
            )
        if isinstance(inner, PackedCallProvider):
            raise BuildError(
                "CheckStatus: a PackedCallProvider passes on the error of its callee; leave "
                "CheckStatus out"
            )

    def _words(self, *, is_known: bool = True) -> tuple[str, list[str]]:
        """Return the message for ``check``, and the fields that it needs values for.

        ``is_known`` says whether the callee is the same in every call.
        """
        if self.error is not None and self.error not in ERROR_KINDS:
            raise BuildError(
                f"CheckStatus: error: expected one of {', '.join(ERROR_KINDS)} but got "
                f"{self.error!r}{did_you_mean(self.error, ERROR_KINDS)}"
            )
        message: object = self.message
        if not isinstance(message, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BuildError(f"CheckStatus: message: expected a str but got {message!r}")
        try:
            parts = list(string.Formatter().parse(message))
        except ValueError as error:
            raise BuildError(f"CheckStatus: message: {error} in {self.message!r}") from error
        words, fields = "", list[str]()
        for literal, name, format_, conversion in parts:
            words += literal
            if name is None:
                continue
            if name not in _FIELDS or format_ or conversion:
                raise BuildError(
                    f"CheckStatus: message: expected {{callee}} and {{status}} as its only fields "
                    f"but got {self.message!r}"
                )
            if name == "callee" and is_known:
                words += self.callee or type(self.provider).__name__
            else:
                words += "{}"
                fields.append(name)
        return words, fields

    def _status(self, returned: Value | None) -> Value:
        name = self.callee
        who = f"the callee @{name}" if name else type(self.provider).__name__
        if returned is None:
            raise BuildError(f"CheckStatus: {who} returns nothing; expected an integer status")
        if self.error is None and str(returned.type) != "i32":
            raise BuildError(
                f"CheckStatus: {who} returns {returned.type}; expected an i32, since error=None "
                f"says that it returns the status of TVM-FFI"
            )
        bits = re.fullmatch(r"i(\d+)", str(returned.type))
        if bits is None or int(bits[1]) > _MOST_BITS:
            raise BuildError(
                f"CheckStatus: {who} returns {returned.type}; expected an integer of up to "
                f"{_MOST_BITS} bits"
            )
        return returned
