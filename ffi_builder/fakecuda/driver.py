"""The fake driver as a Python object: makes what tests need, and says what happened."""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from ffi_builder.fakecuda.build import SONAME
from ffi_builder.fakecuda.constants import CaptureMode, DeviceAttribute, Result
from ffi_builder.fakecuda.records import Call, Dims, Event, Launch, Violation, read_log
from ffi_builder.fakecuda.values import read_values
from ffi_builder.testing.make.arrays import numpy

if TYPE_CHECKING:
    import numpy.typing as npt

np: Final = numpy()

_E = TypeVar("_E", Call, Launch, Violation)
_Pointer = ctypes.c_void_p


class DriverError(Exception):
    """A call that a test needs to succeed has not."""

    def __init__(self, name: str, result: int) -> None:
        super().__init__(f"{name}: {result}")
        self.result = result


class IllegalAddressError(RuntimeError):
    """An emulated kernel touched memory that is not its device's."""

    result = Result.ILLEGAL_ADDRESS


class MisalignedAddressError(IllegalAddressError):
    """An emulated kernel got a pointer that is not aligned."""

    result = Result.MISALIGNED_ADDRESS


class _Parameter(ctypes.Structure):
    _fields_ = (
        ("offset", ctypes.c_uint32),
        ("size", ctypes.c_uint32),
        ("address", ctypes.c_uint64),
        ("bytes", ctypes.c_void_p),
    )


class _Launch(ctypes.Structure):
    _fields_ = (
        ("kernel", ctypes.c_char_p),
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("cluster", ctypes.c_uint32 * 3),
        ("shared", ctypes.c_uint32),
        ("device", ctypes.c_int32),
        ("context", ctypes.c_uint64),
        ("stream", ctypes.c_uint64),
        ("count", ctypes.c_uint32),
        ("parameters", ctypes.POINTER(_Parameter)),
        ("ptx", ctypes.c_void_p),
        ("library", ctypes.c_uint64),
        ("cooperative", ctypes.c_uint32),
    )


_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Launch), ctypes.c_void_p)


