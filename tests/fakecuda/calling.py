"""Calling the fake driver by hand, as its own tests do."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any, Final

from ffi_builder.fakecuda.driver import FakeDriver
from tests.fakecuda.image import KernelImage, make_cubin
from tests.fakecuda.kernels import EMPTY
from tests.fakecuda.numbers import PER_THREAD

P: Final = ctypes.c_void_p


def tries(*_names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Which rules a test is of; ``test_fake_driver.py`` looks whether all have one."""
    return lambda test: test


class Config(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = (
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared", ctypes.c_uint32),
        ("stream", P),
        ("attributes", P),
        ("count", ctypes.c_uint32),
    )


def load(driver: FakeDriver, *kernels: KernelImage, image: bytes | None = None) -> int:
    driver.init()
    data = make_cubin(kernels or [EMPTY]) if image is None else image
    nothing = (None, None, 0)
    return driver.get("cuLibraryLoadData", data, *nothing, *nothing)


def kernel(driver: FakeDriver, image: KernelImage = EMPTY) -> int:
    return driver.get("cuLibraryGetKernel", P(load(driver, image)), image.name.encode())


def launch(
    driver: FakeDriver,
    function: int,
    *,
    grid: Sequence[int] = (1, 1, 1),
    block: Sequence[int] = (1, 1, 1),
    shared: int = 0,
    stream: int = PER_THREAD,
    attributes: bytes = b"",
    params: Any = None,
    extra: Any = None,
) -> int:
    held = ctypes.create_string_buffer(attributes, max(len(attributes), 1))
    config = Config(
        (ctypes.c_uint32 * 3)(*grid),
        (ctypes.c_uint32 * 3)(*block),
        shared,
        stream,
        ctypes.addressof(held) if attributes else None,
        len(attributes) // 72,
    )
    return driver.call("cuLaunchKernelEx", ctypes.byref(config), P(function), params, extra)


def attribute(number: int, *values: int) -> bytes:
    return struct.pack(f"<II{len(values)}I", number, 0, *values).ljust(72, b"\0")


def rules_broken(driver: FakeDriver) -> list[str]:
    found = [violation.rule for violation in driver.violations()]
    driver.clear_log()
    return found


def loading(driver: FakeDriver, image: Any) -> int:
    """The result of cuLibraryLoadData."""
    out, nothing = P(), (None, None, 0)
    driver.init()
    return driver.call("cuLibraryLoadData", ctypes.byref(out), image, *nothing, *nothing)
