"""The fake driver and the package read the same out of an image; and the images of tests are right."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TypeAlias

import pytest

from ffi_builder.cuda.images import Kernel, kernels
from tests.cuda.images.images import IMAGES, image
from tests.fakecuda import DeviceAttribute, FakeDriver, FunctionAttribute, make_cubin, make_ptx
from tests.fakecuda.calling import P
from tests.fakecuda.kernels import ALL

REAL = sorted(path.name for path in IMAGES.glob("*.cubin"))
"""Images that NVRTC 12 and 13 have made from tests/cuda/images/kernels.cu."""
Seen: TypeAlias = tuple[Sequence[tuple[int | None, int]], Sequence[int | None]]
"""Offsets and sizes of the parameters; then threads, registers and shared bytes."""


def as_the_driver_sees(driver: FakeDriver, data: bytes, name: str) -> Seen:
    """By the functions that tell of kernels."""
    nothing = (None, None, 0)
    library = driver.get("cuLibraryLoadData", data, *nothing, *nothing)
    kernel = driver.get("cuLibraryGetKernel", P(library), name.encode())
    parameters: list[tuple[int, int]] = []
    offset, size = ctypes.c_size_t(), ctypes.c_size_t()
    out = (ctypes.byref(offset), ctypes.byref(size))
    while (
        driver.call("cuKernelGetParamInfo", P(kernel), ctypes.c_size_t(len(parameters)), *out) == 0
    ):
        parameters.append((offset.value, size.value))
    value = ctypes.c_int()
    found: list[int] = []
    for attribute in (
        FunctionAttribute.MAX_THREADS_PER_BLOCK,
        FunctionAttribute.NUM_REGS,
        FunctionAttribute.SHARED_SIZE_BYTES,
    ):
        driver.must("cuKernelGetAttribute", ctypes.byref(value), int(attribute), P(kernel), 0)
        found.append(value.value)
    return parameters, found


def as_the_package_sees(kernel: Kernel) -> Seen:
    assert kernel.parameters is not None
    parameters = [(each.offset, each.size) for each in kernel.parameters]
    numbers = [kernel.max_threads or 1024, kernel.registers, kernel.static_shared_bytes or 0]
    return parameters, numbers


def become(driver: FakeDriver, architecture: str) -> None:
    """Let the devices be of this one."""
    number = int("".join(filter(str.isdigit, architecture)))
    for device in (0, 1):
        driver.set_attribute(DeviceAttribute.COMPUTE_CAPABILITY_MAJOR, number // 10, device)
        driver.set_attribute(DeviceAttribute.COMPUTE_CAPABILITY_MINOR, number % 10, device)
    driver.init()


@pytest.mark.parametrize("name", REAL)
def test_real_cubins(driver: FakeDriver, name: str):
    data = image(name)
    read = kernels(data)
    become(driver, read.architectures[0])
    for kernel in read.kernels.values():
        assert as_the_driver_sees(driver, data, kernel.name) == as_the_package_sees(kernel)


@pytest.mark.parametrize("abi", [7, 8])
@pytest.mark.parametrize("sm", [80, 90, 100])
def test_the_cubins_of_tests(driver: FakeDriver, abi: int, sm: int):
    data = make_cubin(ALL, sm=sm, abi=abi)
    read = kernels(data)
    assert read.architectures == (f"sm_{sm}",)
    become(driver, read.architectures[0])
    for made in ALL:
        kernel = read.kernels[made.name]
        assert as_the_driver_sees(driver, data, made.name) == as_the_package_sees(kernel)
        assert kernel.cluster == made.cluster
        assert [each.size for each in kernel.parameters or ()] == list(made.parameters)


def test_the_ptx_of_tests(driver: FakeDriver):
    data = make_ptx(ALL)
    read = kernels(data)
    become(driver, read.architectures[0])
    for made in ALL:
        sizes = [each.size for each in read.kernels[made.name].parameters or ()]
        assert sizes == list(made.parameters)
        assert [size for _, size in as_the_driver_sees(driver, data, made.name)[0]] == sizes
