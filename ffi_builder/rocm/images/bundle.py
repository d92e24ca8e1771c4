"""Reads an offload bundle of Clang: a header, and code for one device each.

    header      "__CLANG_OFFLOAD_BUNDLE__", u64 count
    entry       u64 offset, u64 size, u64 size of the id, id: hipv4-amdgcn-amd-amdhsa--gfx942
    compressed  "CCOB", u16 version, u16 method, sizes of the file and when unpacked, u64 hash

The sizes have 32 bits in version 2 and 64 bits in version 3, and version 1 has only the second.
The method is 0 for zlib and 1 for zstd. The hash is the first half of an MD5. This is as Clang
writes it (OffloadBundler.cpp); its documentation has the layout of bundles that are not compressed.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator
from typing import Final

from ffi_builder import SpecError
from ffi_builder.cuda.images.fatbin import decompressed, unzstd
from ffi_builder.cuda.images.image import Image, image_of_entries
from ffi_builder.extending import elf, install
from ffi_builder.rocm.images.code_object import read_code_object
from ffi_builder.rocm.images.signs import BUNDLE, COMPRESSED, EM_AMDGPU

_COUNT: Final = struct.Struct("<Q")
_ENTRY: Final = struct.Struct("<QQQ")
_HEAD: Final = struct.Struct("<4sHH")
_SIZES: Final = {1: struct.Struct("<IQ"), 2: struct.Struct("<IIQ"), 3: struct.Struct("<QQQ")}
"""What follows the version and the method, by version: sizes, and the hash."""
_MOST: Final = 1 << 31
"""The largest size of an unpacked bundle, in bytes. A larger one is reported as damage."""
_MOST_ID: Final = 256
_HOST: Final = "host-"


def _unzlib(data: bytes, size: int) -> bytes:
    return zlib.decompressobj().decompress(data, size + 1)


_DECODERS: Final = {0: _unzlib, 1: unzstd}
"""The decoder of each method."""


def read_bundle(data: bytes) -> Image:
    """Read an offload bundle; see `ffi_builder.rocm.images.kernels`."""
    view = elf.View(data, "offload bundle", SpecError)
    if data.startswith(COMPRESSED):
        try:
            view = elf.View(_unpacked(view), view.what, view.error)
        except ImportError:
            words = "zstd, which Python reads from 3.14 on"
            reason = f"all entries: compressed by {words}; {install('rocm', 'zstandard')}"
            return Image("offload bundle", (), {}, (reason,))
    images: list[Image] = []
    unread: list[str] = []
    for name, payload in _entries(view):
        if payload.startswith(elf.MAGIC):
            images.append(_image(name, payload))
        else:
            unread.append(f"entry {name!r}: it is no code object, but {_what(payload)}")
    return image_of_entries("offload bundle", images, unread)


def _entries(view: elf.View) -> Iterator[tuple[str, bytes]]:
    """Yield the id and the content of each entry for a device."""
    if view.slice(0, len(BUNDLE), "the header") != BUNDLE:
        view.damaged(f"it does not begin with {BUNDLE.decode()}")
    at = len(BUNDLE)
    (count,) = view.unpack(_COUNT, at, "the number of entries")
    at += _COUNT.size
    left = len(view.data)
    for number in range(1, count + 1):
        where = f"entry {number}"
        offset, size, length = view.unpack(_ENTRY, at, f"the header of {where}")
        at += _ENTRY.size
        if length > _MOST_ID:
            view.damaged(f"the id of {where} would have {length} bytes")
        name = str(view.slice(at, length, f"the id of {where}"), "utf-8", "backslashreplace")
        at += length
        payload = view.slice(offset, size, where)
        left -= size
        if left < 0:
            view.damaged(f"{where} overlaps others: together they are larger than the bundle")
        if not name.startswith(_HOST):
            yield name, payload


def _image(name: str, payload: bytes) -> Image:
    try:
        machine = elf.Elf(payload, "AMD code object", SpecError).header.machine
        if machine != EM_AMDGPU:
            raise SpecError(f"it is for {elf.machine_name(machine)}, not for AMD GPUs")
        return read_code_object(payload)
    except SpecError as error:
        raise SpecError(f"In the offload bundle, entry {name!r}: {error}") from None


def _what(payload: bytes) -> str:
    if payload.startswith(b"BC\xc0\xde"):
        return "LLVM bitcode, which -fgpu-rdc leaves for the linker"
    if payload.startswith(b"\x03\x02\x23\x07"):
        return "SPIR-V, which the runtime compiles"
    return f"{len(payload)} bytes that start with {payload[:8]!r}" if payload else "empty"


def _unpacked(view: elf.View) -> bytes:
    """Return the bundle in a compressed one.

    Raises:
        ImportError: nothing here reads zstd.
    """
    _, version, method = view.unpack(_HEAD, 0, "the header")
    if version not in _SIZES or method not in _DECODERS:
        view.damaged(f"its version is {version} and its method {method}, not 1 to 3 and 0 or 1")
    *total, size, given = view.unpack(_SIZES[version], _HEAD.size, "the header")
    start = _HEAD.size + _SIZES[version].size
    end = total[0] if total else len(view.data)
    if size > _MOST or end < start:
        view.damaged(f"it would be {end} bytes, and {size} bytes when unpacked")
    packed = view.slice(start, end - start, "what is compressed")
    unpacked = decompressed(view, "it does not unpack", _DECODERS[method], packed, size)
    digest = hashlib.md5(unpacked, usedforsecurity=False).digest()[:8]
    if digest != struct.pack("<Q", given):
        view.damaged("what it unpacks to has another hash than its header says")
    return unpacked
