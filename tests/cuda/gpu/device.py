"""A GPU by the driver's functions alone, for cases that run on a real driver and on the fake."""

from __future__ import annotations

import ctypes
from collections.abc import Generator
from contextlib import contextmanager
from ctypes import c_void_p as P
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ffi_builder.fakecuda.build import SONAME
from tests.fakecuda.memory import tensor_at

IMAGES: Final = {8: "cuda13-sm_80.cubin", 9: "cuda13-sm_90.cubin", 10: "cuda13-sm_100.cubin"}
"""Images of tests/cuda/images, by the major compute capability."""


class Skipped(Exception):
    """Something that a case needs is missing."""


@dataclass
class Gpu:
    """The driver of this process, and what was allocated in a case."""

    cuda: Any
    memory: list[int] = field(default_factory=list[int])

    @classmethod
    def of_this_process(cls) -> Gpu:
        """libcuda.so.1, wherever the loader finds it.

        Raises:
            Skipped: it is not there, or has no device.
        """
        try:
            cuda = ctypes.CDLL(SONAME)
        except OSError as error:
            raise Skipped(str(error)) from error
        result = cuda.cuInit(0)
        if result != 0:
            raise Skipped(f"cuInit: {result}")
        return cls(cuda)

    @property
    def is_fake(self) -> bool:
        """Tell whether the driver is the fake one."""
        return hasattr(self.cuda, "fake_reset")

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function that must succeed."""
        result = getattr(self.cuda, name)(*arguments)
        assert result == 0, f"{name}: {result}"

    def cuda_call(self, name: str, *arguments: Any) -> int:
        """Call a function, and return its result."""
        return getattr(self.cuda, name)(*arguments)

    def get(self, name: str, *arguments: Any) -> int:
        """Call a function, and return what it stores in its first parameter."""
        out = ctypes.c_uint64()
        self.call(name, ctypes.byref(out), *arguments)
        return out.value

    def attribute(self, number: int, device: int = 0) -> int:
        """Return an attribute of a device."""
        return ctypes.c_int32(self.get("cuDeviceGetAttribute", number, device)).value

    @property
    def capability(self) -> tuple[int, int]:
        """The compute capability of device 0."""
        return self.attribute(75), self.attribute(76)

    @property
    def count(self) -> int:
        """How many devices there are."""
        return self.get("cuDeviceGetCount")

    @property
    def context(self) -> int:
        """The current context; 0: none."""
        return self.get("cuCtxGetCurrent")

    @contextmanager
    def current(self, device: int = 0) -> Generator[int]:
        """With a device's primary context current."""
        context = self.get("cuDevicePrimaryCtxRetain", device)
        self.call("cuCtxPushCurrent_v2", P(context))
        try:
            yield context
        finally:
            popped = self.get("cuCtxPopCurrent_v2")
            assert popped == context, "another context is current"

    def array(self, content: npt.NDArray[Any], device: int = 0) -> Array:
        """A copy of a host array."""
        with self.current(device):
            address = self.get("cuMemAlloc_v2", ctypes.c_size_t(content.nbytes))
            self.call("cuMemcpyHtoD_v2", P(address), P(content.ctypes.data), content.nbytes)
        return Array(self, address, content.shape, str(content.dtype), device)

    def stream(self, device: int = 0, flags: int = 1) -> P:
        """A stream of a device, which does not wait for the legacy one."""
        with self.current(device):
            return P(self.get("cuStreamCreate", flags))

    @contextmanager
    def captured(self, stream: P, mode: int = 0) -> Generator[P]:
        """Capture what is launched meanwhile; the graph is there when that ends."""
        self.call("cuStreamBeginCapture_v2", stream, mode)
        graph, made = P(), P()
        yield made
        self.call("cuStreamEndCapture", stream, ctypes.byref(graph))
        with self.current():
            made.value = self.get("cuGraphInstantiateWithFlags", graph, ctypes.c_ulonglong(0))

    def wait(self, stream: P) -> None:
        """Until all that was launched on it is done."""
        self.call("cuStreamSynchronize", stream)


@dataclass(frozen=True)
class Array:
    """An array on a device; its memory goes with the process."""

    gpu: Gpu
    address: int
    shape: tuple[int, ...]
    dtype: str
    device: int

    @property
    def tensor(self) -> Any:
        """As wrappers take it."""
        return tensor_at(self.address, self.shape, self.dtype, self.device)

    def columns(self, count: int) -> Any:
        """The first ones of a matrix, as wrappers take them."""
        rows, pitch = self.shape
        return tensor_at(self.address, (rows, count), self.dtype, self.device, (pitch, 1))

    @property
    def host(self) -> npt.NDArray[Any]:
        """A copy on the host, when all that was launched is done."""
        found = np.empty(self.shape, self.dtype)
        with self.gpu.current(self.device):
            self.gpu.call("cuCtxSynchronize")
            pointer, size = P(found.ctypes.data), ctypes.c_size_t(found.nbytes)
            self.gpu.call("cuMemcpyDtoH_v2", pointer, P(self.address), size)
        return found
