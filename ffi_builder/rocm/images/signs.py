"""How images for AMD GPUs begin. Little is imported for it: `wrap` asks this about every source."""

from __future__ import annotations

from typing import Final

from ffi_builder.extending import elf

BUNDLE: Final = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED: Final = b"CCOB"
EM_AMDGPU: Final = 224
_MACHINE: Final = slice(18, 20)


def is_code_object(data: bytes) -> bool:
    """Return whether it begins as an ELF file for AMD GPUs does."""
    machine = int.from_bytes(data[_MACHINE], "little")
    return data.startswith(elf.MAGIC) and len(data) >= elf.EHDR.size and machine == EM_AMDGPU


def is_bundle(data: bytes) -> bool:
    """Return whether it begins as an offload bundle of Clang does, compressed or not."""
    return data.startswith((BUNDLE, COMPRESSED))


def is_image(data: bytes) -> bool:
    """Return whether `kernels` reads such bytes, if they are whole."""
    return is_code_object(data) or is_bundle(data)
