"""Numbers of the CUDA driver API, and the symbols that a launching wrapper adds to its module.

Source: ``cuda.h`` of CUDA 12.0 to 13.5 (64-bit Linux); ``tests/cuda/test_numbers.py`` compares them
with the header of the nvidia-cuda-runtime wheel. Sizes and offsets are bytes.

Wrappers share the symbols that they can:

==================================== ===========================================================
``__ffi_builder_cuda_state``         the module's state: driver functions and retained contexts
``__ffi_builder_cuda_image_…``       the image, named by its digest: a constant, 64-byte aligned
``__ffi_builder_cuda_library_…``     the state of the image
``__ffi_builder_cuda_kernel_…``      the state of a kernel in it
``__ffi_builder_cuda_driver``        the module's state, once the driver was found for workspaces
``__ffi_builder_cuda_ready_f``       callback of ``TVMFFIHandleInitOnce`` that finds it for ``f``
``__ffi_builder_cuda_init_f``        callback of ``TVMFFIHandleInitOnce`` that loads for ``f``
``__ffi_builder_cuda_unload_…``      callback that unloads the image under the same lock
``__ffi_builder_cuda_leave``         the module's destructor
``__tvm_ffi__cuda_preload_f``        loads the image, and prepares the kernel on a device
``__tvm_ffi__cuda_release_f``        unloads the image
==================================== ===========================================================

All but the last two are internal. All variables are zero at first: loading the code runs none of
it. If a wrapper launches several kernels, the later ones have ``…_cuda_preload2_f`` and so on.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from enum import IntEnum
from typing import Final

from ffi_builder.extending import MODULE_PREFIX as PREFIX
from ffi_builder.extending import Builder, abi, call_support, dataclass, mark_trusted, run_support
from ffi_builder.ir import CheckingBuilder, Symbols, Value

LIBRARY: Final = "libcuda.so.1"
OLDEST: Final = "12.0"
"""The first CUDA version whose driver has cuLibrary*, cuKernel* and cuLaunchKernelEx."""

FUNCTIONS: Final = (
    "cuLaunchKernelEx",
    "cuInit",
    "cuLibraryLoadData",
    "cuLibraryGetKernel",
    "cuLibraryUnload",
    "cuKernelGetFunction",
    "cuKernelGetAttribute",
    "cuKernelSetAttribute",
    "cuThreadExchangeStreamCaptureMode",
    "cuCtxGetCurrent",
    "cuCtxGetDevice",
    "cuCtxPushCurrent_v2",
    "cuCtxPopCurrent_v2",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease_v2",
    "cuDeviceGetAttribute",
    "cuStreamGetCtx",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuDriverGetVersion",
    "cuMemsetD8Async",
    "cuTensorMapEncodeTiled",
    "cuTensorMapEncodeIm2col",
    "cuTensorMapEncodeIm2colWide",
    "cuStreamIsCapturing",
    "cuStreamSynchronize",
)
"""Exported names, in the order of a module's table; the launch has the number 0."""
REQUIRED: Final = FUNCTIONS.index("cuTensorMapEncodeTiled")
"""Those from this number on may be missing. Only maps and launches that are watched call them."""
NUMBER: Final = {name: number for number, name in enumerate(FUNCTIONS)}
NAME_STRIDE: Final = 40
"""Bytes of each name in the constant that has all names."""

CODE_BITS: Final = 16
"""A status has a CUresult in this many low bits, and above it the failed function's number."""

# CUlaunchConfig
CONFIG_SIZE: Final = 56
CONFIG_GRID: Final = 0
CONFIG_BLOCK: Final = 12
CONFIG_SHARED: Final = 24
CONFIG_STREAM: Final = 32
CONFIG_ATTRIBUTES: Final = 40
CONFIG_COUNT: Final = 48

# CUlaunchAttribute
ATTRIBUTE_SIZE: Final = 72
ATTRIBUTE_VALUE: Final = 8

FIRST_WIDE: Final = "12.8"
"""The first CUDA version whose driver has cuTensorMapEncodeIm2colWide."""

# A call site of tensor maps: the places of the driver's arguments, each an int64.
MAP_RANK: Final = 5
MAP_ADDRESS: Final = 0
MAP_SIZES: Final = 1
MAP_STRIDES: Final = MAP_SIZES + MAP_RANK
MAP_BOX: Final = MAP_STRIDES + MAP_RANK
MAP_STEPS: Final = MAP_BOX + MAP_RANK
MAP_LOWER: Final = MAP_STEPS + MAP_RANK
MAP_UPPER: Final = MAP_LOWER + MAP_RANK
MAP_CHANNELS: Final = MAP_UPPER + MAP_RANK
MAP_PIXELS: Final = MAP_CHANNELS + 1
MAP_PLACES: Final = MAP_PIXELS + 1
MAP_VALUES: Final = 8 * MAP_PLACES + 40
"""The offset in bytes of the limits of what a call brings."""
MAP_VALUE: Final = 40
MAP_SLOTS: Final = 8
"""The maps that a call site keeps."""

