"""Object types that are registered with tvm-ffi under the same indices in every process."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Final

from tvm_ffi import libinfo

from ffi_builder import abi
from ffi_builder.abi import TypeIndex

FIRST: Final = 400
"""More than any process has registered before; fillers take the indices in between."""
BASE, MIDDLE, LEAF, OTHER, LONG, LONGER, ODD = range(FIRST, FIRST + 7)
TYPES: Final[dict[int, tuple[str, int, int]]] = {
    BASE: ("test.Base", TypeIndex.OBJECT, 1),
    MIDDLE: ("test.Middle", BASE, 2),
    LEAF: ("test.Leaf", MIDDLE, 3),
    OTHER: ("test.Other", TypeIndex.OBJECT, 1),
    LONG: ("test." + "L" * 250, OTHER, 2),
    LONGER: ("test." + "M" * 3000, TypeIndex.OBJECT, 1),
    ODD: ("test.Größe '%s' \\", BASE, 2),
}
"""Type key, index of the parent type, and depth below ``ffi.Object``."""
_library: Final = ctypes.CDLL(libinfo.find_libtvm_ffi())


@cache
def register_types() -> None:
    """Register the types of this module."""
    filler = 0
    while _register(f"test.Filler{filler}", TypeIndex.OBJECT, 1) < FIRST - 1:
        filler += 1
    for index, (key, parent, depth) in TYPES.items():
        found = _register(key, parent, depth)
        assert found == index, f"{key} has index {found}, not {index}"


def _register(key: str, parent: int, depth: int) -> int:
    content = key.encode()
    array = (ctypes.c_uint64 * 2)()
    buffer = ctypes.create_string_buffer(content)
    array[abi.BYTE_ARRAY_DATA // 8] = ctypes.addressof(buffer)
    array[abi.BYTE_ARRAY_LENGTH // 8] = len(content)
    return _library.TVMFFITypeGetOrAllocIndex(array, -1, depth, 0, 1, parent)
