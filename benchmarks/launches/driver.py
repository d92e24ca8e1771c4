"""The CUDA driver of this process, real or null, by its own functions."""

from __future__ import annotations

import ctypes
import sys
from ctypes import c_void_p as P
from pathlib import Path
from typing import Any

import tvm_ffi
from native import HERE, cc
from tvm_ffi import libinfo

sys.path.append(str(HERE.parent))  # tests are not installed
from tests.fakecuda.memory import tensor_at

SONAME = "libcuda.so.1"
SIZE = 100
"""Numbers in an array: one block, so that the launch takes longer than the kernel."""
CUDA = 2
"""DLPack's code of the device type."""

PTX = b"""
.version 7.0
.target sm_80
.address_size 64
.visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n) {
  .reg .pred %p; .reg .b32 %r<5>; .reg .f32 %f<4>; .reg .b64 %d<6>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r1, %r1, %r2, %r3;
  ld.param.u32 %r4, [n];
  setp.ge.s32 %p, %r1, %r4;
  @%p ret;
  ld.param.f32 %f1, [a];
  ld.param.u64 %d1, [x];
  ld.param.u64 %d2, [y];
  cvta.to.global.u64 %d1, %d1;
  cvta.to.global.u64 %d2, %d2;
  mul.wide.s32 %d3, %r1, 4;
  add.s64 %d4, %d1, %d3;
  add.s64 %d5, %d2, %d3;
  ld.global.f32 %f2, [%d4];
  ld.global.f32 %f3, [%d5];
  fma.rn.f32 %f3, %f1, %f2, %f3;
  st.global.f32 [%d5], %f3;
  ret;
}
\0"""
"""y += a * x in PTX, with 128 threads per block, for GPUs from sm_80 on."""


class NoDriverError(Exception):
    """There is no GPU; the message says why."""


class Driver:
    """The driver, with everything that a launch needs.

    `cuda` has its functions, `stream` is tvm-ffi's current stream on device 0, and
    `x` and `y` are addresses of `SIZE` floats on it: 1 and 2.
    """

    def __init__(self, path: str) -> None:
        """Raises NoDriverError."""
        try:
            # As the wrapper does: the library loaded under this name, otherwise the system's.
            self.cuda = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            raise NoDriverError(str(error)) from error
        status = self.cuda.cuInit(0)
        if status:
            raise NoDriverError(f"cuInit: {status}")
        self.context = P(self.made("cuDevicePrimaryCtxRetain", 0))
        self.call("cuCtxSetCurrent", self.context)
        library = self.made("cuLibraryLoadData", PTX, None, None, 0, None, None, 0)
        self.kernel = self.made("cuLibraryGetKernel", P(library), b"saxpy")
        self.stream = self.made("cuStreamCreate", 1)
        self.x, self.y = (self.made("cuMemAlloc_v2", ctypes.c_size_t(4 * SIZE)) for _ in "xy")
        self.use(self.stream)

    def fill(self) -> None:
        """Write x and y; the null driver has no memory for them."""
        for address, value in ((self.x, 1.0), (self.y, 2.0)):
            numbers = (ctypes.c_float * SIZE)(*[value] * SIZE)
            self.call("cuMemcpyHtoD_v2", P(address), numbers, ctypes.c_size_t(4 * SIZE))

    def y_values(self) -> list[float]:
        """Return the values in y."""
        numbers = (ctypes.c_float * SIZE)()
        self.wait()
        self.call("cuMemcpyDtoH_v2", numbers, P(self.y), ctypes.c_size_t(4 * SIZE))
        return list(numbers)

    def call(self, name: str, *args: Any) -> None:
        """Call a function that must succeed."""
        status = self.cuda[name](*args)
        assert status == 0, f"{name}: {status}"

    def made(self, name: str, *args: Any) -> int:
        """Return what a function stores in its first parameter."""
        found = ctypes.c_uint64()
        self.call(name, ctypes.byref(found), *args)
        return found.value

    def use(self, stream: int) -> None:
        """Set the stream as tvm-ffi's current one of device 0."""
        library = ctypes.CDLL(libinfo.find_libtvm_ffi())
        assert library.TVMFFIEnvSetStream(CUDA, 0, P(stream), None) == 0

    def wait(self) -> None:
        """Wait until every launch is done."""
        self.call("cuCtxSynchronize")

    def tensors(self) -> tuple[tvm_ffi.Tensor, tvm_ffi.Tensor]:
        """x and y."""
        x, y = (tensor_at(address, [SIZE], "float32") for address in (self.x, self.y))
        return x, y

    def name(self) -> str:
        """Device 0, and the driver's version."""
        text = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", text, 256, 0)
        version = ctypes.c_int(self.made("cuDriverGetVersion")).value
        return f"{text.value.decode()}, a driver of CUDA {version // 1000}.{version % 1000 // 10}"


def null_driver(folder: Path) -> str:
    """Compile the null driver, and return its path."""
    path = folder / SONAME
    source = str(HERE / "launches" / "null_driver.c")
    cc("-shared", f"-Wl,-soname,{SONAME}", source, "-ldl", "-o", str(path))
    return str(path)
