"""The fake HIP library as a Python object."""

from __future__ import annotations

import ctypes
from collections.abc import Generator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import ClassVar, Final

from typing_extensions import override

from ffi_builder.fakecuda.constants import Result
from ffi_builder.fakecuda.driver import FakeDriver
from ffi_builder.fakehip.build import SONAME
from ffi_builder.fakehip.unpack import unpacked

_UNPACK: Final = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class HipResult(IntEnum):
    """``hipError_t``: those that are called otherwise than in CUDA, or are HIP's alone."""

    INVALID_CONFIGURATION = 9
    INVALID_DEVICE_FUNCTION = 98
    INVALID_KERNEL_FILE = 218
    SHARED_OBJECT_INIT_FAILED = 303


_NAMES: Final = {Result.LAUNCH_FAILED: "hipErrorLaunchFailure"}


class FakeHipDriver(FakeDriver):
    """The fake libamdhip64.so.7 of this process. ``cuda`` has its functions, which return an int.

    Raises:
        RuntimeError: this process has another one.
    """

    name: ClassVar[str] = "FakeHip"
    soname: ClassVar[str] = SONAME
    api: ClassVar[str] = "HIP"
    prefix: ClassVar[str] = "hip"
    creates: ClassVar[str] = "StreamCreateWithFlags"
    captures: ClassVar[str] = "StreamBeginCapture"

    def __init__(self, path: Path | str) -> None:
        super().__init__(path)
        self._unpacked = ctypes.create_string_buffer(b"")
        self._unpack = _UNPACK(self._unpacking)
        self.cuda.fake_hip_unpacker(self._unpack)

    def _unpacking(self, code: int, size: int) -> int:
        """Return the address of the bundle that another one unpacks to; 0 if it is damaged."""
        try:
            bundle = unpacked(ctypes.string_at(code, size))
        except Exception as error:  # it cannot pass through C
            self.errors.append(error)
            return 0
        self._unpacked = ctypes.create_string_buffer(bundle, len(bundle) + 1)
        return ctypes.addressof(self._unpacked)

    def set_target(self, target: str, device: int = 0) -> None:
        """Set the target of a device, such as ``gfx90a:sramecc+:xnack-``."""
        self.cuda.fake_hip_target(device, target.encode())

    @override
    def symbol(self, result: Result) -> str:
        words = result.name.lower().split("_")
        return _NAMES.get(result, "hipError" + "".join(map(str.capitalize, words)))

    def set_device(self, device: int) -> None:
        """Make a device current for this thread."""
        self.must("hipSetDevice", device)

    @property
    def device(self) -> int:
        """The device that is current for this thread."""
        number = ctypes.c_int()
        self.must("hipGetDevice", ctypes.byref(number))
        return number.value

    @override
    @contextmanager
    def current(self, device: int = 0) -> Generator[int]:
        """With a device current in this thread."""
        before = self.device
        self.set_device(device)
        try:
            yield device
        finally:
            self.set_device(before)
