"""Has what the fakes of all vendors share, for the tests of an author of kernels."""

from __future__ import annotations

import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar

from typing_extensions import Self

from ffi_builder.extending import abi, did_you_mean, importing, parse_dtype
from ffi_builder.fakecuda.build import environment
from ffi_builder.fakecuda.constants import NON_BLOCKING
from ffi_builder.fakecuda.driver import FakeDriver, IllegalAddressError, Running
from ffi_builder.fakecuda.records import Call, Event, Launch, Violation
from ffi_builder.testing.make.arrays import Array, FakeArray, described, numpy
from ffi_builder.testing.make.devices import activate

_E = TypeVar("_E", Call, Launch, Violation)
_F = TypeVar("_F", bound=Callable[..., Any])

_current: Final[set[str]] = set()
"""The kinds of devices in whose block this process is."""


def _misspelt(fake: str, emulated: set[str], launched: set[str]) -> str:
    """Say which names of emulated kernels are misspelt ones of kernels that were launched."""
    alone = sorted(launched - emulated)
    meant = [(name, did_you_mean(name, alone)) for name in sorted(emulated - launched)]
    hints = "; ".join(f"no {name!r} was launched{hint}" for name, hint in meant if hint)
    return hints and f"{fake}: {hints}"


def version_numbers(given: object, expected: str, pattern: str) -> tuple[int, int]:
    """Return 12 and 8 for ``"12.8"``, and zeros for None.

    Raises:
        TypeError: it is no str.
        ValueError: the pattern, of a version that can be emulated, does not match.
    """
    if given is None:
        return 0, 0
    if not isinstance(given, str):
        raise TypeError(f"{expected}, but got {given!r} ({type(given).__name__})")
    match = re.fullmatch(pattern, given, re.ASCII)
    if match is None:
        raise ValueError(f"{expected}, but got {given!r}")
    return int(match[1]), int(match[2])


class FakeGpus(ABC):
    """Devices without a GPU, in a ``with`` block."""

    _kind: ClassVar[str]
    """The type of the devices."""
    _of_whom: ClassVar[str]
    """Whose rules may be broken, in errors."""
    _library: ClassVar[staticmethod[[], Path]]
    """Builds the library, and returns its file."""
    _driver: ClassVar[staticmethod[[], FakeDriver]]
    """Returns the library of this process. It is built and loaded once."""

    def __init__(self, archs: Sequence[str], version: int) -> None:
        if len(archs) > _MOST:
            name = type(self).__name__
            raise ValueError(f"{name}: {len(archs)} devices, and there are {_MOST} at most")
        self._archs = tuple(archs)
        self._version = version
        self._memory: _Memory | None = None
        self._ended: list[Event] = []
        self._before: int | None = None
        """The allocator outside of the block."""

    @abstractmethod
    def _set_up(self, driver: FakeDriver) -> None:
        """Give each device what its architecture has."""

    def __enter__(self) -> Self:
        if self._kind in _current:
            name = type(self).__name__
            raise RuntimeError(f"{name}: this process is in the block of another {name} already")
        driver = self._driver()  # says that it needs Linux before the allocator does
        from ffi_builder.fakecuda import allocator

        driver.forget()
        driver.set_devices(len(self._archs))
        driver.set_version(self._version)
        self._set_up(driver)
        _current.add(self._kind)
        self._memory = _Memory(driver, len(self._archs))
        activate(self._kind, self._memory)
        self._before = allocator.install(allocator.address())
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        name = type(self).__name__
        memory = self._inside
        driver = memory.driver
        self._ended = driver.log()
        misspelt = _misspelt(name, driver.emulated, {each.kernel for each in self.launches})
        _current.discard(self._kind)
        self._memory = None
        driver.set_devices(0)  # a test that forgets the block must not pass
        activate(self._kind, None)
        from ffi_builder.fakecuda import allocator

        allocator.install(self._before)
        try:
            memory.raise_error()
        finally:
            driver.forget()
        if self.violations and error is None:
            broken = "\n".join(f"  {each.rule}: {each.text}" for each in self.violations)
            raise AssertionError(f"{name}: rules of {self._of_whom} were broken:\n{broken}")
        if misspelt and error is None:
            raise AssertionError(misspelt)
        if misspelt and sys.version_info >= (3, 11):
            error.add_note(misspelt)

    @property
    def _inside(self) -> _Memory:
        if self._memory is None:
            name = type(self).__name__
            raise RuntimeError(f"{name}: this works in its block only: `with {name}() as gpu:`")
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
            device_type=self._kind,
        )
        made = FakeArray(array, array.allocate())
        made.numpy()[...] = given
        return made

    def _checked(self, device: int) -> int:
        count = self._inside.devices
        if not 0 <= device < count:
            name = type(self).__name__
            raise ValueError(f"{name}: expected a device from 0 to {count - 1} but got {device}")
        return device

    def _on_host(self, content: Any) -> Any:
        """Return a tensor on a device as the host finds it; other content as it is."""
        kind = abi.DEVICE_TYPES[self._kind]
        if not hasattr(content, "__dlpack_device__") or content.__dlpack_device__()[0] != kind:
            return content
        array, address = described("content", importing.load("tvm_ffi").from_dlpack(content))
        before, after = array.extent
        driver = self._inside.driver
        memory = driver.memory(address - before, before + after, "uint8", array.device_id)
        return array.view(memory, before)

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

        It is ``os.environ`` with the folder of the driver in ``LD_LIBRARY_PATH``. There, launches
        are checked, but kernels do nothing, and ``launches`` has none of them.
        """
        chosen = {
            "FAKE_CUDA_DEVICES": str(len(self._archs)),
            "FAKE_CUDA_VERSION": str(self._version),
        }
        return {**environment(self._library()), **chosen}


_MOST: Final = 8


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
