"""Arrays of LLVM IR text as bytes: `[N x float] [float 1.0, …]`, `[N x i8] c"…"`.

Text is read in pieces, each by a few calls of Python, as millions of elements are read.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterator
from typing import Final, NamedTuple

from ffi_builder.runtime.codegen import floats

_PIECE: Final = 1 << 18
"""Characters that are read at once."""

_TYPE: Final = (
    r"((?:\[\d+ x )+)(\{ (half|bfloat|float|double), \3 \}|half|bfloat|float|double|i\d+)(\]+)"
)
_CODES: Final = {
    "half": "H",
    "bfloat": "H",
    "float": "I",
    "double": "Q",
    "i1": "B",
    "i4": "B",
    "i8": "B",
    "i16": "H",
    "i32": "I",
    "i64": "Q",
}
"""Codes of arrays whose unsigned integers have the bits of elements."""
_BOOLS: Final = {"true": "1", "false": "0"}
_FLOATS: Final = {"float": "f", "double": "d"}
_PREFIXES: Final = {"half": "0xH", "bfloat": "0xR"}
_NO_BRACKETS: Final = str.maketrans("", "", "[]{} ")
_NO_BACKSLASH: Final = str.maketrans("", "", "\\")


class Type(NamedTuple):
    """`[2 x [3 x float]]`."""

    text: str
    lengths: tuple[int, ...]
    scalar: str
    """`float`, also if the elements are `{ float, float }`."""
    is_pair: bool

    @property
    def size(self) -> int:
        """The number of bytes."""
        scalars = math.prod(self.lengths) * (1 + self.is_pair)
        return scalars * array(_CODES[self.scalar]).itemsize

    @property
    def inner(self) -> Iterator[str]:
        """The array types in this one, the outermost first."""
        parts = re.findall(r"\[\d+ x ", self.text)
        for level in range(1, len(parts)):
            yield self.text[sum(map(len, parts[:level])) : -level]


def type_of(text: str) -> Type | None:
    """Read an array type; None if its elements have no bytes that are known."""
    found = re.fullmatch(_TYPE, text)
    if found is None:
        return None
    lengths = tuple(map(int, re.findall(r"\d+", found[1])))
    scalar = found[3] or found[2]
    if scalar not in _CODES or len(found[4]) != len(lengths):
        return None
    return Type(text, lengths, scalar, found[3] is not None)


def of_string(text: str, start: int, end: int) -> bytes:
    """The bytes of a string of LLVM IR, without its quotes."""
    return b"".join(map(_unescaped, _pieces(text, start, end, "\\")))


def _unescaped(text: str) -> bytes:
    if "\\\\" not in text and len(text) == 3 * text.count("\\"):
        return bytes.fromhex(text.translate(_NO_BACKSLASH))
    data = text.encode().replace(rb"\\", rb"\5c").replace(b"\\", rb"\x")
    return data.decode("unicode_escape").encode("latin-1")


def of_elements(text: str, start: int, end: int, type_: Type) -> bytes:
    """The bytes of an array's elements, which are without the outer brackets.

    Raises ValueError for elements that LLVM refuses, and some that are rare.
    """
    separator = "}, " if type_.is_pair else ", "
    return b"".join(_elements(piece, type_) for piece in _pieces(text, start, end, separator))


def _elements(text: str, type_: Type) -> bytes:
    scalar, lengths = type_.scalar, type_.lengths
    for level, inner in enumerate(type_.inner, 1):
        if "zero" in text:
            zeros = math.prod(lengths[level:]) * (1 + type_.is_pair)
            zero = f"{scalar} 0" if scalar[0] == "i" else f"{scalar} 0.0"
            text = text.replace(f"{inner} zeroinitializer", ", ".join([zero] * zeros))
        text = text.replace(f"{inner} [", "")
    if type_.is_pair:
        text = text.replace(f"{{ {scalar}, {scalar} }} {{", "")
    text = f",{text.translate(_NO_BRACKETS).strip(',')}"
    return (_integers if scalar[0] == "i" else _floats)(text, scalar).tobytes()


def _integers(text: str, scalar: str) -> array[int]:
    """The integers in `,i32-1,i322`."""
    values = text.split(f",{scalar}")[1:]
    mask = (1 << int(scalar[1:])) - 1
    if mask == 1:
        values = [_BOOLS.get(value, value) for value in values]
    numbers = list(map(int, values))
    if max(numbers) > mask or min(numbers) < -mask // 2:
        raise ValueError
    if min(numbers) < 0:
        numbers = [number & mask for number in numbers]
    return array(_CODES[scalar], numbers)


def _floats(text: str, scalar: str) -> array[int]:
    """The bits of the floats in `,float1.0,float0x3FB99999A0000000`."""
    try:
        if "x" not in text:
            return _decimals(text, scalar)
        if "f0x" not in text:
            return _in_one_form(text, scalar, _PREFIXES.get(scalar, "0x"))
    except ValueError:  # not exact, as LLVM 24 writes decimals, or NaNs
        pass
    return _in_one_form(text, scalar, "f0x")


def _decimals(text: str, scalar: str) -> array[int]:
    """The bits of decimals. Raises ValueError if some are none, or not exact."""
    code = _FLOATS.get(scalar)
    if code is None or re.fullmatch(r"[-+.,eE0-9]*", text.replace(scalar, "")) is None:
        raise ValueError
    if text.count(".") < text.count(","):
        raise ValueError
    return _narrowed(array("d", map(float, text.split(f",{scalar}")[1:])), code)


def _in_one_form(text: str, scalar: str, form: str) -> array[int]:
    """The bits of floats that are hexadecimal after `form`, or are written so first."""
    widened = scalar == "float" and form == "0x"  # as a double with its value
    bits = array("Q" if widened else _CODES[scalar], [0][:0])
    digits, start, count = 2 * bits.itemsize, f",{scalar}{form}", text.count(",")

    def written(found: re.Match[str]) -> str:
        number = floats.bits(scalar, found[1])
        return f"{start}{floats.widened(number) if widened else number:0{digits}X}"

    joined = text.replace(start, "")
    if len(joined) != digits * count:
        joined = re.sub(rf",{scalar}(?!{form})([^,]*)", written, text).replace(start, "")
    if len(joined) != digits * count:
        raise ValueError
    bits.frombytes(bytes.fromhex(joined))
    bits.byteswap()
    return _narrowed(array("d", bits.tobytes()), "f") if widened else bits


def _narrowed(numbers: array[float], code: str) -> array[int]:
    """The bits of the same numbers in another format. Raises ValueError if they have none."""
    narrow = array(code, numbers.tolist())  # a list takes less time
    if narrow != numbers:  # or one is a NaN
        raise ValueError
    return array("I" if code == "f" else "Q", narrow.tobytes())


def _pieces(text: str, start: int, end: int, separator: str) -> Iterator[str]:
    """Cut text, each piece but the first before a separator."""
    while start < end:
        cut = text.find(separator, start + _PIECE, end)
        while cut >= 0 and text[cut - 1] == "\\":  # two of these are a character
            cut = text.find(separator, cut + 1, end)
        cut = end if cut < 0 else cut
        yield text[start:cut]
        start = cut