class Running:
    """A kernel that is being run: what its emulation gets."""

    def __init__(self, driver: FakeDriver, launch: Any) -> None:
        self._driver = driver
        self.kernel: str = (launch.kernel or b"").decode()
        """``""``: none; the host has asked for a variable."""
        self.grid: Dims = tuple(launch.grid)
        self.block: Dims = tuple(launch.block)
        self.cluster: Dims = tuple(launch.cluster)
        self.shared: int = launch.shared
        self.device: int = launch.device
        self.context: int = launch.context
        self.library: int = launch.library
        self.cooperative = bool(launch.cooperative)
        self._ptx: int = launch.ptx or 0
        self.arguments = tuple(
            ctypes.string_at(launch.parameters[index].bytes, launch.parameters[index].size)
            for index in range(launch.count)
        )

    @property
    def has_ptx(self) -> bool:
        """Whether its image has PTX."""
        return bool(self._ptx)

    @property
    def ptx(self) -> str:
        """The text that the kernel is in; ``""``: it has none."""
        return ctypes.string_at(self._ptx).decode(errors="replace") if self._ptx else ""

    def values(self, types: Sequence[str]) -> list[Any]:
        """The arguments by their types, as :meth:`FakeLaunch.values`; pointers are addresses."""
        return read_values(self.kernel, self.arguments, types)

    def arrays(self, types: Sequence[str]) -> list[Any]:
        """The arguments by their types, with arrays for pointers to elements.

        Each array reaches to the end of the memory. None stands for NULL.

        Raises:
            IllegalAddressError: a pointer is not to memory of the kernel's device.
            MisalignedAddressError: it is, but is not aligned.
        """
        return read_values(self.kernel, self.arguments, types, self._array)

    def _array(self, address: int, dtype: Any) -> Any:
        if not address:
            return None
        extent = self._driver.cuda.fake_extent(address, self.device)
        what = f"kernel {self.kernel!r} gets the address {address:#x} of {dtype} elements, which is"
        if not extent:
            name = self._driver.symbol(IllegalAddressError.result)
            raise IllegalAddressError(f"{what} no memory of device {self.device} ({name})")
        if address % dtype.alignment:
            name = self._driver.symbol(MisalignedAddressError.result)
            raise MisalignedAddressError(f"{what} not aligned to {dtype.alignment} bytes ({name})")
        return self.memory(address, extent // dtype.itemsize, dtype)

    def memory(self, address: int, count: int, dtype: Any) -> npt.NDArray[Any]:
        """``count`` elements at an address on the kernel's device.

        Raises:
            IllegalAddressError: they are not all there.
        """
        return self._driver.memory(address, count, dtype, self.device)


class FakeDriver:
    """The fake libcuda.so.1 of this process. ``cuda`` has its functions, which return an int.

    Raises:
        RuntimeError: this process has another one.
    """

    name: ClassVar[str] = "FakeCuda"
    soname: ClassVar[str] = SONAME
    api: ClassVar[str] = "CUDA"
    prefix: ClassVar[str] = "cu"
    """Begins the names of the library's functions, also of those below."""
    creates: ClassVar[str] = "StreamCreate"
    captures: ClassVar[str] = "StreamBeginCapture_v2"

    def __init__(self, path: Path | str) -> None:
        name, soname = self.name, self.soname
        loaded = _loaded(soname)
        if loaded is not None and not hasattr(loaded, "fake_reset"):
            raise RuntimeError(
                f"{name}: this process has loaded another {soname} already{_where(soname)}, which "
                f"cannot be replaced; use {name} before anything initializes {self.api}, or in a "
                f"process of its own"
            )
        # Loaded under its name, it is what dlopen finds for everybody in this process from now on.
        self.cuda = loaded or ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
        cuda = self.cuda
        cuda.fake_log.restype = ctypes.c_size_t
        cuda.fake_allocate.restype = ctypes.c_uint64
        cuda.fake_host.restype = ctypes.c_void_p
        cuda.fake_extent.restype = ctypes.c_size_t
        cuda.fake_extent.argtypes = [ctypes.c_uint64, ctypes.c_int]
        cuda.fake_host.argtypes = [ctypes.c_uint64, ctypes.c_size_t, ctypes.c_int]
        cuda.fake_free.argtypes = [ctypes.c_uint64]
        cuda.fake_allocate.argtypes = [ctypes.c_int, ctypes.c_size_t]
        cuda.fake_kernel.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p]
        cuda.fake_limit.argtypes = [ctypes.c_uint64, ctypes.c_size_t, ctypes.c_size_t]
        cuda.fake_executor.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        cuda.fake_global.restype = ctypes.c_uint64
        cuda.fake_global.argtypes = [
            *(ctypes.c_uint64, ctypes.c_uint64, ctypes.c_char_p, ctypes.c_size_t),
            ctypes.POINTER(ctypes.c_int),
        ]
        self._callbacks: list[Any] = []
        self.emulated: set[str] = set()
        """The names of emulated kernels."""
        self._kept: list[Any] = []
        self.errors: list[BaseException] = []
        """Errors that emulations have raised."""

    def symbol(self, result: Result) -> str:
        """The name of a result in the API."""
        return result.symbol

    def reset(self, devices: int = 2, *, host_access: bool = False) -> None:
        """Forget everything but arrays, cuInit too; handles from before stay invalid for ever."""
        self.cuda.fake_reset(devices, int(host_access))
        self._callbacks.clear()
        self.errors.clear()
        self._kept.clear()

    def forget(self) -> None:
        """Forget what happened, and all emulations. Handles stay valid, and failures to come."""
        self.clear_log()
        self.recover()
        self.execute(None)
        for name in self.emulated:
            self.cuda.fake_kernel(name.encode(), None, None)
        self.emulated.clear()
        self._callbacks.clear()
        self.errors.clear()

    # Ask what happened.

    def log(self) -> list[Event]:
        """Everything since the last reset or :meth:`clear_log`."""
        size = self.cuda.fake_log(None, 0)
        while True:
            buffer = ctypes.create_string_buffer(size + 1)
            now = self.cuda.fake_log(buffer, size + 1)
            if now <= size:
                return read_log(buffer.value.decode())
            size = now

    def clear_log(self) -> None:
        """Forget what happened, and nothing else."""
        self.cuda.fake_clear_log()

    def _of(self, kind: type[_E]) -> list[_E]:
        return [event for event in self.log() if isinstance(event, kind)]

    def calls(self, name: str | None = None) -> list[Call]:
        """The calls of one function, or of all."""
        return [call for call in self._of(Call) if name in (None, call.name)]

    def launches(self) -> list[Launch]:
        """The kernels that were run."""
        return [launch for launch in self._of(Launch) if not launch.captured]

    def violations(self) -> list[Violation]:
        """The rules that were broken where a driver would not say so."""
        return self._of(Violation)

    def count(self, name: str) -> int:
        """How often a function has been called since the last reset."""
        return self.cuda.fake_count(name.encode())

    def live(self, kind: str) -> int:
        """How many "context", "stream", "library", "module", "graph", "graph_exec", "memory".

        "primary" is how often primary contexts have been retained and not released.
        """
        return self.cuda.fake_live(kind.encode())

    @property
    def stack_depth(self) -> int:
        """How many contexts this thread's stack has."""
        return self.cuda.fake_stack_depth()

    # Set what shall happen.

    def fail(self, name: str, result: int, nth: int = 1) -> None:
        """The ``nth`` call from now on returns ``result`` and does nothing; 0: each does."""
        self.cuda.fake_fail(name.encode(), nth, int(result))

    def delay(self, name: str, microseconds: int) -> None:
        """Each call sleeps before it does anything, and lets others go on."""
        self.cuda.fake_delay(name.encode(), microseconds)

    def set_devices(self, count: int) -> None:
        """Set how many devices there are."""
        self.cuda.fake_devices(count)

    def set_attribute(self, attribute: DeviceAttribute, value: int, device: int = 0) -> None:
        """Set an attribute of a device."""
        self.cuda.fake_attribute(device, int(attribute), value)

    def recover(self) -> None:
        """Forget which kernels have failed: their contexts work again, as in another process."""
        self.cuda.fake_recover()

    def set_version(self, version: int) -> None:
        """Set the driver's CUDA version, 1000 * major + 10 * minor; 0 is that of cuda.h."""
        self.cuda.fake_driver_version(version)

    def kernel(self, name: str, emulation: Callable[[Running], None]) -> None:
        """Run this on the host when a kernel of that name is launched.

        An IllegalAddressError fails the context as a device would; other exceptions too, and they
        are kept in ``errors``.
        """
        self.emulated.add(name)
        run = self._called_back(emulation, unkept=(IllegalAddressError,))
        self.cuda.fake_kernel(name.encode(), run, None)

    def execute(self, executor: Callable[[FakeDriver, Running], None] | None) -> None:
        """Run this for each launched kernel without an emulation; None: nothing.

        What it raises is kept in ``errors``; its ``result``, if it has one, fails the context.
        """
        run = None if executor is None else self._called_back(partial(executor, self))
        self.cuda.fake_executor(run, None)

    def _called_back(
        self, function: Callable[[Running], object], unkept: tuple[type[BaseException], ...] = ()
    ) -> Any:
        """Return the address of a function of C that calls this with a launch."""

        def run(launch: Any, _: object) -> int:
            try:
                function(Running(self, launch.contents))
            except BaseException as error:  # KeyboardInterrupt cannot pass through C
                if not isinstance(error, unkept):
                    self.errors.append(error)
                return getattr(error, "result", Result.LAUNCH_FAILED)
            return Result.SUCCESS

        callback = _CALLBACK(run)
        self._callbacks.append(callback)
        return ctypes.cast(callback, ctypes.c_void_p)

    def variable(self, run: Running, name: str, size: int) -> tuple[int, bool]:
        """The address of a variable of a kernel's library, and whether it is new; 0 if none."""
        fresh = ctypes.c_int()
        at = self.cuda.fake_global(
            run.context, run.library, name.encode(), size, ctypes.byref(fresh)
        )
        return at, bool(fresh)

    def memory(self, address: int, count: int, dtype: Any, device: int = -1) -> npt.NDArray[Any]:
        """Device memory, as the host can touch it: ``count`` elements; device -1 is any."""
        size = count * np.dtype(dtype).itemsize
        buffer = (ctypes.c_uint8 * size).from_address(self.host(address, size, device))
        flat: Any = np.ctypeslib.as_array(buffer)
        return flat.view(dtype)

    def keep(self, memory: npt.NDArray[Any]) -> None:
        """Keep memory until the driver is reset."""
        self._kept.append(memory)

    def host(self, address: int, size: int, device: int) -> int:
        """Where the host finds bytes of a device.

        Raises:
            IllegalAddressError: they are not all there.
        """
        pointer = self.cuda.fake_host(address, size, device)
        if not pointer:
            raise IllegalAddressError(f"{size} bytes at {address:#x} on device {device}")
        return pointer

    def limit(self, address: int, begin: int, end: int) -> None:
        """Say which bytes of an allocation executed kernels may touch."""
        self.cuda.fake_limit(address, begin, end)

    def allocate(self, device: int, size: int) -> tuple[npt.NDArray[Any], int]:
        """Zeros on a device, for the host, and their address; they live as long as the array.

        Raises:
            MemoryError: there is no more memory.
        """
        address = self.cuda.fake_allocate(device, size)
        if not address:
            raise MemoryError(f"{self.name}: no {size} bytes for device {device}")
        host = self.host(address, size, device)
        return np.asarray(_Block(self.cuda, address, host, size)), address

    # The driver's functions, for tests that need what they do.

    def call(self, name: str, *arguments: Any) -> int:
        """The result of a function. Handles are ints."""
        return getattr(self.cuda, name)(*(_argument(argument) for argument in arguments))

    def must(self, name: str, *arguments: Any) -> None:
        """Call a function that must succeed."""
        result = self.call(name, *arguments)
        if result != Result.SUCCESS:
            raise DriverError(name, result)

    def get(self, name: str, *arguments: Any) -> int:
        """Call a function, and return the handle or address in its first parameter."""
        out = ctypes.c_void_p()
        self.must(name, ctypes.byref(out), *arguments)
        return out.value or 0

    def init(self) -> None:
        """Initialise the library."""
        self.must(f"{self.prefix}Init", ctypes.c_uint(0))

    def retain(self, device: int = 0) -> int:
        """A primary context; cuInit is called too."""
        self.init()
        return self.get("cuDevicePrimaryCtxRetain", device)

    @contextmanager
    def current(self, device: int = 0) -> Generator[int]:
        """With a device's primary context current in this thread."""
        context = self.retain(device)
        self.must("cuCtxPushCurrent_v2", _Pointer(context))
        try:
            yield context
        finally:
            self.must("cuCtxPopCurrent_v2", None)

    def new_stream(self, device: int = 0, flags: int = 0) -> int:
        """A stream of a device's primary context; what is current stays so."""
        with self.current(device):
            return self.get(f"{self.prefix}{self.creates}", ctypes.c_uint(flags))

    def begin_capture(self, stream: int, mode: CaptureMode = CaptureMode.GLOBAL) -> None:
        """Start to capture launches into the stream as a graph."""
        self.must(f"{self.prefix}{self.captures}", _Pointer(stream), int(mode))

    def end_capture(self, stream: int) -> int:
        """The graph, ready to be launched (a CUgraphExec)."""
        graph = ctypes.c_void_p()
        self.must(f"{self.prefix}StreamEndCapture", _Pointer(stream), ctypes.byref(graph))
        with self.current():  # the driver asks for a context, of whatever device
            function = f"{self.prefix}GraphInstantiateWithFlags"
            made = self.get(function, graph, ctypes.c_ulonglong(0))
        self.must(f"{self.prefix}GraphDestroy", graph)
        return made

    def launch_graph(self, graph: int, stream: int) -> None:
        """Run a graph's kernels again."""
        self.must(f"{self.prefix}GraphLaunch", _Pointer(graph), _Pointer(stream))

    def stack(self) -> int:
        """The current context; 0: none."""
        return self.get("cuCtxGetCurrent")


class _Block:
    """Memory that ends with the last array in it."""

    def __init__(self, cuda: ctypes.CDLL, address: int, host: int, size: int) -> None:
        self.__array_interface__ = {
            "data": (host, False),
            "shape": (size,),
            "typestr": "|u1",
            "version": 3,
        }
        weakref.finalize(self, cuda.fake_free, address).atexit = False


def _argument(argument: Any) -> Any:
    """Plain ints are handles where they do not fit an int."""
    if isinstance(argument, int) and not -(2**31) <= argument < 2**31:
        return ctypes.c_void_p(argument)
    return argument


def _loaded(soname: str) -> ctypes.CDLL | None:
    """The library of that name that this process has; None if it has none."""
    try:
        return ctypes.CDLL(soname, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        return None


def _where(soname: str) -> str:
    """The path of that library, for an error."""
    try:
        lines = Path("/proc/self/maps").read_text().splitlines()
    except OSError:  # a sandbox without /proc
        return ""
    paths = (line.split(maxsplit=5)[-1] for line in lines if soname.rpartition(".")[0] in line)
    return next((f" ({path})" for path in paths), "")
