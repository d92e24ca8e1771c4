"""tvm-ffi's registry: what type an object is of, and what that is derived from."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, Final

from ffi_builder import abi
from ffi_builder.testing.memory import read_i32, read_u64

_ROOT: Final = abi.TYPE_KEYS[abi.FIRST_OBJECT]


def type_keys(type_index: int, address: int) -> tuple[str, ...]:
    """The type key of an object, then those of the types that its type is derived from.

    Of an object that does not say itself that it is of this type index, and of one of no static
    type, that is ``ffi.Object`` alone; of what is no object nothing.
    """
    if type_index < abi.FIRST_OBJECT:
        return ()
    key = type_key(type_index, address)
    if key is None:
        return (_ROOT,)
    return (key, *(_ancestors(type_index) if type_index >= abi.FIRST_DYNAMIC else (_ROOT,)))


def type_key(type_index: int, address: int) -> str | None:
    """The type key of an object; None if nothing can be known of it."""
    if type_index < abi.FIRST_DYNAMIC:
        return abi.TYPE_KEYS.get(type_index)
    # The registry ends the process when it is asked for what it does not have.
    if address == 0 or read_i32(address + abi.OBJECT_TYPE_INDEX) != type_index:
        return None
    return _key(_type_info(type_index))


def _ancestors(type_index: int) -> tuple[str, ...]:
    info = _type_info(type_index)
    first = read_u64(info + abi.TYPE_INFO_ANCESTORS)
    return tuple(
        _key(read_u64(first + 8 * depth)) for depth in range(read_i32(info + abi.TYPE_INFO_DEPTH))
    )


def _key(info: int) -> str:
    data = read_u64(info + abi.TYPE_INFO_KEY + abi.BYTE_ARRAY_DATA)
    length = read_u64(info + abi.TYPE_INFO_KEY + abi.BYTE_ARRAY_LENGTH)
    return ctypes.string_at(data, length).decode()


def _type_info(type_index: int) -> int:
    info: int | None = _library().TVMFFIGetTypeInfo(type_index)
    assert info is not None
    return info


@cache
def _library() -> Any:
    """Loaded already, by whoever made an object of a type that was registered."""
    from tvm_ffi import libinfo

    library = ctypes.CDLL(libinfo.find_libtvm_ffi())
    library.TVMFFIGetTypeInfo.restype = ctypes.c_void_p
    library.TVMFFIGetTypeInfo.argtypes = [ctypes.c_int32]
    return library
