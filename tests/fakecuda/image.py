"""Images to load without a compiler: cubins, fatbins and PTX with kernels that do nothing.

A cubin is an ELF-64 file for machine 190. Its layout here is that of NVRTC 12.6 (``abi=7``) and 13.5
(``abi=8``), as far as a driver or a reader of parameters looks at it; ``tests/cuda/test_images.py``
compares the two. The code is zeros: no device would run it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

EM_CUDA: Final = 190
TENSOR_MAP: Final = 128
"""Bytes of a CUtensorMap."""

_OS_ABI: Final = {7: 0x33, 8: 0x41}
_SHT_PROGBITS, _SHT_SYMTAB, _SHT_STRTAB, _SHT_NOBITS = 1, 2, 3, 8
_SHT_CUDA_INFO, _SHT_CUDA_COMPAT = 0x70000000, 0x70000086
_ALLOC_INFO, _EXECUTE, _WRITE, _INFO = 0x42, 0x6, 0x43, 0x40  # section flags
_STO_CUDA_ENTRY: Final = 0x10
_RESERVED_SHARED: Final = 1024
"""Bytes at the start of shared memory that belong to the system, from sm_90 on."""

_PARAM_BITS: Final = 0x1F000
"""The bits beside the size, in the last word of a parameter."""
_LARGEST: Final = (1 << 14) - 1
"""Bytes: the size has 14 bits, and a larger one another attribute."""


@dataclass(frozen=True)
class KernelImage:
    """One kernel of an image.

    ``parameters`` are sizes in bytes. Each stands at the next multiple of its alignment: the largest
    power of two that divides its size, at most 16; a CUtensorMap's is 64.
    """

    name: str
    parameters: Sequence[int] = ()
    registers: int = 8
    shared: int = 0
    """Static shared memory, bytes."""
    max_threads: int | None = None
    cluster: tuple[int, int, int] | None = None
    tile: bool = False
    """Whether all kernels of the cubin are tile kernels, by a symbol that NVIDIA's tileiras adds."""

    def offsets(self, base: int = 0) -> list[int]:
        """Return the offsets of parameters, if the first may be at the address ``base``."""
        found: list[int] = []
        at = base
        for size in self.parameters:
            alignment = 64 if size == TENSOR_MAP else min(size & -size, 16)
            at += -at % alignment
            found.append(at - base)
            at += size
        return found


@dataclass
class _Section:
    name: str
    type: int
    data: bytes = b""
    flags: int = 0
    link: int = 0
    info: int = 0
    alignment: int = 4
    entry: int = 0
    size: int | None = None
    """The size of a section that has no bytes in the file."""


@dataclass
class _Strings:
    data: bytearray = field(default_factory=lambda: bytearray(b"\0"))

    def add(self, text: str) -> int:
        at = len(self.data)
        self.data += text.encode() + b"\0"
        return at


def parameter_base(sm: int) -> int:
    """The offset in constant bank 0 at which parameters begin."""
    return 0x160 if sm < 90 else 0x210 if sm < 100 else 0x380


def _sized(attribute: int, data: bytes) -> bytes:
    return struct.pack("<BBH", 4, attribute, len(data)) + data


def _kernel_info(kernel: KernelImage, constants: int, base: int) -> bytes:
    """.nv.info.NAME; ``constants`` is the symbol of the section that holds the parameters."""
    offsets = kernel.offsets(base)
    large = any(size > _LARGEST for size in kernel.parameters)
    parts = [_sized(0x37, struct.pack("<I", 0x87))]
    for ordinal in reversed(range(len(offsets))):
        size = kernel.parameters[ordinal]
        last = size if large else size << 18 | _PARAM_BITS
        entry = struct.pack("<IHHI", 0, ordinal, offsets[ordinal], last)
        parts.append(_sized(0x45 if large else 0x17, entry))
    if kernel.cluster is not None:
        parts += [
            struct.pack("<BBH", 1, 0x3E, 0),
            _sized(0x3D, struct.pack("<3I", *kernel.cluster)),
        ]
    parts.append(struct.pack("<BBH", 3, 0x1B, 0xFF))
    if kernel.max_threads is not None:
        parts.append(_sized(0x05, struct.pack("<3I", kernel.max_threads, 1, 1)))
    if offsets:
        total = offsets[-1] + kernel.parameters[-1]
        parts.append(struct.pack("<BBH", 3, 0x19, total))
        parts.append(_sized(0x0A, struct.pack("<IHH", constants, base, total)))
    return b"".join(parts)


def make_cubin(
    kernels: Sequence[KernelImage], *, sm: int = 90, exact: bool = False, abi: int = 8
) -> bytes:
    """A cubin for ``sm_{sm}``, or with ``exact`` for ``sm_{sm}a``.

    ``abi`` is the ABI version in the header: 7 up to CUDA 12, 8 from CUDA 13 on.
    """
    count = len(kernels)
    common = 6 if abi >= 8 else 5  # sections before the first .nv.info.NAME
    text, constant = common + count, common + 3 * count
    names, symbols = _symbols(kernels, text, constant)
    first_function = 1 + 2 * count
    registers = b"".join(
        _sized(0x2F, struct.pack("<II", first_function + index, kernel.registers))
        for index, kernel in enumerate(kernels)
    )
    sections = [
        _Section("", 0, alignment=0),
        _Section(".shstrtab", _SHT_STRTAB, alignment=1),
        _Section(".strtab", _SHT_STRTAB, names, alignment=1),
        _Section(".symtab", _SHT_SYMTAB, symbols, 0, 2, first_function, alignment=8, entry=24),
        _Section(".nv.info", _SHT_CUDA_INFO, registers, link=3),
    ]
    if abi >= 8:
        compat = struct.pack("<BBH", 2, 9, int(exact)) + struct.pack("<BBH", 2, 12, 0)
        sections.append(_Section(".nv.compat", _SHT_CUDA_COMPAT, compat))
    each = [_kernel_sections(kernel, i, text, count, sm) for i, kernel in enumerate(kernels)]
    for same in zip(*each, strict=True):
        sections += same
    flags = 0x06000004 | sm << 8 if abi >= 8 else sm << 16 | 0x500 | int(exact) << 11 | sm
    return _link(sections, flags, abi)


