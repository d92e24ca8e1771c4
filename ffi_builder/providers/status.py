"""A provider that wraps another one and raises an error if the callee's status is not 0."""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, Final, cast

from ffi_builder.errors import BuildError
from ffi_builder.ir import Block, CheckingBuilder, Value
from ffi_builder.ir.checking import ERROR_KINDS, OS_ERROR
from ffi_builder.providers.call import pass_on
from ffi_builder.providers.context import CallContext, ModuleContext
from ffi_builder.providers.errno import clear_errno, raise_errno, read_errno
from ffi_builder.providers.packed import PackedCallProvider
from ffi_builder.providers.provider import Around, CallProvider, check_provider
from ffi_builder.records import dataclass
from ffi_builder.suggest import did_you_mean

_FIELDS: Final = ("callee", "status")
_TEXT_OF: Final = r"[A-Za-z_]\w*\((status)?\)"
"""The field of a message with the text of a function in C, of the status or of the last error."""
_WIDTHS: Final = ("i32", "i64")
_MOST_BITS: Final = 64
_PYTHON_ERROR: Final = -2
"""The status of a function that has set a Python error, which the caller raises."""


@dataclass(frozen=True)
class CheckStatus(Around):
    """Wraps another provider, and raises an error if the callee does not return a success.

    The callee returns an integer of up to 64 bits; a callee that is not in the module is declared
    to return an i32. Your own provider can be wrapped if it sets ``context.returned`` to the value
    that its callee returned.

    Args:
        provider: emits the call.
        error: the class of the error: RuntimeError, ValueError, TypeError, AttributeError,
            KeyError, IndexError, AssertionError or MemoryError. OSError: the callee sets ``errno``,
            which the error has; if that is 0, the error is a RuntimeError. None: the callee returns
            an i32, and sets a TVM-FFI error if the i32 is no success, as code of
            :func:`~ffi_builder.call_packed` does; that error is raised. If none is set, a
            RuntimeError says so.
        message: the error's message; the signature is appended. ``{callee}`` stands for the
            callee's name, ``{status}`` for the status; braces are doubled as in Python.
            ``{gsl_strerror(status)}`` stands for at most 64 bytes of the text that this function
            in C returns for the status, which has 32 or 64 bits, and ``{last_error()}`` of that
            which one without parameters returns.
        errors: the class and the message for certain statuses, such as
            ``{22: ("ValueError", "the order is negative")}``, or None for a status at which the
            callee has set a TVM-FFI error; for all other statuses, ``error`` and ``message`` apply.
        success: the status that is no error, such as 1 in OpenSSL, or several in a list.
        unsigned: whether the status is unsigned: 200, and not -56.

    Raises:
        BuildError: if a class is not one of these, or a message has other fields; when attached, if
            the callee does not return an integer wide enough for the statuses in ``errors``.

    Examples:
        C's ``memcmp`` returns 0 if the bytes are equal:

        >>> import numpy as np
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, providers, runtime, spec
        >>> n = spec.Var("n", "int64")
        >>> x, y = (spec.Tensor(name, [n], "float32", device_type="cpu") for name in "xy")
        >>> memcmp = providers.DirectCallProvider("memcmp", args=[x, y, n * 4])
        >>> provider = providers.CheckStatus(
        ...     memcmp, error="AssertionError", message="x and y differ"
        ... )
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, spec.Signature("assert_equal", [x, y]), provider)
        >>> compiled = runtime.compile(module)
        >>> compiled["assert_equal"](np.zeros(2, "float32"), np.ones(2, "float32"))
        Traceback (most recent call last):
        ...
        AssertionError: x and y differ when calling: `...`
    """

    provider: CallProvider
    error: str | None = field(default="RuntimeError", kw_only=True)
    message: str = field(default="{callee} failed with status {status}", kw_only=True)
    errors: Mapping[int, tuple[str, str] | None] = field(
        default_factory=dict[int, Any], kw_only=True
    )
    success: int | Sequence[int] = field(default=0, kw_only=True)
    unsigned: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        check_provider("CheckStatus", self.provider)
        if isinstance(self.provider, PackedCallProvider):
            raise BuildError(
                "CheckStatus: a PackedCallProvider passes on the error of its callee; leave "
                "CheckStatus out"
            )
        if self.error not in (None, OS_ERROR):
            _check_kind("error", self.error)
        _check_message("message", self.message)
        self._check_success()
        self._check_errors()

    def cache_key(self, context: ModuleContext) -> Hashable | None:
        """Return the words of the errors and the inner provider's key, if it has a key."""
        key = self._inner.cache_key(context)
        errors = tuple(sorted(self.errors.items()))
        own = self.error, self.message, errors, self._successes, self.unsigned
        return None if key is None else (*own, key)

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit the call, and then the check."""
        context.returned, context.called = None, None
        wanted = context.status_wanted
        context.status_wanted = True
        context.builder.block, number = current_block, None
        if self.error == OS_ERROR:
            clear_errno(context.builder)
        context.builder.block = self.provider(context.builder.block, context)
        if self.error == OS_ERROR:
            number = read_errno(context.builder)
        context.status_wanted = wanted
        status = self._status(context.returned)
        b = context.builder
        following, failed = b.new_block(), b.new_block(cold=True)
        fine = functools.reduce(b.or_, (self._is(b, status, code) for code in self._successes))
        b.cond_br(fine, following, failed)
        b.block = failed
        for code, words in self.errors.items():
            with b.when(self._is(b, status, code), cold=True):
                if words is None:
                    self._pass_on(context, status)
                else:
                    self._fail(context, status, *words)
        if number is not None:
            raise_errno(b, number)
        if self.error is None:
            self._pass_on(context, status)
        else:
            kind = "RuntimeError" if self.error == OS_ERROR else self.error
            self._fail(context, status, kind, self.message)
        b.block = following
        return b.block

    @staticmethod
    def _is(b: CheckingBuilder, status: Value, code: int) -> Value:
        return b.eq(status, b.constant(b.width(status), code) if code else b.zero(status.type))

    def _pass_on(self, context: CallContext, status: Value) -> None:
        """Return a status other than 0 with the callee's error; ensure that an error is set."""
        b = context.builder
        with b.when(b.eq(status, b.i32(_PYTHON_ERROR))):
            b.ret(status)
        pass_on(context, status)
        words = "{callee} returned {status}, but has set no error"
        if self.error is not None:  # `errors=` has it, which is not how a success is said
            words += "; if {status} is success, say success={status}"
        self._fail(context, status, "RuntimeError", words)

    def _fail(self, context: CallContext, status: Value, kind: str, message: str) -> None:
        b = context.builder
        values = {"status": status, "callee": context.called}
        words, fields = self._words(message, is_known=context.called is None)
        for each in fields:
            if each not in _FIELDS:
                name, _, argument = each.removesuffix(")").partition("(")
                values[each] = self._text(b, name, [status] if argument else [])
        shown = (v for f in fields if (v := values[f]) is not None)
        b.fail(kind, words, *shown, unsigned=self.unsigned or status.type == b.types.i1)

    def _text(self, b: CheckingBuilder, function: str, status: Sequence[Value]) -> Value:
        """Return what a function in C says, maybe of the status: a text that ends in a NUL."""
        for each in status:
            if str(each.type) not in _WIDTHS:
                raise BuildError(
                    f"CheckStatus: {function}(status) takes 32 or 64 bits, but {self.callee} "
                    f"returns {each.type}"
                )
        b.symbols.declare(function, b.types.ptr, [each.type for each in status])
        return b.call_value(function, status, b.types.ptr)

    @cached_property
    def _successes(self) -> tuple[int, ...]:
        given = self.success
        return (given,) if isinstance(given, int) else tuple(given)

    def _check_success(self) -> None:
        given: Any = self.success
        every = cast("Sequence[object]", given if isinstance(given, (list, tuple)) else [given])
        if not every or any(type(code) is not int for code in every):
            raise BuildError(
                f"CheckStatus: success: expected the status that is no error, an int, or a list of "
                f"them, but got {given!r}"
            )

    def _check_errors(self) -> None:
        errors = cast("object", self.errors)
        if not isinstance(errors, Mapping):
            raise BuildError(f"CheckStatus: errors: expected a dict but got {errors!r}")
        for code, value in cast("Mapping[object, object]", errors).items():
            if type(code) is not int:
                raise BuildError(f"CheckStatus: errors: expected an int but got {code!r}")
            if code in self._successes:
                raise BuildError(
                    f"CheckStatus: errors: {code} is success, and no error; success= says which "
                    f"statuses are"
                )
            if value is None:
                continue
            if not isinstance(value, tuple) or len(cast("tuple[object, ...]", value)) != 2:
                raise BuildError(
                    f"CheckStatus: errors[{code}]: expected a class and a message, as in "
                    f'("ValueError", "out of range"), but got {value!r}'
                )
            kind, message = cast("tuple[object, object]", value)
            _check_kind(f"errors[{code}]", kind)
            _check_message(f"errors[{code}]", message)

    def _words(self, message: str, *, is_known: bool) -> tuple[str, list[str]]:
        """Return the words for ``fail``, and the fields that need values.

        ``is_known`` says whether the callee is the same in every call.
        """
        words, fields = "", list[str]()
        for literal, name, _, _ in string.Formatter().parse(message):
            words += literal
            if name == "callee" and is_known:
                words += self.callee or self._inner.name
            elif name is not None:
                words += "{}"
                fields.append(name)
        return words, fields

    def _status(self, returned: Value | None) -> Value:
        name = self.callee
        who = f"the callee @{name}" if name else self._inner.name
        if returned is None:
            raise BuildError(f"CheckStatus: {who} returns nothing; expected an integer status")
        if self.error is None and str(returned.type) != "i32":
            raise BuildError(
                f"CheckStatus: {who} returns {returned.type}; expected an i32, since error=None "
                f"says that it returns the status of TVM-FFI"
            )
        match = re.fullmatch(r"i(\d+)", str(returned.type))
        bits = int(match[1]) if match else 0
        if not 0 < bits <= _MOST_BITS:
            raise BuildError(
                f"CheckStatus: {who} returns {returned.type}; expected an integer of up to "
                f"{_MOST_BITS} bits"
            )
        sign = 0 if self.unsigned or bits == 1 else 1
        low, high = -sign << bits - 1, (1 << bits - sign) - 1
        named = [*((f"errors[{code}]", code) for code in self.errors)]
        for what, code in (*named, *((f"success={code}", code) for code in self._successes)):
            if not low <= code <= high:
                is_signed = self.unsigned and -1 << bits - 1 <= code < 0
                cure = f": write {code % (1 << bits)}" if is_signed else ""
                raise BuildError(
                    f"CheckStatus: {what}: {who} returns {returned.type}, which is from {low} to "
                    f"{high}{cure}"
                )
        return returned


def _check_kind(name: str, kind: object) -> None:
    if kind not in ERROR_KINDS:
        raise BuildError(
            f"CheckStatus: {name}: expected one of {', '.join(ERROR_KINDS)} but got {kind!r}"
            f"{did_you_mean(str(kind), ERROR_KINDS)}"
        )


def _check_message(name: str, message: object) -> None:
    if not isinstance(message, str):
        raise BuildError(f"CheckStatus: {name}: expected a str but got {message!r}")
    try:
        parts = list(string.Formatter().parse(message))
    except ValueError as error:
        raise BuildError(f"CheckStatus: {name}: {error} in {message!r}") from error
    for _, used, format_, conversion in parts:
        known = used is None or used in _FIELDS or re.fullmatch(_TEXT_OF, used)
        if not known or format_ or conversion:
            raise BuildError(
                f"CheckStatus: {name}: expected {{callee}} and {{status}} as its only fields, or "
                f"{{f(status)}} and {{f()}} for the text of a function in C, but got {message!r}"
            )
    if "{}" in "".join(text + (used or "") for text, used, _, _ in parts):
        raise BuildError(
            f"CheckStatus: {name}: expected something between doubled braces but got {message!r}"
        )
