"""The bits of f16 and bf16, and the numbers that they are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy

from tests.ptx.exact import FORMATS, flush

np: Any = numpy  # its stubs leave open what views are

NAN: Final = 0x7FFF
"""The NaN that instructions make."""


def values(kind: str, bits: Any) -> Any:
    """Return the numbers that 16 bits are."""
    bits = np.ascontiguousarray(bits).view("uint16")
    if kind == "f16":
        return bits.view("float16").astype(float)
    return (bits.astype("uint32") << 16).view("float32").astype(float)


def bits_of(kind: str, number: float) -> int:
    """Return the bits of a number that the format has, or of its NaN."""
    if math.isnan(number):
        return NAN
    if kind == "f16":
        return int(np.float16(number).view("uint16"))
    return int(np.float32(number).view("uint32")) >> 16


def each(kind: str, meaning: Callable[..., int]) -> Callable[..., Any]:
    """Make the meaning of a :class:`Case`, for each half, of one that gets and returns bits."""

    def of_all(*operands: Any) -> Any:
        halves = [np.ascontiguousarray(operand).view("uint16").tolist() for operand in operands]
        found = np.array([meaning(*given) for given in zip(*halves, strict=True)], "uint16")
        return found.view({"f16": "float16", "bf16": "uint16"}.get(kind, "uint32"))

    return of_all


def as_numbers(kind: str, bits: tuple[int, ...], ftz: bool) -> list[float]:
    """Return the numbers that operands are."""
    found = [float(values(kind, np.array([one], "uint16"))[0]) for one in bits]
    return [flush(number, ftz, FORMATS[kind]) for number in found]