TENSOR_MAP_SIZE: Final = 128
TENSOR_MAP_ALIGN: Final = 128
"""The alignment in CUDA 13. CUDA 12 requires 64, of which 128 is a multiple."""

SPECIAL_STREAMS: Final = 3
"""NULL, CU_STREAM_LEGACY (1), CU_STREAM_PER_THREAD (2) are streams of the current context."""
CAPTURE_MODE_RELAXED: Final = 2


class FunctionAttribute(IntEnum):
    """``CUfunction_attribute``."""

    MAX_THREADS_PER_BLOCK = 0
    SHARED_SIZE_BYTES = 1
    MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
    REQUIRED_CLUSTER_WIDTH = 11
    REQUIRED_CLUSTER_HEIGHT = 12
    REQUIRED_CLUSTER_DEPTH = 13
    NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14


class DeviceAttribute(IntEnum):
    """``CUdevice_attribute``."""

    MAX_THREADS_PER_BLOCK = 1
    MAX_BLOCK_DIM_X = 2
    MAX_BLOCK_DIM_Y = 3
    MAX_BLOCK_DIM_Z = 4
    MAX_GRID_DIM_X = 5
    MAX_GRID_DIM_Y = 6
    MAX_GRID_DIM_Z = 7
    COMPUTE_CAPABILITY_MAJOR = 75
    COMPUTE_CAPABILITY_MINOR = 76
    MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97
    CLUSTER_LAUNCH = 120


class LaunchAttribute(IntEnum):
    """``CUlaunchAttributeID``: those that a launch may have here."""

    ACCESS_POLICY_WINDOW = 1
    COOPERATIVE = 2
    CLUSTER_DIMENSION = 4
    CLUSTER_SCHEDULING_POLICY_PREFERENCE = 5
    PROGRAMMATIC_STREAM_SERIALIZATION = 6
    PROGRAMMATIC_EVENT = 7
    PRIORITY = 8
    MEM_SYNC_DOMAIN_MAP = 9
    MEM_SYNC_DOMAIN = 10
    PREFERRED_CLUSTER_DIMENSION = 11
    LAUNCH_COMPLETION_EVENT = 12
    PREFERRED_SHARED_MEMORY_CARVEOUT = 14
    NVLINK_UTIL_CENTRIC_SCHEDULING = 16
    PORTABLE_CLUSTER_SIZE_MODE = 17
    SHARED_MEMORY_MODE = 18


class JitOption(IntEnum):
    """``CUjit_option``."""

    ERROR_LOG_BUFFER = 5
    ERROR_LOG_BUFFER_SIZE_BYTES = 6


class Result(IntEnum):
    """``CUresult``."""

    SUCCESS = 0
    INVALID_DEVICE = 101
    INVALID_CONTEXT = 201
    NO_BINARY_FOR_GPU = 209
    INVALID_PTX = 218
    UNSUPPORTED_PTX_VERSION = 222
    NOT_FOUND = 500
    ILLEGAL_ADDRESS = 700
    CONTEXT_IS_DESTROYED = 709
    MISALIGNED_ADDRESS = 716
    LAUNCH_FAILED = 719
    COOPERATIVE_LAUNCH_TOO_LARGE = 720
    STREAM_CAPTURE_IMPLICIT = 906


# Limits of every GPU.
MAX_GRID: Final = (2**31 - 1, 65535, 65535)
MAX_INT: Final = 2**31 - 1
WORDS: Final = (MAX_INT,) * 3
"""The largest sizes that fit a launch. A device that allows less refuses the launch itself."""
MAX_BLOCK: Final = (1024, 1024, 64)
MAX_THREADS: Final = 1024
MAX_PORTABLE_CLUSTER: Final = 8
MAX_CLUSTER: Final = 16
SHARED_WITHOUT_ASKING: Final = 48 << 10
"""The most static and dynamic shared memory of a block without a kernel attribute."""
MAX_SHARED_KIB: Final = {5: 48, 6: 48, 7: 96, 8: 163, 9: 227, 10: 227, 11: 227, 12: 99}
"""The most shared memory of a block on any GPU of a major compute capability, in KiB.

From the table of technical specifications in the CUDA C++ Programming Guide.
"""

