"""Tensors of memory that is not in an array: DLPack's capsules, and the buffer protocol.

The extension reads buffers by the same rules (`entry/_buffers.h`), if a kernel only borrows them.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

import tvm_ffi

from ffi_builder.runtime.python.dlpack import Managed
from ffi_builder.runtime.python.position import Position

_CPU: Final = 1
_READ_ONLY: Final = 1
"""The flag of a managed tensor that must not be written."""
_MAJOR: Final = 1
"""The version of DLPack whose layout this is."""
_capsule_name: Final = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(
    ("PyCapsule_GetName", ctypes.pythonapi)
)
_capsule_pointer: Final = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_new_capsule: Final = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))
_NAME: Final = b"dltensor"
_VERSIONED: Final = b"dltensor_versioned"


def is_capsule(cls: type[object]) -> bool:
    """Return whether a class is Python's of capsules, which has a name since Python 3.13."""
    return (cls.__module__, cls.__qualname__) == ("builtins", "PyCapsule")


def tensor_of_capsule(capsule: Any, at: Position) -> Any:
    """Return a tensor that owns what a capsule of DLPack holds; the capsule is used up then.

    Raises ValueError for one that is used up already, or is read-only and must not be, and
    TypeError for another capsule.
    """
    name: bytes | None = _capsule_name(capsule)
    if name in (b"used_" + _NAME, b"used_" + _VERSIONED):
        raise at.mismatch(
            "a DLPack capsule that holds a tensor",
            f'one that is used up ("{name.decode()}"): each call takes a new one of __dlpack__()',
        )
    if name == _VERSIONED:
        managed = Managed.from_address(_capsule_pointer(capsule, name))
        if managed.major != _MAJOR:
            version = f"{managed.major}.{managed.minor}"
            raise at.mismatch(f"a DLPack capsule of version {_MAJOR}", f"one of version {version}")
        if managed.flags & _READ_ONLY and at.intent != "in":
            raise at.read_only("a read-only DLPack capsule")
    elif name != _NAME:
        shown = "without a name" if name is None else f'named "{name.decode(errors="replace")}"'
        raise at.mismatched_type("Tensor", f"a capsule {shown}, which is not DLPack's")
    return tvm_ffi.from_dlpack(capsule)
