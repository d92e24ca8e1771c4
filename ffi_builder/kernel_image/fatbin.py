"""Reads a fatbin: a header, and entries with code for one architecture each.

    header  u32 magic, u16 version, u16 header size, u64 size of all entries
    entry   u16 kind, u16 version, u32 header size, u64 payload size, u32 compressed size, …,
            u32 architecture, …, u64 flags, u64 0, u64 decompressed size

NVIDIA documents only the magic number (fatbinary_section.h). The rest is as nvcc 13.0 and fatbinary
13.5 write it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from ffi_builder.errors import SpecError
from ffi_builder.kernel_image.compression import NoDecoderError, unlz4, unzstd
from ffi_builder.kernel_image.cubin import read_cubin
from ffi_builder.kernel_image.image import Image, Kernel, merged
from ffi_builder.kernel_image.ptx import read_ptx
from ffi_builder.records import dataclass
from ffi_builder.view import View

MAGIC: Final = b"\x50\xed\x55\xba"

_HEADER = struct.Struct("<4sHHQ")
_ENTRY = struct.Struct("<HHIQI8xI8xQ8xQ")
_VERSION: Final = 1
_PTX, _ELF = 1, 2
_KINDS: Final = {_PTX: "PTX", _ELF: "code", 8: "LTO IR"}
_SUFFIXES: Final = ((0x100000, "a"), (0x200000, "f"))
_LZ4, _ZSTD = 0x2000, 0x8000


@dataclass(frozen=True)
class _Entry:
    number: int
    kind: int
    architecture: str
    flags: int
    payload: bytes
    size: int
    """The size of the decompressed payload."""

    def __str__(self) -> str:
        kind = _KINDS.get(self.kind, f"an entry of kind {self.kind}")
        return f"entry {self.number}, {kind} for {self.architecture}"


def read_fatbin(data: bytes) -> Image:
    """Read a fatbin; see `ffi_builder.kernel_image.read_image`."""
    view = View(data, "fatbin", SpecError)
    architectures: dict[str, None] = {}
    kernels: dict[str, list[tuple[str, Kernel]]] = {}
    unread: list[str] = []
    for entry in _entries(view):
        image = _image(entry, view)
        if isinstance(image, str):
            unread.append(f"{entry}: {image}")
            architectures[entry.architecture] = None
            continue
        architectures.update(dict.fromkeys(image.architectures))
        for name, kernel in image.kernels.items():
            kernels.setdefault(name, []).append((image.architectures[0], kernel))
    return Image(
        "fatbin",
        tuple(architectures),
        {name: merged(same) for name, same in kernels.items()},
        tuple(unread),
    )


def _entries(view: View) -> Iterator[_Entry]:
    _, version, at, size = view.unpack(_HEADER, 0, "the header")
    if version != _VERSION or at < _HEADER.size:
        view.damaged(f"its version is {version} and its header {at} bytes, not 1 and 16")
    view.slice(at, size, "all entries together")
    end = at + size
    number = 0
    while at < end:
        number += 1
        where = f"entry {number}"
        kind, _, header, length, compressed, sm, flags, plain = view.unpack(_ENTRY, at, where)
        if header < _ENTRY.size:
            view.damaged(f"the header of {where} would have {header} bytes, not {_ENTRY.size}")
        if at + header + length > end:
            view.damaged(f"{where} would end at byte {at + header + length} of {end}")
        payload = view.slice(at + header, length, where)
        suffix = next((letter for bit, letter in _SUFFIXES if flags & bit), "")
        architecture = f"{'compute' if kind == _PTX else 'sm'}_{sm}{suffix}"
        if flags & (_LZ4 | _ZSTD):
            payload = payload[:compressed]
        yield _Entry(number, kind, architecture, flags, payload, plain)
        at += header + length


def _image(entry: _Entry, view: View) -> Image | str:
    """Return the image in an entry, or the reason why it is not read."""
    if entry.kind not in (_PTX, _ELF):
        return "not a kind that kernels are read from"
    payload = entry.payload
    try:
        if entry.flags & _LZ4:
            payload = unlz4(payload, entry.size, view, str(entry))
        elif entry.flags & _ZSTD:
            payload = unzstd(payload, entry.size, view, str(entry))
    except NoDecoderError:
        return "compressed by zstd, which Python reads from 3.14 on, or with the package zstandard"
    try:
        if entry.kind == _ELF:
            return read_cubin(payload)
        return read_ptx(payload.rstrip(b"\0").decode(errors="backslashreplace"))
    except SpecError as error:
        raise SpecError(f"In the fatbin, {entry}: {error}") from None