DEVICES: Final = 128
STATE_WATCH: Final = 8 * len(FUNCTIONS)
STATE_SIZE: Final = STATE_WATCH + 8 * (3 + DEVICES)
"""The state of a module: the table of functions, the address of what the process watches, whether
it is ready, the first loaded library, and the retained primary contexts, by device."""

# The CudaWatch of a process: four bytes, which wrappers read at once, and two int32_t.
WATCH: Final = "ffi_builder.launch_watch.v1"
"""The attribute of tvm-ffi's type ``int`` that has its address."""
WATCH_SIZE: Final = 12
WATCH_HOOK: Final = 1
WATCH_LOAD: Final = 2
WATCH_DECIDED: Final = 4
BLOCKING: Final = "FFI_BUILDER_LAUNCH_BLOCKING"
"""The variable of the environment for the first byte."""
LAUNCH_HOOK: Final = "ffi_builder.launch_hook.v1"
"""The global function of tvm-ffi for the second byte."""
LOAD_HOOK: Final = "ffi_builder.load_hook.v1"
"""The global function of tvm-ffi for the third byte."""

# The capabilities of a module's devices.
CAPABILITY_SLOTS: Final = DEVICES + 1
CAPABILITY_BITS: Final = 8
"""A capability is an int with the minor version in this many low bits."""

LIBRARY_SIZE: Final = 40 + DEVICES
"""The state of an image: its handle, the next image, whether it is listed, its first kernel, the
thread that calls the load hook, and for each device a byte: whether that was called."""

# The state of a kernel: its handle, the next kernel, its library once it is listed there, its name,
# what is prepared. What was listed once stays listed.
KERNEL_HANDLE: Final = 0
"""The CUkernel, which TVMFFIHandleInitOnce initialises."""
KERNEL_LIBRARY: Final = 16
KERNEL_PREPARED: Final = 32
"""A byte for each device: the attributes that are set on it. All further devices share the last."""
KERNEL_SIZE: Final = KERNEL_PREPARED + DEVICES
PREPARED_SHARED: Final = 1
PREPARED_CLUSTER: Final = 2


_PREFIX: Final = f"{PREFIX}cuda_"
STATE: Final = f"{_PREFIX}state"
DRIVER: Final = f"{_PREFIX}driver"
_LEAVE: Final = f"{_PREFIX}leave"
INIT_ONCE: Final = "TVMFFIHandleInitOnce"
_IMAGE_ALIGN: Final = 64
_MOST_SHOWN: Final = 200


@dataclass(frozen=True)
class Source:
    """An image, as the driver expects it, and the name of a kernel in it.

    ``having_it`` lists the architectures that have the kernel; empty stands for all.
    """

    data: bytes
    architectures: Sequence[str]
    kernel: str
    having_it: Sequence[str] = ()

    @property
    def digest(self) -> str:
        """The digest of the image; equal images share one constant in a module."""
        return hashlib.sha256(self.data).hexdigest()[:16]

    @property
    def parts(self) -> str:
        """The architectures in messages."""
        every = ", ".join(self.architectures)
        if not self.having_it or set(self.having_it) == set(self.architectures):
            return every
        return f"{every} (this kernel in {', '.join(self.having_it)} alone)"

    @property
    def shown(self) -> str:
        """The kernel's name in messages, shortened: names of C++ templates may be very long."""
        name = self.kernel
        return name if len(name) <= _MOST_SHOWN else f"{name[: _MOST_SHOWN - 1]}…"


def float_bits(value: float) -> int:
    """Return the bits of a float of C."""
    return int.from_bytes(struct.pack("<f", value), "little")


def name_of(b: CheckingBuilder) -> str:
    """Return the name of the function that a wrapper exports."""
    return b.function.attributes["sym_name"].value.removeprefix(abi.PREFIX)


@dataclass(frozen=True)
class Site:
    """A wrapper, and the details for its errors: a kernel, and the architectures of its image."""

    b: CheckingBuilder
    kernel: str
    parts: str = ""

    def operands(self, b: Builder) -> list[Value]:
        """Return the last operands of functions that raise: a ``CudaSite``."""
        wrapper, backtrace = self.b, self.b.backtrace
        return [
            b.text_constant(self.kernel.encode() + b"\0"),
            b.text_constant(self.parts.encode() + b"\0"),
            b.address_of(wrapper.raiser),
            b.text_constant(wrapper.suffix.encode() + b"\0"),
            b.text_constant(backtrace or b"\0"),
            b.i64(len(backtrace)),
        ]

    def define_callback(self, name: str, callee: str, symbols: Sequence[str], *text: str) -> None:
        """Define a function that passes on its argument, a pointer, and the symbols' addresses."""
        t = self.b.types
        f = Builder.define(self.b.symbols, name, t.i32, [t.ptr])
        operands = [f.entry.arguments[0], *map(f.address_of, symbols)]
        operands += [f.text_constant(each.encode() + b"\0") for each in text]
        _end(f, callee, [*operands, *self.operands(f)])


