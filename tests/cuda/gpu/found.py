"""Finds a device for an example: a GPU, the fake driver, or tensors without memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy.typing as npt

from tests.cuda.gpu.device import Gpu, Skipped
from tests.cuda.gpu.emulation import emulate
from tests.fakecuda import FakeDriver, library
from tests.fakecuda.memory import tensor_at

_NOWHERE: Final = 1 << 40
"""An address that nothing looks at, as there is no driver that would."""


@dataclass(frozen=True)
class NoGpu:
    """In the place of a `Gpu` where there is none: calls get as far as loading the driver."""

    why: str
    arch: int = 90

    def array(self, content: npt.NDArray[Any]) -> NoArray:
        """One that claims to be on device 0."""
        return NoArray(tensor_at(_NOWHERE, content.shape, str(content.dtype)), content)

    def __str__(self) -> str:
        return f"no GPU: {self.why}"


@dataclass(frozen=True)
class NoArray:
    """As wrappers take it; ``host`` stays what it was."""

    tensor: Any
    host: npt.NDArray[Any]


@dataclass
class FoundGpu(Gpu):
    """A `Gpu`, with the driver object that runs the kernels if it is the fake one."""

    driver: FakeDriver | None = field(default=None, kw_only=True)

    @property
    def arch(self) -> int:
        """90 for sm_90."""
        major, minor = self.capability
        return 10 * major + minor

    def __str__(self) -> str:
        return f"{'the fake driver' if self.driver else 'a GPU'}, sm_{self.arch}"


def find_gpu(*, fake: bool) -> FoundGpu | NoGpu:
    """The GPU of this machine; with ``fake`` the fake one, which this process has from now on."""
    driver = FakeDriver(library()) if fake else None
    if driver is not None:
        emulate(driver)
    try:
        return FoundGpu(Gpu.of_this_process().cuda, driver=driver)
    except Skipped as skipped:
        return NoGpu(str(skipped))
