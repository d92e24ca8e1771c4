"""An allocator of memory of the fake driver's devices, which counts what is alive."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from tests.fakecuda import DeviceArray, FakeDriver
from tests.support.allocating import CountingAllocator, counting

_DIRT = 7


class Allocator:
    """A counting allocator, and the arrays that it has made."""

    def __init__(self, driver: FakeDriver) -> None:
        self.driver = driver
        self.arrays: list[DeviceArray] = []
        self.counting: CountingAllocator | None = None

    @property
    def alive(self) -> dict[int, object]:
        """Allocations that were not released."""
        assert self.counting is not None
        return self.counting.alive

    def memory(self, shape: tuple[int, ...], dtype: str, device: int) -> tuple[int, object]:
        """Memory of a device, filled with sevens."""
        array = DeviceArray(self.driver, shape, dtype, device)
        array.host[...] = _DIRT
        self.arrays.append(array)
        return array.address, array


@contextmanager
def allocating(driver: FakeDriver) -> Generator[Allocator]:
    """Make such an allocator this thread's, for a while."""
    made = Allocator(driver)
    with counting(made.memory) as made.counting:
        yield made
