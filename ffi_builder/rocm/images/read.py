"""`kernels`, which recognizes code objects and offload bundles, and names others in errors."""

from __future__ import annotations

from typing import Final

from ffi_builder import SpecError
from ffi_builder.cuda.images.embedded import launched as launched
from ffi_builder.cuda.images.image import Image
from ffi_builder.extending import elf, formats
from ffi_builder.rocm.images.bundle import read_bundle
from ffi_builder.rocm.images.code_object import read_code_object
from ffi_builder.rocm.images.signs import EM_AMDGPU, is_bundle
from ffi_builder.rocm.images.signs import is_image as is_image

_EXPECTED: Final = "image: expected an AMD code object or an offload bundle of Clang, but it"
_SHOWN: Final = 16


def kernels(data: bytes | bytearray | memoryview) -> Image:
    r"""Read the targets of an image for AMD GPUs, and its kernels with their parameters.

    Nothing is executed or loaded, and no driver is needed. Arguments that the runtime fills (the
    hidden ones) are left out.

    Args:
        data: a code object (``.hsaco``, ``.co``), or an offload bundle of Clang with several.

    Raises:
        SpecError: if it has another format (the message says which), is not linked, or is truncated
            or damaged.
        TypeError: if it is not bytes.

    Examples:
        >>> from ffi_builder import rocm
        >>> rocm.kernels(b"\0asm")
        Traceback (most recent call last):
        ...
        ffi_builder.errors.SpecError: image: expected an AMD code object or an offload bundle of
            Clang, but it is WebAssembly: compile the source for this machine
    """
    if not isinstance(data, bytes | bytearray | memoryview):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"image: expected bytes but got {data!r} ({type(data).__name__})")
    raw = bytes(data)
    if is_bundle(raw):
        return read_bundle(raw)
    if raw.startswith(elf.MAGIC):
        machine = elf.Elf(raw, "AMD code object", SpecError).header.machine
        if machine == EM_AMDGPU:
            return read_code_object(raw)
        raise SpecError(f"{_EXPECTED} is an object or library for {elf.machine_name(machine)}")
    raise SpecError(f"{_EXPECTED} {_looks(raw)}")


def _looks(raw: bytes) -> str:
    if not raw:
        return "is empty"
    words = formats.format_of(raw)
    more = "…" if len(raw) > _SHOWN else ""
    return f"is {words}" if words else f"starts with {raw[:_SHOWN]!r}{more} ({len(raw)} bytes)"
