"""Building blocks of emitted code: driver calls, messages."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

from ffi_builder import __version__
from ffi_builder.ir import Builder, Operation, Symbols, Type, Types, Value
from ffi_builder.protocol import SHARED
from ffi_builder.providers.cuda import driver

INIT_ONCE: Final = "TVMFFIHandleInitOnce"
_WITHOUT_RESULT: Final = ("leave", "forget", "leave_module", "say")

_MESSAGE_SIZE: Final = 4096
MESSAGE_VALUES: Final = 7
"""The most values of one :meth:`Message.append`."""


@cache
def helper_name(name: str) -> str:
    """Return the symbol of a helper; its digest makes equal names mean equal bodies."""
    contents = repr((__version__, driver.FUNCTIONS))
    return f"{SHARED}cuda_{name}_{hashlib.sha256(contents.encode()).hexdigest()[:8]}"


def helper_result(t: Types, name: str) -> Type:
    """Return the result type of a helper."""
    return t.void if name in _WITHOUT_RESULT else t.i32


def call_helper(b: Builder, name: str, operands: Sequence[Value]) -> Value:
    """Call a helper that returns a value."""
    return b.call_value(helper_name(name), operands, b.types.i32)


def call_driver(b: Builder, state: Value, name: str, operands: Sequence[Value]) -> Value:
    """Call a function of the table; return its CUresult, an i32."""
    function = b.field(b.types.ptr, state, 8 * driver.NUMBER[name])
    result = b.call_pointer(function, operands, b.types.i32)
    assert result is not None
    return result


def status_of(b: Builder, name: str, result: Value) -> Value:
    """Convert a CUresult to a status, which includes the function's number; 0 stays 0."""
    number = b.i32(driver.NUMBER[name] << driver.CODE_BITS)
    return b.select(b.eq(result, b.i32(0)), result, b.or_(result, number))


def call_checked(b: Builder, state: Value, name: str, operands: Sequence[Value]) -> None:
    """Call a function of the table; if it fails, return its status to the caller."""
    result = call_driver(b, state, name, operands)
    with b.when(b.ne(result, b.i32(0))):
        b.ret(status_of(b, name, result))


def driver_function(b: HelperBuilder, number: Value) -> Value:
    """Return the address of the name of a function in the table, by its number, an i64."""
    names = b"".join(f.encode().ljust(driver.NAME_STRIDE, b"\0") for f in driver.FUNCTIONS)
    return b.element(b.words(names), b.mul(number, b.i64(driver.NAME_STRIDE)))


def cuda_version(b: Builder, number: Value) -> tuple[Value, Value]:
    """Split the driver's version number, 12040, into major and minor version, 12 and 4."""
    thousand = b.i32(1000)
    return b.sdiv(number, thousand), b.sdiv(b.srem(number, thousand), b.i32(10))


def return_failure(b: Builder, status: Value) -> None:
    """Return a status other than 0 to the caller."""
    with b.when(b.ne(status, b.i32(0))):
        b.ret(status)


def put_in_list(b: Builder, item: Value, first: Value, *, listed: int, following: int) -> None:
    """Insert a state at the front of a list, unless it is in the list."""
    t = b.types
    flag = b.offset(item, listed)
    with b.when(b.eq(b.load(t.i64, flag), b.i64(0))):
        b.store(b.i64(1), flag)
        b.store(b.load(t.ptr, first), b.offset(item, following))
        b.store(item, first)


def fail_without_launch(
    b: HelperBuilder,
    state: Value,
    status: Value,
    site: Sequence[Value],
    *,
    kernel: Value | None = None,
    device: Value | None = None,
    log: Value | None = None,
) -> None:
    """End a helper with the error for a status; -1 stands for an unknown device."""
    kernel = b.null() if kernel is None else kernel
    device = b.i32(-1) if device is None else device
    log = b.words(b"") if log is None else log
    b.ret(call_helper(b, "fail", [state, kernel, b.null(), device, status, log, *site]))


@contextmanager
def each(b: Builder, first: Value, following: int) -> Generator[Value]:
    """Emit the body in a loop over a list; ``following`` is the offset of the next pointer."""
    t = b.types
    head, body = b.new_block(t.ptr), b.new_block()
    b.br(head, b.load(t.ptr, first))
    b.block = body
    item = head.arguments[0]
    yield item
    b.br(head, b.field(t.ptr, item, following))
    end = b.new_block()
    b.block = head
    b.cond_br(b.ne(item, b.null()), body, end)
    b.block = end


