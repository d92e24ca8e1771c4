"""tvm-ffi's registry of object types."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Final

from tvm_ffi import libinfo

from ffi_builder import abi
from tests.oracle.memory import read_bytes, read_i32, read_u64

_lib: Final = ctypes.CDLL(libinfo.find_libtvm_ffi())
_lib.TVMFFIGetTypeInfo.argtypes = [ctypes.c_int32]
_lib.TVMFFIGetTypeInfo.restype = ctypes.c_void_p


@cache
def type_keys(type_index: int) -> tuple[str, ...]:
    """Return the keys of a registered type and of its ancestors, the root last.

    An index that is not registered ends the process.
    """
    info: int = _lib.TVMFFIGetTypeInfo(type_index)
    ancestors = read_u64(info + abi.TYPE_INFO_ANCESTORS)
    depth = read_i32(info + abi.TYPE_INFO_DEPTH)
    infos = [info, *(read_u64(ancestors + 8 * level) for level in reversed(range(depth)))]
    return tuple(read_bytes(at + abi.TYPE_INFO_KEY).decode() for at in infos)