class States:
    """The symbols that one wrapper uses; made by :func:`define_states`."""

    def __init__(self, b: CheckingBuilder, source: Source) -> None:
        digest, self.name = source.digest, name_of(b)
        named = hashlib.sha256(source.kernel.encode()).hexdigest()[:8]
        self.site = Site(b, source.shown, source.parts)
        self.image = f"{_PREFIX}image_{digest}"
        self.library = f"{_PREFIX}library_{digest}"
        self.kernel = f"{_PREFIX}kernel_{digest}_{named}"
        self.unload = f"{_PREFIX}unload_{digest}"
        self.init = b.symbols.unique(f"{_PREFIX}init_{self.name}")


def define_states(b: CheckingBuilder, source: Source, needs: int) -> States:
    """Add the symbols that the module lacks; ``needs`` are the attributes that preloading sets."""
    states, symbols = States(b, source), b.symbols
    define_module(symbols)
    if states.image not in symbols:
        symbols.constant(states.image, source.data, align=_IMAGE_ALIGN)
        symbols.variable(states.library, bytes(LIBRARY_SIZE), align=8)
    if states.kernel not in symbols:
        symbols.variable(states.kernel, bytes(KERNEL_SIZE), align=8)
    if states.unload not in symbols:
        f = Builder.define(symbols, states.unload, b.types.i32, [b.types.ptr])
        addresses = map(f.address_of, (STATE, states.library))
        _end(f, "cuda_unload", [f.entry.arguments[0], *addresses])
    names = (STATE, states.library, states.kernel, states.image)
    states.site.define_callback(states.init, "cuda_load", names, source.kernel)
    f, (args, count, result) = _begin_safe_call(b, "preload", states.name)
    addresses = map(f.address_of, (STATE, states.kernel, states.init))
    operands = [args, count, result, *addresses, f.i32(needs)]
    _end(f, "cuda_preload", [*operands, *states.site.operands(f)])
    f, (_, count, result) = _begin_safe_call(b, "release", states.name)
    operands = [count, f.address_of(STATE), result, f.address_of(states.unload)]
    _end(f, "cuda_release", [*operands, *states.site.operands(f)])
    return states


def define_module(symbols: Symbols) -> None:
    """Add the symbols that all wrappers of a module share, unless it has them."""
    t = symbols.types
    symbols.declare(INIT_ONCE, t.i32, [t.ptr, t.ptr])
    define_module_state(symbols)
    if _LEAVE not in symbols:
        f = Builder.define(symbols, _LEAVE, t.void, [])
        run_support(f, "cuda_leave_module", [f.address_of(STATE)])
        f.ret()
        _mark(f)
        symbols.destructor(_LEAVE)


def define_driver(site: Site) -> str:
    """Add code that finds the driver if no kernel is loaded; return the name of the callback."""
    symbols = site.b.symbols
    if DRIVER not in symbols:
        symbols.variable(DRIVER, bytes(8), align=8)
    init = symbols.unique(f"{_PREFIX}ready_{name_of(site.b)}")
    site.define_callback(init, "cuda_ready", (STATE,))
    return init


def define_module_state(symbols: Symbols) -> None:
    """Add the state of the module, if it is missing."""
    if STATE not in symbols:
        symbols.variable(STATE, bytes(STATE_SIZE), align=8)


def _begin_safe_call(b: CheckingBuilder, what: str, own: str) -> tuple[Builder, Sequence[Value]]:
    """Begin an exported function of the TVM-FFI C ABI; return its arguments except the handle."""
    t, number = b.types, 1
    name = f"{abi.PREFIX}_cuda_{what}_{own}"
    while name in b.symbols:  # another launch of the same wrapper
        number += 1  # in front of the name, since another wrapper's name may end in a number
        name = f"{abi.PREFIX}_cuda_{what}{number}_{own}"
    f = Builder.define(b.symbols, name, t.i32, [t.ptr, t.ptr, t.i32, t.ptr], "external")
    f.location = b.location
    return f, f.entry.arguments[1:]


def _end(f: Builder, callee: str, operands: Sequence[Value]) -> None:
    """End the function with a call of support code, whose result it returns."""
    f.ret(call_support(f, callee, operands))
    _mark(f)


def _mark(f: Builder) -> None:
    """Mark a finished function as trusted, and turn off LLVM's passes, which gain nothing here."""
    mark_trusted(f.types, f.function, ("noinline", "optnone"))
