"""Arrays of NumPy that say that they are in memory of an AMD GPU."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, Final

_ROCM: Final = 10
_pointer: Final = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


@dataclass
class OnRocm:
    """An array on a device of ROCm, which code on the CPU can read."""

    array: Any
    device: int = 0

    def __dlpack_device__(self) -> tuple[int, int]:
        return _ROCM, self.device

    def __dlpack__(self, **options: Any) -> Any:
        capsule = self.array.__dlpack__()
        address = _pointer(capsule, b"dltensor")
        assert address is not None
        where = ctypes.c_int32 * 2
        where.from_address(address + 8)[:] = [_ROCM, self.device]  # behind the data pointer
        return capsule
