"""Kinds of scalar: which type indices each accepts, and the words if none fits."""

from __future__ import annotations

from enum import Enum

from ffi_builder.abi import TypeIndex
from ffi_builder.plan.messages import Words


class Kind(Enum):
    """Kinds of scalar, each with the type indices that it accepts and the words if none fits."""

    INT = ((TypeIndex.INT, TypeIndex.BOOL, TypeIndex.BIG_INT), Words.KIND_INT)
    BOOL = ((TypeIndex.BOOL, TypeIndex.INT), Words.KIND_BOOL)
    FLOAT = ((TypeIndex.FLOAT, TypeIndex.INT, TypeIndex.BOOL), Words.KIND_FLOAT)
    HANDLE = ((TypeIndex.OPAQUE_PTR, TypeIndex.NONE), Words.KIND_HANDLE)
    POINTER = (
        (TypeIndex.OPAQUE_PTR, TypeIndex.NONE, TypeIndex.INT, TypeIndex.BIG_INT),
        Words.KIND_POINTER,
    )
    STREAM = ((TypeIndex.OPAQUE_PTR, TypeIndex.NONE, TypeIndex.INT), Words.KIND_POINTER)
    DTYPE = ((TypeIndex.DATA_TYPE,), Words.KIND_DTYPE)
    DEVICE = ((TypeIndex.DEVICE,), Words.KIND_DEVICE)
    CONST_NONE = ((TypeIndex.NONE,), Words.KIND_NONE)
    CONST_INT = ((TypeIndex.INT,), Words.KIND_INT)
    CONST_BOOL = ((TypeIndex.BOOL,), Words.KIND_BOOL)
    CONST_FLOAT = ((TypeIndex.FLOAT, TypeIndex.INT), Words.KIND_FLOAT)

    @property
    def accepts(self) -> tuple[TypeIndex, ...]:
        """The type indices."""
        return self.value[0]

    @property
    def words(self) -> Words:
        """The error if it is none of them."""
        return self.value[1]
