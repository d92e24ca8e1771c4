"""The initial values of variables."""

from __future__ import annotations

import re
from collections.abc import Callable

from ffi_builder.ptx.errors import PtxError
from ffi_builder.ptx.numbers import bits_of
from ffi_builder.ptx.text import Variable


def initial_bytes(variable: Variable, address: Callable[[str], int]) -> bytes:
    """Return the bytes of a variable: numbers, addresses of others, and zeros behind them.

    Raises:
        PtxError: a value is something else.
    """

    def fail(what: str) -> PtxError:
        return PtxError(f"the variable {variable.name!r}: {what}", variable.line)

    size = variable.element
    found = bytearray()
    for each in re.split(r"[\s,{}]+", variable.initial.replace("generic(", "generic (")):
        if each:
            found += _value(each, variable, address, fail).to_bytes(8, "little")[:size]
    if len(found) > variable.size:
        raise fail("it has more values than it has room for")
    return bytes(found.ljust(variable.size, b"\0"))


def _value(
    text: str,
    variable: Variable,
    address: Callable[[str], int],
    fail: Callable[[str], PtxError],
) -> int:
    if text[0] in "-~0123456789.":
        return bits_of(text, variable.type, fail)
    found = re.fullmatch(r"(?:(0xFF\w*)\()?(?:generic\()?([\w$%]+)\)?(?:\+(\w+))?\)?", text)
    if found is None:
        raise fail(f"the initial value {text!r}")
    raise fail(f"the initial value {text!r}")
