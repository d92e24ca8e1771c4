"""The face of the fake driver: what the tests of an author of kernels need."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Final

from typing_extensions import override

from ffi_builder.extending import addons
from ffi_builder.fakecuda.build import library
from ffi_builder.fakecuda.constants import DeviceAttribute
from ffi_builder.fakecuda.driver import FakeDriver, Running
from ffi_builder.fakecuda.gpus import FakeGpus, version_numbers

_SHARED: Final = {70: 96, 72: 96, 75: 64, 80: 163, 86: 99, 87: 163, 89: 99, 90: 227, 100: 227}
"""The most shared memory of a block, in KiB, by compute capability."""
_SHARED_OF_LATER: Final = {10: 227, 11: 227, 12: 99}
"""The same by major compute capability."""


@cache
def the_driver() -> FakeDriver:
    """Return the driver of this process. It is built and loaded once.

    Raises:
        FileNotFoundError, ModuleNotFoundError, OSError, RuntimeError: as :class:`FakeCuda`.
    """
    return FakeDriver(library())


class FakeCuda(FakeGpus):
    """CUDA devices without a GPU, in a ``with`` block: to test code that launches kernels.

    The process gets a ``libcuda.so.1`` that was written for tests. It is built with the C compiler
    where it is first used, and kept in ``~/.cache/ffi_builder``. It refuses what a real driver
    refuses, with the same errors, and records all calls and launches. With ``execute=True``, it
    runs the PTX of kernels on the CPU, and a kernel that has none is an error. Kernels can also be
    Python functions that :meth:`kernel` registers. Without ``execute``, a launch of another kernel
    is checked and recorded, and changes nothing. In the block, :func:`make_args`,
    :func:`check_kernel` and :func:`check_intents` take signatures whose tensors are on CUDA.

    At its end, the block raises the first exception of a kernel that no :meth:`FakeArray.numpy` has
    raised: an illegal access, a deadlock, an instruction that is not executed, and the like. It
    raises an AssertionError if calls of the driver have broken rules that a real driver does not
    check (there, the process may crash or compute with freed memory), or if the name given to
    :meth:`kernel` is that of a launched one, misspelt.

    A process may use several, one after the other, and launch the same functions in all of them.
    Outside of a block there is no device, and a launch is a RuntimeError.

    Args:
        archs: the architecture of each device. The default is one device, ``"sm_90"``.
        version: the CUDA version of the driver, such as ``"12.8"``, which decides the newest PTX
            that it takes. The default is that of the installed nvidia-cuda-runtime.
        execute: whether kernels are executed that no function in Python stands for.

    Raises:
        TypeError: the version is no str.
        ValueError: an unknown architecture, more than 8 devices, or a version before 12.0.
        FileNotFoundError: entering, and there is no C compiler.
        ModuleNotFoundError: entering, and nvidia-cuda-runtime, which has cuda.h, is not installed.
        OSError: entering, on another system than Linux.
        RuntimeError: ``execute`` and the add-on ptx is not installed; entering, within another
            block, or after the process has loaded a real driver.

    Examples:
        >>> import numpy as np
        >>> from ffi_builder import Launch, testing, wrap
        >>> ptx = '''
        ... .version 7.0
        ... .target sm_70
        ... .address_size 64
        ... .visible .entry twice(.param .u64 x, .param .u32 n) { ret; }
        ... '''
        >>> signature = "twice(x: Tensor([n], float32)) where n: int32"
        >>> launch = Launch(grid="ceildiv(n, 128)", block=128)
        >>> twice = wrap(ptx, signature, device="cuda", launch=launch, args=["x", "n"])["twice"]
        >>> with testing.FakeCuda() as gpu:
        ...
        ...     @gpu.kernel("twice", ["float32*", "int32"])
        ...     def emulated(launch, x, n):
        ...         x[:n] *= 2
        ...
        ...     x = gpu.array(np.ones(300, "float32"))
        ...     twice(x)
        >>> x.numpy().sum(), gpu.launches[0].grid
        (np.float32(600.0), (3, 1, 1))
    """

    _kind = "cuda"
    _of_whom = "the CUDA driver"
    _library, _driver = staticmethod(library), staticmethod(the_driver)

    def __init__(self, *archs: str, version: str | None = None, execute: bool = False) -> None:
        archs = archs or ("sm_90",)
        self._capabilities = tuple(map(_capability, archs))
        major, minor = version_numbers(
            version,
            "FakeCuda: expected a version of CUDA from '12.0' on, such as '13.0'",
            r"(1[2-9]|[2-9]\d)\.(\d)",
        )
        super().__init__(archs, 1000 * major + 10 * minor)
        self._execute = _executor() if execute else None

    @override
    def _set_up(self, driver: FakeDriver) -> None:
        for number, capability in enumerate(self._capabilities):
            _set_up(driver, number, capability)
        driver.execute(self._execute)


def _executor() -> Callable[[FakeDriver, Running], None]:
    """Return what executes PTX.

    Raises:
        RuntimeError: the add-on is not installed.
    """
    executor = addons.find("executor", "ptx")
    if executor is None:
        raise RuntimeError(f"FakeCuda: execute=True {addons.lacking('executor', 'ptx')}")
    return executor


def _capability(arch: object) -> int:
    """Return 90 for ``"sm_90"``.

    Raises:
        ValueError: that is no architecture.
    """
    match = re.fullmatch(r"sm_([5-9]\d|1[0-2]\d)[af]?", arch) if isinstance(arch, str) else None
    if match is None:
        raise ValueError(f"FakeCuda: expected an architecture such as 'sm_90' but got {arch!r}")
    return int(match[1])


def _set_up(driver: FakeDriver, device: int, capability: int) -> None:
    """Give a device, which is an H200, what another one has."""
    major, minor = divmod(capability, 10)
    shared = _SHARED.get(capability) or _SHARED_OF_LATER.get(major, 48)
    attributes = {
        DeviceAttribute.COMPUTE_CAPABILITY_MAJOR: major,
        DeviceAttribute.COMPUTE_CAPABILITY_MINOR: minor,
        DeviceAttribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: shared << 10,
        DeviceAttribute.CLUSTER_LAUNCH: int(major >= 9),
    }
    for attribute, value in attributes.items():
        driver.set_attribute(attribute, value, device)
