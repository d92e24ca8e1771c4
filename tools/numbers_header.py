"""Makes ``numbers.h``, so that C and Python have the numbers of a vendor of GPUs from one place.

``tools.support`` writes it into ``ffi_builder/cuda/support``; ``tools/rocm_numbers.py`` makes that
of AMD. What only the C knows is here, and what Python shares with it in ``cuda/launch/driver.py``.
Source: ``cuda.h`` of CUDA 12.0 to 13.5; ``tests/cuda/test_numbers.py`` compares them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from ffi_builder.cuda.launch import driver
from ffi_builder.cuda.launch.vendor import CUDA, Vendor

NAME_STRIDE: Final = 40
"""Bytes of each name in the constant that has all names."""
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


class JitOption(IntEnum):
    """``CUjit_option``."""

    ERROR_LOG_BUFFER = 5
    ERROR_LOG_BUFFER_SIZE_BYTES = 6


@dataclass(frozen=True)
class Numbers:
    """The numbers and names of a vendor for the C code."""

    vendor: Vendor
    api: str
    """The name whose versions the library has."""
    runtime: str
    """The product that the library belongs to."""
    library: str
    oldest: str
    """The first version that has all functions."""
    version: tuple[int, int]
    """By what the library's number of its version is divided for the major and the minor one."""
    functions: Mapping[str, str]
    """The library's names by those in C, in the order of a module's table."""
    required: str
    """This function and all further ones may be missing."""
    families: Sequence[tuple[str, type[IntEnum]]]
    """The enumerations that C knows, with the prefixes of their names in C."""
    sizes: Mapping[str, int]
    """More numbers, by their names without ``CUDA_``."""


def named(*beginnings: str) -> dict[str, int]:
    """Return the driver's numbers whose names have one of these beginnings, in their order."""
    return {name: value for name, value in vars(driver).items() if name.startswith(beginnings)}


NVIDIA: Final = Numbers(
    vendor=CUDA,
    api="CUDA",
    runtime="the NVIDIA driver",
    library=driver.LIBRARY,
    oldest="12.0",  # which has cuLibrary*, cuKernel* and cuLaunchKernelEx
    version=(1000, 10),
    functions={name: name for name in driver.FUNCTIONS},
    required="cuTensorMapEncodeTiled",  # only maps and launches that are watched call the rest
    families=(
        ("CUDA_ERROR_", driver.Result),
        ("CU_DEVICE_ATTRIBUTE_", DeviceAttribute),
        ("CU_FUNC_ATTRIBUTE_", FunctionAttribute),
        ("CU_JIT_", JitOption),
        ("CU_LAUNCH_ATTRIBUTE_", driver.LaunchAttribute),
    ),
    sizes=named("MAX_PORTABLE_", "KERNEL_PREPARED", "PREPARED_", "TENSOR_MAP_SIZE", "MAP_"),
)
_TEXTS: Final = {
    "FIRST_WIDE": "12.8",  # the first CUDA whose driver has cuTensorMapEncodeIm2colWide
    "WATCH": driver.WATCH,
    "BLOCKING": "FFI_BUILDER_LAUNCH_BLOCKING",
    "LAUNCH_HOOK": driver.LAUNCH_HOOK,
    "LOAD_HOOK": driver.LOAD_HOOK,
}
_NUMBERS: Final = {
    **named("CODE_", "CONFIG_", "ATTRIBUTE_", "SPECIAL_STREAMS", "DEVICES"),
    # The CudaWatch of a process: four bytes, which wrappers read at once, and two int32_t. The
    # first byte is that of the variable for blocking, and then that of each hook.
    "WATCH_SIZE": 12,
    "WATCH_HOOK": 1,
    "WATCH_LOAD": 2,
    "WATCH_DECIDED": 4,
    **named("CAPABILITY_"),
    "KERNEL_HANDLE": 0,
}


def text(of: Numbers = NVIDIA) -> str:
    """Return the header."""
    vendor, functions = of.vendor, list(of.functions)
    texts = {
        "LIBRARY": of.library,
        "API": of.api,
        "RUNTIME": of.runtime,
        "OLDEST": of.oldest,
        **_TEXTS,
    }
    numbers = {
        **_NUMBERS,
        **of.sizes,
        "STATE_SIZE": vendor.state_size,
        "STATE_WATCH": 8 * len(functions),
        "LIBRARY_SIZE": vendor.library_size,
        "KERNEL_SIZE": vendor.kernel_size,
        "REQUIRED": functions.index(of.required),
        "MAJOR": of.version[0],
        "MINOR": of.version[1],
    }
    own = (pair for prefix, family in of.families for pair in _members(prefix, family))
    mode = [("CU_STREAM_CAPTURE_MODE_RELAXED", CAPTURE_MODE_RELAXED)]
    order = ((f"NUMBER_{name}", number) for number, name in enumerate(functions))
    names = "".join(f'    "{name}",\n' for name in of.functions.values())
    parts = (
        "// Made by `make support` from tools/numbers_header.py. Do not edit.\n",
        "#ifndef FFI_BUILDER_CUDA_NUMBERS_H\n#define FFI_BUILDER_CUDA_NUMBERS_H\n",
        "".join(f'#define CUDA_{name} "{value}"\n' for name, value in texts.items()),
        "// The driver API's own numbers.\n" + _enumeration([*own, *mode]),
        "// Limits, and sizes and offsets in bytes.\n"
        + _enumeration((f"CUDA_{name}", number) for name, number in numbers.items()),
        "// The functions in the order of a state's table.\n" + _enumeration(order),
        f"static const char cuda_function_names[{len(functions)}]"
        f"[{NAME_STRIDE}] = {{\n{names}}};\n",
        "// The names of launch attributes by their numbers.\n" + _attribute_names(),
        "#endif\n",
    )
    return "\n".join(parts)


def _attribute_names() -> str:
    family = driver.LaunchAttribute
    names = "".join(f'    [{each.value}] = "{each.name.lower()}",\n' for each in family)
    return f"static const char cuda_attribute_names[][{NAME_STRIDE}] = {{\n{names}}};\n"


def _members(prefix: str, family: type[IntEnum]) -> Iterable[tuple[str, int]]:
    for member in family:
        yield f"{prefix}{member.name}".replace("ERROR_SUCCESS", "SUCCESS"), int(member)


def _enumeration(members: Iterable[tuple[str, int]]) -> str:
    lines = "".join(f"  {name} = {number},\n" for name, number in members)
    return f"enum {{\n{lines}}};\n"