def _symbols(kernels: Sequence[KernelImage], text: int, constant: int) -> tuple[bytes, bytes]:
    """Names and table: a symbol for each .text and each .nv.constant0, then the kernels."""
    names = _Strings()
    symbols = [bytes(24)]
    for index in range(len(kernels)):
        symbols.append(struct.pack("<IBBHQQ", 0, 3, 0, text + index, 0, 0))
        symbols.append(struct.pack("<IBBHQQ", 0, 3, 0, constant + index, 0, 0))
    for index, kernel in enumerate(kernels):
        name = names.add(kernel.name)
        symbols.append(struct.pack("<IBBHQQ", name, 0x12, _STO_CUDA_ENTRY, text + index, 0, 128))
    if any(kernel.tile for kernel in kernels):
        name = names.add("___NV_TILE_LAUNCH_META_DATA___")
        symbols.append(struct.pack("<IBBHQQ", name, 0x11, 0, text, 0, 64))
    return bytes(names.data), b"".join(symbols)


def _kernel_sections(
    kernel: KernelImage, index: int, text: int, count: int, sm: int
) -> list[_Section]:
    """Return a kernel's info, code, shared memory and constants. ``text`` is the first code."""
    base, offsets = parameter_base(sm), kernel.offsets(parameter_base(sm))
    info = _kernel_info(kernel, 2 + 2 * index, base)
    shared = kernel.shared + (_RESERVED_SHARED if sm >= 90 else 0)
    total = base + (offsets[-1] + kernel.parameters[-1] if offsets else 0)
    of, symbol = text + index, 1 + 2 * count + index
    return [
        _Section(f".nv.info.{kernel.name}", _SHT_CUDA_INFO, info, _INFO, 3, of),
        _Section(
            f".text.{kernel.name}", _SHT_PROGBITS, bytes(128), _EXECUTE, 3, symbol, alignment=128
        ),
        _Section(
            f".nv.shared.{kernel.name}",
            _SHT_NOBITS,
            flags=_WRITE,
            info=of,
            alignment=16,
            size=shared,
        ),
        _Section(f".nv.constant0.{kernel.name}", _SHT_PROGBITS, bytes(total), _ALLOC_INFO, info=of),
    ]


def _link(sections: list[_Section], flags: int, abi: int) -> bytes:
    """The file: header, contents, section headers."""
    names = _Strings()
    indices = [names.add(section.name) if section.name else 0 for section in sections]
    sections[1].data = bytes(names.data)
    body = bytearray(64)
    headers = bytearray()
    for name, section in zip(indices, sections, strict=True):
        body += bytes(-len(body) % max(section.alignment, 1))
        size = len(section.data) if section.size is None else section.size
        offset = len(body) if section.type else 0
        headers += struct.pack(
            "<IIQQQQIIQQ",
            *(name, section.type, section.flags, 0, offset, size),
            *(section.link, section.info, section.alignment, section.entry),
        )
        body += section.data
    body += bytes(-len(body) % 8)
    identity = b"\x7fELF" + bytes([2, 1, 1, _OS_ABI[abi], abi]).ljust(12, b"\0")
    header = struct.pack(
        "<16sHHIQQQIHHHHHH",
        *(identity, 2, EM_CUDA, 1, 0, 0, len(body), flags, 64, 56, 0, 64, len(sections), 1),
    )
    body[:64] = header
    return bytes(body + headers)


def make_ptx(
    kernels: Sequence[KernelImage], *, version: str = "8.0", target: str = "sm_90"
) -> bytes:
    """PTX, with its final NUL."""
    lines = [f".version {version}", f".target {target}", ".address_size 64", ""]
    plain = {1: ".u8", 2: ".u16", 4: ".u32", 8: ".u64"}
    for kernel in kernels:
        parameters: list[str] = []
        for index, size in enumerate(kernel.parameters):
            alignment = 64 if size == TENSOR_MAP else min(size & -size, 16)
            type_ = plain.get(size, f".align {alignment} .b8")
            array = "" if size in plain else f"[{size}]"
            parameters.append(f"\t.param {type_} {kernel.name}_param_{index}{array}")
        listed = "(\n" + ",\n".join(parameters) + "\n)" if parameters else "()"
        threads = "" if kernel.max_threads is None else f"\n.maxntid {kernel.max_threads}, 1, 1"
        if kernel.cluster is not None:
            threads += f"\n.reqnctapercluster {', '.join(map(str, kernel.cluster))}"
        lines += [f".visible .entry {kernel.name}{listed}{threads}", "{", "\tret;", "}", ""]
    return "\n".join(lines).encode() + b"\0"


def make_fatbin(entries: Sequence[tuple[bytes, int]]) -> bytes:
    """A fatbin of cubins and PTX, none compressed, each with the SM that it is for."""
    body = b""
    for image, sm in entries:
        is_cubin = image.startswith(b"\x7fELF")
        data = image + bytes(-len(image) % 8)
        minor, major = (8, 1) if is_cubin else (0, 8)
        body += struct.pack(
            "<HHIQIIHHIIIQQQ",
            *(2 if is_cubin else 1, 0x101, 64, len(data), 0, 0, minor, major, sm, 64, 0),
            *(0x11, 0, 0),
        )
        body += data
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body
