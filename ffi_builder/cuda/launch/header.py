"""Makes ``numbers.h``, so that C and Python have the numbers of ``driver`` from one place.

``tools.support`` writes it into ``ffi_builder/cuda/support``.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Final

from ffi_builder.cuda.launch import driver

_FAMILIES: Final[tuple[tuple[str, type[IntEnum]], ...]] = (
    ("CUDA_ERROR_", driver.Result),
    ("CU_DEVICE_ATTRIBUTE_", driver.DeviceAttribute),
    ("CU_FUNC_ATTRIBUTE_", driver.FunctionAttribute),
    ("CU_JIT_", driver.JitOption),
    ("CU_LAUNCH_ATTRIBUTE_", driver.LaunchAttribute),
)
"""The prefixes of names in the driver's own header."""
_TEXTS: Final = ("LIBRARY", "OLDEST", "FIRST_WIDE", "WATCH", "BLOCKING", "LAUNCH_HOOK", "LOAD_HOOK")
_NUMBERS: Final = (
    "CODE_BITS",
    "CONFIG_SIZE",
    "CONFIG_GRID",
    "CONFIG_BLOCK",
    "CONFIG_SHARED",
    "CONFIG_STREAM",
    "CONFIG_ATTRIBUTES",
    "CONFIG_COUNT",
    "ATTRIBUTE_SIZE",
    "ATTRIBUTE_VALUE",
    "SPECIAL_STREAMS",
    "MAX_PORTABLE_CLUSTER",
    "DEVICES",
    "STATE_SIZE",
    "STATE_WATCH",
    "WATCH_SIZE",
    "WATCH_HOOK",
    "WATCH_LOAD",
    "WATCH_DECIDED",
    "CAPABILITY_SLOTS",
    "CAPABILITY_BITS",
    "LIBRARY_SIZE",
    "KERNEL_HANDLE",
    "KERNEL_PREPARED",
    "KERNEL_SIZE",
    "PREPARED_SHARED",
    "PREPARED_CLUSTER",
    "REQUIRED",
    "TENSOR_MAP_SIZE",
    "MAP_RANK",
    "MAP_ADDRESS",
    "MAP_SIZES",
    "MAP_STRIDES",
    "MAP_BOX",
    "MAP_STEPS",
    "MAP_LOWER",
    "MAP_UPPER",
    "MAP_CHANNELS",
    "MAP_PIXELS",
    "MAP_PLACES",
    "MAP_VALUES",
    "MAP_VALUE",
    "MAP_SLOTS",
)


def text() -> str:
    """Return the header."""
    own = (pair for prefix, family in _FAMILIES for pair in _members(prefix, family))
    mode = [("CU_STREAM_CAPTURE_MODE_RELAXED", driver.CAPTURE_MODE_RELAXED)]
    numbers = ((f"CUDA_{name}", getattr(driver, name)) for name in _NUMBERS)
    functions = ((f"NUMBER_{name}", number) for name, number in driver.NUMBER.items())
    names = "".join(f'    "{name}",\n' for name in driver.FUNCTIONS)
    parts = (
        "// Made from driver.py by ffi_builder/cuda/launch/header.py. Do not edit.\n",
        "#ifndef FFI_BUILDER_CUDA_NUMBERS_H\n#define FFI_BUILDER_CUDA_NUMBERS_H\n",
        "".join(f'#define CUDA_{name} "{getattr(driver, name)}"\n' for name in _TEXTS),
        "// The driver API's own numbers.\n" + _enumeration([*own, *mode]),
        "// Limits, and sizes and offsets in bytes.\n" + _enumeration(numbers),
        "// The functions in the order of a state's table.\n" + _enumeration(functions),
        f"static const char cuda_function_names[{len(driver.FUNCTIONS)}]"
        f"[{driver.NAME_STRIDE}] = {{\n{names}}};\n",
        "// The names of launch attributes by their numbers.\n" + _attribute_names(),
        "#endif\n",
    )
    return "\n".join(parts)


def _attribute_names() -> str:
    family = driver.LaunchAttribute
    names = "".join(f'    [{each.value}] = "{each.name.lower()}",\n' for each in family)
    return f"static const char cuda_attribute_names[][{driver.NAME_STRIDE}] = {{\n{names}}};\n"


def _members(prefix: str, family: type[IntEnum]) -> Iterable[tuple[str, int]]:
    for member in family:
        yield f"{prefix}{member.name}".replace("ERROR_SUCCESS", "SUCCESS"), int(member)


def _enumeration(members: Iterable[tuple[str, int]]) -> str:
    lines = "".join(f"  {name} = {number},\n" for name, number in members)
    return f"enum {{\n{lines}}};\n"
