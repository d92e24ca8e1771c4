"""The initial values of variables."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from ffi_builder.ptx.errors import PtxError
from ffi_builder.ptx.numbers import bits_of
from ffi_builder.ptx.text import Variable

_VALUE: Final = re.compile(r"[^\s,{}]+")
_ADDRESS: Final = re.compile(
    r"(?:(0[xX][fF]+0*)\()?(?:generic\()?([A-Za-z_$%][\w$]*)\)?(?:\+(\w+))?\)?(?:\+(\w+))?"
)
"""``x``, ``generic(x)+4``, or a byte of it: ``0xFF00(x)``."""


def initial_bytes(variable: Variable, address: Callable[[str], int]) -> bytes:
    """Return the bytes of a variable: numbers, addresses of others, and zeros behind them.

    Raises:
        PtxError: a value is something else, or there are too many.
    """

    def fail(what: str) -> PtxError:
        return PtxError(f"the variable {variable.name!r}: {what}", variable.line)

    def value(text: str) -> int:
        if text[0] in "-~0123456789." and "(" not in text:
            return bits_of(text, variable.type, fail) & 2**64 - 1
        match = _ADDRESS.fullmatch(text)
        if match is None:
            raise fail(f"the initial value {text!r}")
        at = address(match[2]) + sum(bits_of(match[k], "u64", fail) for k in (3, 4) if match[k])
        if match[1] is None:
            return at
        mask = int(match[1], 16)
        return (at & mask) >> ((mask & -mask).bit_length() - 1)

    size = variable.element
    values = _VALUE.findall(re.sub(r"\s*([()+])\s*", r"\1", variable.initial))
    if len(values) * size > variable.size:
        raise fail("it has more values than it has room for")
    return b"".join(value(each).to_bytes(8, "little")[:size] for each in values).ljust(
        variable.size, b"\0"
    )
