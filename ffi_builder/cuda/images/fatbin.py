"""Reads a fatbin: a header, and entries with code for one architecture each.

    header  u32 magic, u16 version, u16 header size, u64 size of all entries
    entry   u16 kind, u16 version, u32 header size, u64 payload size, u32 compressed size, …,
            u32 architecture, …, u64 flags, u64 0, u64 decompressed size

NVIDIA documents only the magic number (fatbinary_section.h). The rest is as nvcc 13.0 and fatbinary
13.5 write it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Final

from ffi_builder import SpecError
from ffi_builder.cuda.images.cubin import read_cubin
from ffi_builder.cuda.images.image import Image, image_of_entries
from ffi_builder.cuda.images.ptx import read_ptx
from ffi_builder.extending import dataclass, elf, importing, install

MAGIC: Final = b"\x50\xed\x55\xba"

_HEADER = struct.Struct("<4sHHQ")
_ENTRY = struct.Struct("<HHIQI8xI8xQ8xQ")
_VERSION: Final = 1
_PTX, _ELF = 1, 2
_KINDS: Final = {_PTX: "PTX", _ELF: "code", 8: "LTO IR"}
_SUFFIXES: Final = ((0x100000, "a"), (0x200000, "f"))
_MOST: Final = 1 << 31
"""The largest size of an entry, in bytes. A larger one is reported as damage."""


def _unlz4(data: bytes, size: int) -> bytes:
    return importing.load("lz4.block").decompress(data, uncompressed_size=size)


def unzstd(data: bytes, size: int) -> bytes:
    """Decompress to at most ``size + 1`` bytes. Raise ImportError where nothing reads zstd."""
    try:
        decoder = importing.load("compression.zstd").ZstdDecompressor()
    except ImportError:  # before Python 3.14
        decoder = importing.load("zstandard").ZstdDecompressor()
        return decoder.stream_reader(data).read(size + 1)
    return decoder.decompress(data, size + 1)


_DECODERS: Final[dict[int, tuple[str, str, Callable[[bytes, int], bytes]]]] = {
    0x2000: ("LZ4", "lz4", _unlz4),
    0x8000: ("zstd, which Python reads from 3.14 on", "zstandard", unzstd),
}
"""The name, the package and the decoder of each compression, by its flag."""


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
    """Read a fatbin; see `ffi_builder.cuda.images.kernels`."""
    view = elf.View(data, "fatbin", SpecError)
    images: list[Image] = []
    unread: list[str] = []
    for entry in _entries(view):
        image = _image(entry, view)
        if isinstance(image, str):
            unread.append(f"{entry}: {image}")
            image = Image("fatbin", (entry.architecture,), {})
        images.append(image)
    return image_of_entries("fatbin", images, unread)


def _entries(view: elf.View) -> Iterator[_Entry]:
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
        if any(flags & bit for bit in _DECODERS):
            payload = payload[:compressed]
        yield _Entry(number, kind, architecture, flags, payload, plain)
        at += header + length


def _image(entry: _Entry, view: elf.View) -> Image | str:
    """Return the image in an entry, or the reason why the entry is not read."""
    if entry.kind not in (_PTX, _ELF):
        return "not a kind that kernels are read from"
    payload = entry.payload
    for bit, (compression, package, decode) in _DECODERS.items():
        if entry.flags & bit:
            if entry.size > _MOST:
                view.damaged(f"{entry} would be {entry.size} bytes when decompressed")
            try:
                fails = f"{entry} does not decompress"
                payload = decompressed(view, fails, decode, entry.payload, entry.size)
            except ImportError:
                return f"compressed by {compression}; {install('cuda', package)}"
    try:
        if entry.kind == _ELF:
            return read_cubin(payload)
        return read_ptx(payload.rstrip(b"\0").decode(errors="backslashreplace"))
    except SpecError as error:
        raise SpecError(f"In the fatbin, {entry}: {error}") from None


def decompressed(
    view: elf.View, fails: str, decode: Callable[[bytes, int], bytes], data: bytes, size: int
) -> bytes:
    """Return the content of so many bytes; ``fails`` begins the errors of ``view`` for others.

    Raises:
        ImportError: nothing here reads this compression.
    """
    try:
        content = decode(data, size)
    except ImportError:
        raise
    except Exception as error:  # the decoders' errors have no other common base class
        view.damaged(f"{fails}: {error}")
    if len(content) != size:
        view.damaged(f"{fails} to {size} bytes, as its header says")
    return content
