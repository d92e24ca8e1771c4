"""GPU memory for calls of a wrapper, without a framework."""

# pyright: basic, reportMissingImports=false
from __future__ import annotations

import ctypes
from typing import Any

from cuda.bindings import runtime as cuda

TO_GPU = cuda.cudaMemcpyKind.cudaMemcpyHostToDevice
TO_HOST = cuda.cudaMemcpyKind.cudaMemcpyDeviceToHost
HAS_GPU = cuda.cudaGetDeviceCount()[0] == 0


class OnGpu:
    """A copy of a contiguous NumPy array on device 0, which exports DLPack.

    Without a GPU, it has an address that is never read.
    """

    def __init__(self, array: Any) -> None:
        self.array, self.address = array, 1 << 32
        if HAS_GPU:
            status, self.address = cuda.cudaMalloc(array.nbytes)
            check(status)
            check(*cuda.cudaMemcpy(self.address, array.ctypes.data, array.nbytes, TO_GPU))

    def __del__(self) -> None:
        if HAS_GPU:
            cuda.cudaFree(self.address)

    def numpy(self) -> Any:
        """Copy the current values from the device to an array."""
        check(*cuda.cudaMemcpy(self.array.ctypes.data, self.address, self.array.nbytes, TO_HOST))
        return self.array

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, **_: object) -> Any:
        """Export NumPy's DLTensor with another address and device, its first two fields."""
        capsule = self.array.__dlpack__()
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        at = pointer(capsule, b"dltensor")
        ctypes.c_void_p.from_address(at).value = self.address
        ctypes.c_int32.from_address(at + 8).value = 2  # CUDA; NumPy's device id is 0 too
        return capsule


def check(status: Any) -> None:
    if status != 0:
        raise RuntimeError(cuda.cudaGetErrorName(status)[1].decode())
