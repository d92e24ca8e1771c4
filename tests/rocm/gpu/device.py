"""An AMD GPU by HIP's functions alone, for cases that run on a real one and on the fake."""

from __future__ import annotations

import ctypes
import tempfile
from ctypes import c_void_p as P
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tests.fakecuda.memory import tensor_at
from tests.rocm.images.llvm import LINKER, assemble, link
from tools.rocm_numbers import PROPERTIES, TARGET_NAME

NAMES: Final = ("libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so")
KERNELS: Final = """
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()

define i32 @index() alwaysinline {
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %block = call i32 @llvm.amdgcn.workgroup.id.x()
  %first = mul i32 %block, 256
  %index = add i32 %first, %thread
  ret i32 %index
}

define amdgpu_kernel void @saxpy(float %a, ptr addrspace(1) %x, ptr addrspace(1) %y, i32 %n) #0 {
  %i = call i32 @index()
  %inside = icmp slt i32 %i, %n
  br i1 %inside, label %then, label %end
then:
  %x.at = getelementptr float, ptr addrspace(1) %x, i32 %i
  %y.at = getelementptr float, ptr addrspace(1) %y, i32 %i
  %x.value = load float, ptr addrspace(1) %x.at
  %y.value = load float, ptr addrspace(1) %y.at
  %product = fmul float %a, %x.value
  %sum = fadd float %product, %y.value
  store float %sum, ptr addrspace(1) %y.at
  br label %end
end:
  ret void
}

define amdgpu_kernel void @widths(i8 %a, i16 %b, i32 %c, i64 %d, float %e, double %f,
                                  ptr addrspace(1) %out) #0 {
  %a.wide = sitofp i8 %a to double
  %b.wide = sitofp i16 %b to double
  %c.wide = sitofp i32 %c to double
  %d.wide = sitofp i64 %d to double
  %e.wide = fpext float %e to double
  %b.at = getelementptr double, ptr addrspace(1) %out, i32 1
  %c.at = getelementptr double, ptr addrspace(1) %out, i32 2
  %d.at = getelementptr double, ptr addrspace(1) %out, i32 3
  %e.at = getelementptr double, ptr addrspace(1) %out, i32 4
  %f.at = getelementptr double, ptr addrspace(1) %out, i32 5
  store double %a.wide, ptr addrspace(1) %out
  store double %b.wide, ptr addrspace(1) %b.at
  store double %c.wide, ptr addrspace(1) %c.at
  store double %d.wide, ptr addrspace(1) %d.at
  store double %e.wide, ptr addrspace(1) %e.at
  store double %f, ptr addrspace(1) %f.at
  ret void
}

attributes #0 = { "amdgpu-flat-work-group-size"="1,256" }
"""


class Skipped(Exception):
    """Something that a case needs is missing."""


@cache
def image_for(processor: str) -> bytes:
    """Compile the kernels.

    Raises:
        Skipped: there is no linker.
    """
    if LINKER is None:
        raise Skipped("needs ld.lld, which ROCm and Debian's lld have")
    with tempfile.TemporaryDirectory() as folder:
        return link(assemble(KERNELS, processor), Path(folder))


@dataclass
class Gpu:
    """HIP of this process, and what was allocated in a case."""

    hip: Any
    memory: list[int] = field(default_factory=list[int])

    @classmethod
    def of_this_process(cls) -> Gpu:
        """HIP, wherever the loader finds it.

        Raises:
            Skipped: it is not there, or has no device.
        """
        for name in NAMES:
            try:
                hip = ctypes.CDLL(name)
            except OSError:
                continue
            result = hip.hipInit(0)
            if result != 0:
                raise Skipped(f"hipInit: {result}")
            return cls(hip)
        raise Skipped(f"there is none of {', '.join(NAMES)}")

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function that must succeed."""
        result = getattr(self.hip, name)(*arguments)
        assert result == 0, f"{name}: {result}"

    def get(self, name: str, *arguments: Any) -> int:
        """The handle or address that a function stores in its first parameter."""
        out = P()
        self.call(name, ctypes.byref(out), *arguments)
        return out.value or 0

    @property
    def devices(self) -> int:
        count = ctypes.c_int()
        self.call("hipGetDeviceCount", ctypes.byref(count))
        return count.value

    @property
    def device(self) -> int:
        """The device that is current."""
        found = ctypes.c_int()
        self.call("hipGetDevice", ctypes.byref(found))
        return found.value

    def target(self, device: int = 0) -> str:
        properties = (ctypes.c_char * (2 * PROPERTIES))()
        self.call("hipGetDevicePropertiesR0600", properties, device)
        return properties.raw[TARGET_NAME:].partition(b"\0")[0].decode()

    @property
    def image(self) -> bytes:
        """The kernels for the first device.

        Raises:
            Skipped: there is no linker.
        """
        return image_for(self.target().partition(":")[0])

    def array(self, content: npt.NDArray[Any], device: int = 0) -> Any:
        """A tensor with a copy of an array."""
        before = self.device
        self.call("hipSetDevice", device)
        address = self.get("hipMalloc", ctypes.c_size_t(max(content.nbytes, 1)))
        self.memory.append(address)
        source = np.ascontiguousarray(content)
        size = ctypes.c_size_t(source.nbytes)
        self.call("hipMemcpyHtoD", P(address), P(source.ctypes.data), size)
        self.call("hipSetDevice", before)
        return tensor_at(address, content.shape, str(content.dtype), device, kind="rocm")

    def numpy(self, tensor: Any, dtype: str = "float32") -> npt.NDArray[Any]:
        """What is in a tensor now."""
        made = np.zeros(tuple(tensor.shape), dtype)
        before = self.device
        self.call("hipSetDevice", tensor.device.index)
        self.call("hipDeviceSynchronize")
        size = ctypes.c_size_t(made.nbytes)
        self.call("hipMemcpyDtoH", P(made.ctypes.data), P(tensor.data_ptr()), size)
        self.call("hipSetDevice", before)
        return made

    def stream(self, device: int = 0) -> int:
        before = self.device
        self.call("hipSetDevice", device)
        made = self.get("hipStreamCreateWithFlags", ctypes.c_uint(1))
        self.call("hipSetDevice", before)
        return made
