"""The face of the fake driver: what the tests of an author of kernels need."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from functools import cache
from types import TracebackType
from typing import Any, Final, TypeVar

from ffi_builder.extending import abi, addons, did_you_mean, importing, parse_dtype
from ffi_builder.fakecuda import allocator
from ffi_builder.fakecuda.build import environment, library
from ffi_builder.fakecuda.constants import NON_BLOCKING, DeviceAttribute
from ffi_builder.fakecuda.driver import FakeDriver, IllegalAddressError, Running
from ffi_builder.fakecuda.records import Call, Event, Launch, Violation
from ffi_builder.testing.make.arrays import Array, FakeArray, described, numpy
from ffi_builder.testing.make.devices import activate

_E = TypeVar("_E", Call, Launch, Violation)
_F = TypeVar("_F", bound=Callable[..., Any])

_CUDA: Final = abi.DEVICE_TYPES["cuda"]
_MOST: Final = 8
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


def _misspelt(emulated: set[str], launched: set[str]) -> str:
    """Say which names of emulated kernels are misspelt ones of kernels that were launched."""
    alone = sorted(launched - emulated)
    meant = [(name, did_you_mean(name, alone)) for name in sorted(emulated - launched)]
    found = "; ".join(f"no {name!r} was launched{hint}" for name, hint in meant if hint)
    return found and f"FakeCuda: {found}"


class FakeCuda:
    """CUDA devices without a GPU, in a ``with`` block: to test code that launches kernels.

    The process gets a ``libcuda.so.1`` that was written for tests. It is built with the C compiler
    where it is first used, and kept in ``~/.cache/ffi_builder``. It refuses what a real driver
    refuses, with the same errors, and records all calls and launches. With ``execute=True``, it
    runs the PTX of kernels on the CPU. Without, or where there is no PTX, kernels are Python
    functions that :meth:`kernel` registers; a launch of another kernel is checked and recorded, and
    changes nothing. In the block, :func:`make_args`, :func:`check_kernel` and
    :func:`check_intents` take signatures whose tensors are on CUDA.

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
        execute: whether kernels that come with PTX are executed.

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

    def __init__(self, *archs: str, version: str | None = None, execute: bool = False) -> None:
        self._archs = archs or ("sm_90",)
        self._capabilities = tuple(map(_capability, self._archs))
        if len(archs) > _MOST:
            raise ValueError(f"FakeCuda: {len(archs)} devices, and there are {_MOST} at most")
        self._version = _version(version)
        self._execute = _executor() if execute else None
        self._memory: _Memory | None = None
        self._ended: list[Event] = []
        self._before: int | None = None
        """The allocator outside of the block."""

    def __enter__(self) -> FakeCuda:
        global _current
        if _current is not None:
            raise RuntimeError("FakeCuda: this process is in the block of another FakeCuda already")
        driver = the_driver()
        driver.forget()
        driver.set_devices(len(self._capabilities))
        driver.set_version(self._version)
        for number, capability in enumerate(self._capabilities):
            _set_up(driver, number, capability)
        driver.execute(self._execute)
        _current, self._memory = self, _Memory(driver, len(self._archs))
        activate("cuda", self._memory)
        self._before = allocator.install(allocator.address())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        global _current
        memory = self._inside
        driver = memory.driver
        self._ended = driver.log()
        misspelt = _misspelt(driver.emulated, {each.kernel for each in self.launches})
        _current = self._memory = None
        driver.set_devices(0)  # a test that forgets the block must not pass
        activate("cuda", None)
        allocator.install(self._before)
        try:
            memory.raise_error()
        finally:
            driver.forget()
        if self.violations and error is None:
            broken = "\n".join(f"  {each.rule}: {each.text}" for each in self.violations)
            raise AssertionError(f"FakeCuda: rules of the CUDA driver were broken:\n{broken}")
        if misspelt and error is None:
            raise AssertionError(misspelt)
        if misspelt and sys.version_info >= (3, 11):
            error.add_note(misspelt)

    @property
    def _inside(self) -> _Memory:
        if self._memory is None:
            raise RuntimeError("FakeCuda: this works in its block only: `with FakeCuda() as gpu:`")
        return self._memory

    def array(self, content: Any, device: int = 0) -> FakeArray:
        """Return a copy of an array on a device.

        Args:
            content: what ``numpy.asarray`` takes, or a tensor on a device of the block, such as
                the result of a function.
            device: the number of the device.

        Raises:
            ValueError: there is no such device, or the dtype is none of a tensor.
            RuntimeError: not in the block.
        """
        self._checked(device)
        given = numpy().asarray(self._on_host(content), order="C")
        strides = tuple(stride // max(given.itemsize, 1) for stride in given.strides)
        array = Array(
            *("array", parse_dtype(given.dtype.name), given.shape, strides),
            device_id=device,
            device_type="cuda",
        )
        made = FakeArray(array, array.allocate())
        made.numpy()[...] = given
        return made

    def _checked(self, device: int) -> int:
        count = self._inside.devices
        if not 0 <= device < count:
            raise ValueError(f"FakeCuda: expected a device from 0 to {count - 1} but got {device}")
        return device

    def _on_host(self, content: Any) -> Any:
        """Return a tensor on a device as the host finds it; other content as it is."""
        if not hasattr(content, "__dlpack_device__") or content.__dlpack_device__()[0] != _CUDA:
            return content
        array, address = described("content", importing.load("tvm_ffi").from_dlpack(content))
        before, behind = array.extent
        driver = self._inside.driver
        found = driver.memory(address - before, before + behind, "uint8", array.device_id)
        return array.view(found, before)

    def kernel(self, name: str, types: Sequence[str]) -> Callable[[_F], _F]:
        """Return a decorator: the function runs on the host when a kernel of this name is launched.

        The function takes the launch and then each parameter of the kernel. The launch has
        ``grid``, ``block`` and ``cluster``, of three ints each, ``shared``, which is the dynamic
        shared memory in bytes, and ``device``. The function runs once for all blocks, and must
        compute what they would.

        A pointer that is no memory of that device, or is not aligned, is the exception of the
        kernel. As on a GPU, later launches on the device fail with CUDA_ERROR_ILLEGAL_ADDRESS or
        CUDA_ERROR_MISALIGNED_ADDRESS, until the block ends.

        Args:
            name: the name of the kernel in the image.
            types: a type for each parameter of the kernel. ``"float32"`` and other dtypes are a
                number. ``"float32*"`` is a NumPy array in the device's memory, from where the
                pointer points to the end of what was allocated there, or None for NULL.
                ``"handle"`` is a pointer as an int, and ``"bytes"`` whatever is there.

        Raises:
            RuntimeError: not in the block.
        """
        driver = self._inside.driver

        def register(function: _F) -> _F:
            def emulation(running: Running) -> None:
                try:
                    function(running, *running.arrays(types))
                except Exception as error:
                    driver.errors.append(error)
                    if isinstance(error, IllegalAddressError):  # all later calls return it
                        raise

            driver.kernel(name, emulation)
            return function

        return register

    def stream(self, device: int = 0) -> int:
        """Return the handle of a new stream, to pass to a function or to make the current one.

        Raises:
            ValueError: there is no such device.
            RuntimeError: not in the block.
        """
        return self._inside.driver.new_stream(self._checked(device), NON_BLOCKING)

    @property
    def launches(self) -> list[Launch]:
        """The kernels that were launched in the block, in order.

        Each has ``kernel``, which is its name, ``grid``, ``block``, ``cluster``, ``shared``,
        ``device`` and ``stream``, and ``attributes``, which are bytes by number.
        ``launch.arguments`` has the bytes of each parameter. ``launch.values(types)`` has their
        values, of types as in :meth:`kernel`; pointers are addresses, as in
        :attr:`FakeArray.address`.
        """
        return [each for each in self._of(Launch) if not each.captured]

    @property
    def calls(self) -> list[Call]:
        """The calls of the driver in the block: ``name``, ``result`` and ``arguments`` of each."""
        return self._of(Call)

    @property
    def violations(self) -> list[Violation]:
        """The broken rules that a real driver does not check: ``rule`` and ``text`` of each."""
        return self._of(Violation)

    def _of(self, kind: type[_E]) -> list[_E]:
        events = self._memory.driver.log() if self._memory else self._ended
        return [event for event in events if isinstance(event, kind)]

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a child process that shall find the fake driver, such as a C program.

        It is ``os.environ`` with the folder of the driver in ``LD_LIBRARY_PATH``.
        """
        chosen = {
            "FAKE_CUDA_DEVICES": str(len(self._archs)),
            "FAKE_CUDA_VERSION": str(self._version),
        }
        return {**environment(library()), **chosen}


_current: FakeCuda | None = None


class _Memory:
    """The memory of a driver's devices, for arguments that are made."""

    def __init__(self, driver: FakeDriver, devices: int) -> None:
        self.driver, self.devices = driver, devices
        self.allocate, self.host, self.recover = driver.allocate, driver.host, driver.recover
        self.limit = driver.limit

    def raise_error(self) -> None:
        """Raise the first exception of an emulated kernel, and forget all."""
        errors = [*self.driver.errors]
        self.driver.errors.clear()
        if errors:
            raise errors[0]


def _executor() -> Callable[[FakeDriver, Running], None]:
    """Return what executes PTX.

    Raises:
        RuntimeError: the add-on is not installed.
    """
    found = addons.find("executor", "ptx")
    if found is None:
        raise RuntimeError(f"FakeCuda: execute=True {addons.lacking('executor', 'ptx')}")
    return found


def _capability(arch: str) -> int:
    """Return 90 for ``"sm_90"``.

    Raises:
        ValueError: that is no architecture.
    """
    found = re.fullmatch(r"sm_([5-9]\d|1[0-2]\d)[af]?", arch)
    if found is None:
        raise ValueError(f"FakeCuda: expected an architecture such as 'sm_90' but got {arch!r}")
    return int(found[1])


def _version(given: object) -> int:
    """Return 12080 for ``"12.8"``, and 0 for None.

    Raises:
        TypeError: it is no str.
        ValueError: no driver that loads libraries of kernels has that version.
    """
    if given is None:
        return 0
    what = f"FakeCuda: expected a version of CUDA from '12.0' on, such as '13.0', but got {given!r}"
    if not isinstance(given, str):
        raise TypeError(f"{what} ({type(given).__name__})")
    found = re.fullmatch(r"(1[2-9]|[2-9]\d)\.(\d)", given, re.ASCII)
    if found is None:
        raise ValueError(what)
    return 1000 * int(found[1]) + 10 * int(found[2])


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
