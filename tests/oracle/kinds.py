"""Kinds of arguments and types of objects."""

from __future__ import annotations

from typing import Final

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from tests.oracle.memory import AnyAt, object_type
from tests.oracle.registry import type_keys

KINDS: Final[dict[int, str]] = {
    TypeIndex.NONE: "None",
    TypeIndex.INT: "int",
    TypeIndex.BOOL: "bool",
    TypeIndex.FLOAT: "float",
    TypeIndex.OPAQUE_PTR: "opaque pointer",
    TypeIndex.DATA_TYPE: "dtype",
    TypeIndex.DEVICE: "device",
    TypeIndex.DL_TENSOR_PTR: "DLTensor*",
    TypeIndex.RAW_STR: "char*",
    TypeIndex.BYTE_ARRAY_PTR: "TVMFFIByteArray*",
    TypeIndex.OBJECT_RVALUE_REF: "moved object",
    TypeIndex.SMALL_STR: "str",
    TypeIndex.STR: "str",
    TypeIndex.SMALL_BYTES: "bytes",
    TypeIndex.BYTES: "bytes",
    TypeIndex.UNCHANGED: "Unchanged",
    TypeIndex.OBJECT: "ffi.Object",
    TypeIndex.ERROR: "ffi.Error",
    TypeIndex.FUNCTION: "ffi.Function",
    TypeIndex.SHAPE: "ffi.Shape",
    TypeIndex.TENSOR: "ffi.Tensor",
    TypeIndex.ARRAY: "list",
    TypeIndex.MAP: "dict",
    TypeIndex.MODULE: "ffi.Module",
    TypeIndex.OPAQUE_PY_OBJECT: "Python object",
    TypeIndex.LIST: "ffi.List",
    TypeIndex.DICT: "ffi.Dict",
    TypeIndex.VISIT_INTERRUPT: "ffi.VisitInterrupt",
    TypeIndex.BIG_INT: "int beyond int64",
}


def kind_of(type_index: int, address: int) -> str:
    """Return the name of a kind in errors; ``address`` is read only if it may be an object's."""
    if is_registered(type_index, address):
        key = type_keys(type_index)[0]
        if len(key.encode()) <= 255:
            return key
    return KINDS.get(type_index, f"type index {type_index}")


def kind_at(given: AnyAt) -> str:
    """Return the name of an argument's kind in errors; a moved object is only called that."""
    return kind_of(given.type_index, given.as_pointer)


def is_of_type(type_index: int, address: int, type_key: str) -> bool:
    """Return whether an object is of that type, or of one derived from it."""
    if type_index < abi.FIRST_OBJECT:
        return False
    if type_key == abi.TYPE_KEYS[TypeIndex.OBJECT]:
        return True
    if is_registered(type_index, address):
        return type_key in type_keys(type_index)
    return abi.TYPE_KEYS.get(type_index) == type_key


def is_registered(type_index: int, address: int) -> bool:
    """Return whether the object itself has this dynamic type, so that the type is registered."""
    return type_index >= abi.FIRST_DYNAMIC and address != 0 and object_type(address) == type_index
