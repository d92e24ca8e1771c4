"""Data types by name: ``float32``, ``uint8``, ``bool``, ``float4_e2m1fnx2`` (two lanes), ...

A name is the DLPack type code's, the bits (where the code does not already say them), and ``x`` and
the lanes if there is more than one. Codes are those of ``DLDataTypeCode`` (:mod:`ffi_builder.abi`).
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

from ffi_builder import abi
from ffi_builder.errors import SpecError
from ffi_builder.spec._check import nearest


class DataType(NamedTuple):
    """A ``DLDataType``: one element is ``bits * lanes`` bits wide."""

    code: int
    bits: int
    lanes: int = 1

    @property
    def total_bits(self) -> int:
        """Bits of one element, all its lanes."""
        return self.bits * self.lanes

    def __str__(self) -> str:
        """The canonical name; ``dtype(code=…, bits=…, lanes=…)`` for a code that has none."""
        name = _CODE_NAMES.get(self.code)
        if name is None:
            return f"dtype(code={self.code}, bits={self.bits}, lanes={self.lanes})"
        fixed = abi.FIXED_BITS.get(name, 8 if name == "bool" else None)
        bits = "" if self.bits == fixed else str(self.bits)
        lanes = "" if self.lanes == 1 else f"x{self.lanes}"
        return f"{name}{bits}{lanes}"


_CODE_NAMES: Final = {code: name for name, code in abi.DTYPE_CODES.items()}
_SCALAR_BITS: Final = {
    "int": (1, 2, 4, 8, 16, 32, 64),
    "uint": (1, 2, 4, 8, 16, 32, 64),
    "float": (16, 32, 64),
    "bfloat": (16,),
    "complex": (32, 64, 128),
    "handle": (64,),
}
NAMES: Final = (
    *(f"{name}{bits}" for name, widths in _SCALAR_BITS.items() for bits in widths),
    "bool",
    *abi.FIXED_BITS,
)
"""Every dtype name without lanes."""
_PATTERN: Final = re.compile(rf"({'|'.join(NAMES)})(?:x([1-9][0-9]{{0,4}}))?")


def parse_dtype(name: str) -> DataType:
    """The data type that ``name`` means.

    Raises:
        SpecError: if there is no such type; the message names the nearest one.
    """
    # Asked of whatever the author wrote, which may be np.float32 or a list, and have no hash.
    found = _parse(name) if isinstance(name, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]
    if found is None:
        raise SpecError(
            f"dtype: expected a DLPack type name such as 'float32', 'bool' or 'float8_e4m3fn' "
            f"but got {name!r}{nearest(name, NAMES)}"
        )
    return found


@cache
def _parse(name: str) -> DataType | None:
    match = _PATTERN.fullmatch(name)
    if match is None:
        return None
    base, lanes = match[1], int(match[2] or 1)
    if lanes > 0xFFFF:
        return None
    if base == "bool":
        return DataType(abi.DTYPE_CODES["bool"], 8, lanes)
    if base in abi.FIXED_BITS:
        return DataType(abi.DTYPE_CODES[base], abi.FIXED_BITS[base], lanes)
    letters = base.rstrip("0123456789")
    return DataType(abi.DTYPE_CODES[letters], int(base[len(letters) :]), lanes)
