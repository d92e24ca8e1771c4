"""Makes ``numbers.h``, so that C and Python have the numbers of a vendor from one place.

``tools.support`` writes it into ``ffi_builder/cuda/support``, and that of AMD into
``ffi_builder/rocm/support``.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Final

from ffi_builder.cuda.launch import driver
from ffi_builder.cuda.launch.vendor import CUDA, Vendor, named

_TEXTS: Final = ("FIRST_WIDE", "WATCH", "BLOCKING", "LAUNCH_HOOK", "LOAD_HOOK")
_NUMBERS: Final = (
    *("CODE_", "CONFIG_", "ATTRIBUTE_", "SPECIAL_STREAMS", "DEVICES", "WATCH_", "CAPABILITY_"),
    "KERNEL_HANDLE",
)
"""Beginnings of the names of the driver's numbers that the C uses."""


def text(vendor: Vendor = CUDA) -> str:
    """Return the header."""
    texts = {
        "LIBRARY": vendor.library,
        "API": vendor.api,
        "RUNTIME": vendor.runtime,
        "OLDEST": vendor.oldest,
        **{name: getattr(driver, name) for name in _TEXTS},
    }
    numbers = {
        **named(_NUMBERS),
        **vendor.sizes,
        "STATE_SIZE": vendor.state_size,
        "STATE_WATCH": 8 * len(vendor.functions),
        "LIBRARY_SIZE": vendor.library_size,
        "KERNEL_SIZE": vendor.kernel_size,
        "REQUIRED": vendor.required,
        "MAJOR": vendor.version[0],
        "MINOR": vendor.version[1],
    }
    own = (pair for prefix, family in vendor.families for pair in _members(prefix, family))
    mode = [("CU_STREAM_CAPTURE_MODE_RELAXED", driver.CAPTURE_MODE_RELAXED)]
    functions = ((f"NUMBER_{name}", number) for number, name in enumerate(vendor.functions))
    names = "".join(f'    "{name}",\n' for name in vendor.functions.values())
    parts = (
        "// Made from Python by ffi_builder/cuda/launch/header.py. Do not edit.\n",
        "#ifndef FFI_BUILDER_CUDA_NUMBERS_H\n#define FFI_BUILDER_CUDA_NUMBERS_H\n",
        "".join(f'#define CUDA_{name} "{value}"\n' for name, value in texts.items()),
        "// The driver API's own numbers.\n" + _enumeration([*own, *mode]),
        "// Limits, and sizes and offsets in bytes.\n"
        + _enumeration((f"CUDA_{name}", number) for name, number in numbers.items()),
        "// The functions in the order of a state's table.\n" + _enumeration(functions),
        f"static const char cuda_function_names[{len(vendor.functions)}]"
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