@contextmanager
def relaxed_capture(b: Builder, state: Value) -> Generator[None]:
    """Allow, in the body, calls that a stream capture in this or another thread would forbid.

    The body must not return.
    """
    name, mode = "cuThreadExchangeStreamCaptureMode", b.alloca(b.types.i32)
    b.store(b.i32(driver.CAPTURE_MODE_RELAXED), mode)
    call_driver(b, state, name, [mode])
    yield
    call_driver(b, state, name, [mode])


class HelperBuilder(Builder):
    """Builds one helper. The texts of all helpers of a group are in one constant."""

    def __init__(
        self,
        symbols: Symbols,
        function: Operation,
        location: Any,
        texts: dict[bytes, int],
        constant: str,
    ) -> None:
        super().__init__(symbols, function, function.regions[0].blocks[0], location)
        self._texts, self._constant = texts, constant

    def words(self, data: bytes) -> Value:
        """Return the address of these bytes, with a NUL after them."""
        texts = self._texts
        if data not in texts:
            texts[data] = sum(len(text) + 1 for text in texts)
        return self.offset(self.address_of(helper_name(self._constant)), texts[data])


class Site:
    """The last operands of every helper that raises: the kernel and the wrapper of an error.

    In C: ``const char *kernel, const char *image, void *raiser, const char *suffix, const char
    *backtrace, int64_t length``.
    """

    LETTERS: Final = "pppppl"
    """The letters of their types, as in ``define``."""

    def __init__(self, values: Sequence[Value]) -> None:
        self.kernel, self.image, self.raiser, self.suffix, *self.backtrace = values


class Message:
    """Text that is written piece by piece to a buffer on the stack, and raised as an error.

    In memory: the length, an int64_t, and the buffer.
    """

    def __init__(self, b: HelperBuilder) -> None:
        self._b = b
        self._space = b.alloca(b.types.i64, 1 + _MESSAGE_SIZE // 8)
        b.store(b.i64(0), self._space)

    def append(self, format_: str, *values: Value) -> None:
        """Append as ``printf`` does; ``%d``, ``%u`` and ``%x`` take integers of any width."""
        b, t = self._b, self._b.types
        kinds = re.findall(r"%[.\d]*([sdux])", format_)
        wide = [_wide(b, *pair) for pair in zip(kinds, values, strict=True)]
        zero = [b.i64(0)] * (MESSAGE_VALUES - len(wide))
        text = re.sub(r"(%[.\d]*)([dux])", r"\1ll\2", format_)
        b.call(helper_name("say"), [self._space, b.words(text.encode()), *wide, *zero], t.void)

    def raise_(self, kind: str, site: Site) -> Value:
        """Append the signature and set the error; return the function's result."""
        b, t = self._b, self._b.types
        self.append("%s", site.suffix)
        length, buffer = b.load(t.i64, self._space), b.offset(self._space, 8)
        operands = [b.words(kind.encode()), b.i64(len(kind)), buffer, length, *site.backtrace]
        status = b.call_pointer(site.raiser, operands, t.i32)
        assert status is not None
        return status


def _wide(b: Builder, kind: str, value: Value) -> Value:
    t = b.types
    if kind == "s":
        return b.to_int(value)
    if value.type == t.i64:
        return value
    return b.sext(value, t.i64) if kind == "d" else b.zext(value, t.i64)


def say(b: HelperBuilder, message: Value, format_: Value, *values: Value) -> None:
    """Append as ``printf`` does; text that does not fit is dropped."""
    t = b.types
    at = b.load(t.i64, message)
    left = b.sub(b.i64(_MESSAGE_SIZE), at)
    here = b.element(b.offset(message, 8), at)
    # A pointer is passed as an i64: both take the same 64 bits of a variadic argument.
    wanted = b.sext(b.call_variadic("snprintf", [here, left, format_], values, t.i32), t.i64)
    # snprintf returns the length without truncation.
    most = b.sub(left, b.i64(1))
    written = b.select(b.ult(wanted, most), wanted, most)
    b.store(b.add(at, written), message)
    b.ret()
