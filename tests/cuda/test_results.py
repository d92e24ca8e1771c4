"""Tensors that a launch returns: allocated before it, given to the kernel, released on failure."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from typing import Any

import pytest
from tvm_ffi import libinfo

from ffi_builder import abi, attach_ffi_func, runtime, spec
from tests.cuda.fake import DeviceArray, FakeDriver, KernelImage, Result
from tests.cuda.launching import provider
from tests.support.wrapping import new_module

N = spec.Var("n", "int64")
X = spec.Tensor("x", [N], "float32", device_type="cuda")
Y = spec.Tensor("y", [N], "float32", device_type="cuda")

_LIBRARY = ctypes.CDLL(libinfo.find_libtvm_ffi())
_ALLOCATE = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, ctypes.c_void_p
)
_DELETE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_VERSION = struct.pack("<II", 1, 1)


class Allocator:
    """What a framework brings: allocates on the fake's devices, and counts."""

    def __init__(self, driver: FakeDriver) -> None:
        self.driver = driver
        self.alive: dict[int, tuple[Any, DeviceArray]] = {}
        self.arrays: list[DeviceArray] = []
        self.allocate = _ALLOCATE(self._allocate)
        self.delete = _DELETE(self._delete)

    def _allocate(self, prototype: int, out: Any, _context: Any, _set_error: Any) -> int:
        """A DLManagedTensorVersioned: version, context, deleter, flags, DLTensor."""
        tensor = ctypes.string_at(prototype, abi.DLTENSOR_SIZE)
        (device,) = struct.unpack_from("<i", tensor, abi.DLTENSOR_DEVICE_TYPE + 4)
        (shape_at,) = struct.unpack_from("<Q", tensor, abi.DLTENSOR_SHAPE)
        size = ctypes.c_int64.from_address(shape_at).value
        array = DeviceArray(self.driver, (size,), "float32", device)
        dims = (ctypes.c_int64 * 2)(size, 1)
        at = ctypes.addressof(dims)
        described = bytearray(tensor)
        struct.pack_into("<Q", described, abi.DLTENSOR_DATA, array.address)
        struct.pack_into("<QQ", described, abi.DLTENSOR_SHAPE, at, at + 8)
        deleter = ctypes.cast(self.delete, ctypes.c_void_p).value
        block = ctypes.create_string_buffer(
            _VERSION + struct.pack("<QQQ", 0, deleter, 0) + bytes(described)
        )
        self.alive[ctypes.addressof(block)] = ((block, dims), array)
        self.arrays.append(array)
        out[0] = ctypes.addressof(block)
        return 0

    def _delete(self, block: int) -> None:
        del self.alive[block]


@pytest.fixture
def allocator(driver: FakeDriver) -> Iterator[Allocator]:
    made = Allocator(driver)
    before = ctypes.c_void_p()
    set_ = _LIBRARY.TVMFFIEnvSetDLPackManagedTensorAllocator
    assert set_(made.allocate, 1, ctypes.byref(before)) == 0
    yield made
    assert set_(before, 1, None) == 0


def returning(**options: Any) -> Any:
    module = new_module()
    made = provider(KernelImage("k", (8, 8)), **options)
    attach_ffi_func(module, "f", [X], made, returns=Y)
    return runtime.compile(module)["f"]


def test_the_kernel_writes_to_what_is_returned(driver: FakeDriver, allocator: Allocator):
    def twice(launch: Any) -> None:
        x, y = launch.values("QQ")
        launch.memory(y, 4, "float32")[:] = 2 * launch.memory(x, 4, "float32")

    driver.kernel("k", twice)
    x = DeviceArray(driver, (4,), "float32", 1)
    x.host[:] = 3
    result = returning()(x.tensor())
    [array] = allocator.arrays
    assert array.device == 1
    assert array.host.tolist() == [6, 6, 6, 6]
    assert len(allocator.alive) == 1
    del result
    assert allocator.alive == {}


@pytest.mark.parametrize("name", ["cuLibraryLoadData", "cuLaunchKernelEx", "cuKernelSetAttribute"])
def test_what_was_allocated_is_released_when_the_launch_fails(
    driver: FakeDriver, allocator: Allocator, name: str
):
    function = returning(dynamic_smem_bytes=100_000)
    driver.fail(name, Result.OUT_OF_MEMORY)
    with pytest.raises(RuntimeError, match=f"{name} failed"):
        function(DeviceArray(driver, (4,), "float32").tensor())
    assert len(allocator.arrays) == 1
    assert allocator.alive == {}


def test_an_empty_grid_returns_a_tensor(driver: FakeDriver, allocator: Allocator):
    assert returning(grid=N)(DeviceArray(driver, (0,), "float32").tensor()) is not None
    assert driver.launches() == []
