"""Recognises sources of ``wrap``, which asks about every source: only then is the rest imported."""

from __future__ import annotations

from typing import Any, Final

from ffi_builder.extending import elf, importing
from ffi_builder.rocm.images.signs import is_image

_EXPORTED: Final = b"__module_init"
"""What the name of a function ends with that FlyDSL exports."""


def read(source: object, data: object, *, launched: bool) -> Any:
    """Read an image, what Triton compiled for ``hip``, or an object of FlyDSL's; None for all else.

    Raises:
        CompileError: FlyDSL's object is damaged.
    """
    is_tritons = "hsaco" in getattr(source, "asm", ()) and hasattr(source, "metadata")
    if is_tritons or (isinstance(data, bytes) and is_image(data)):
        return importing.load("ffi_builder.rocm.wrapped").read(source, data)
    if isinstance(data, bytes) and data.startswith(elf.MAGIC) and _EXPORTED in data:
        return importing.load("ffi_builder.rocm.flydsl.wrapped").read(data)
    return None
