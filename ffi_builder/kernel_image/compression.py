"""Decompresses entries of fatbins: LZ4 here, zstd with Python's module or a package."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from ffi_builder.view import View

_MOST: Final = 1 << 31
"""The most bytes of an entry; a larger size is taken for damage."""


class NoDecoderError(Exception):
    """Raised if nothing that reads zstd is installed."""


def unlz4(data: bytes, size: int, view: View, where: str) -> bytes:
    """Decode an LZ4 block to ``size`` bytes.

    The format is in doc/lz4_Block_format.md of the LZ4 project: a token with two lengths, then as
    many literal bytes as the first says, then a distance backwards from which to copy as many bytes
    as the second says.
    """
    _check(size, view, where)
    out = bytearray()
    at, end = 0, len(data)
    try:
        while at < end:
            token = data[at]
            literal, at = _length(data, at + 1, token >> 4)
            if at + literal > end or len(out) + literal > size:
                break
            out += data[at : at + literal]
            at += literal
            if at == end:
                break
            distance = data[at] | data[at + 1] << 8
            copied, at = _length(data, at + 2, token & 15)
            if not 0 < distance <= len(out) or len(out) + copied + 4 > size:
                break
            _copy(out, distance, copied + 4)
    except IndexError:
        pass
    return _checked(bytes(out), size, view, where)


def _length(data: bytes, at: int, first: int) -> tuple[int, int]:
    """Return a length, of which the token has the ``first`` 4 bits, and the offset of its end."""
    total = first
    more = first == 15
    while more:
        total += data[at]
        more = data[at] == 255
        at += 1
    return total, at


def _copy(out: bytearray, distance: int, count: int) -> None:
    """Append ``count`` bytes from ``distance`` back; a range that reaches the end repeats."""
    start = len(out) - distance
    while count:
        part = out[start : start + count]
        out += part
        count -= len(part)


def unzstd(data: bytes, size: int, view: View, where: str) -> bytes:
    """Decode a zstd frame.

    Raises:
        NoDecoderError: if this is not Python 3.14 or later, and zstandard is not installed.
    """
    _check(size, view, where)
    decoder = _zstd()
    try:
        out = decoder(data, size + 1)
    # The decoders' classes of errors have no other common base.
    except Exception as error:
        view.damaged(f"{where} does not decompress: {error}")
    return _checked(out, size, view, where)


def _zstd() -> Callable[[bytes, int], bytes]:
    """Return a function that decodes to at most a number of bytes."""
    try:
        module: Any = import_module("compression.zstd")
    except ImportError:
        pass
    else:
        return lambda data, most: module.ZstdDecompressor().decompress(data, most)
    try:
        package: Any = import_module("zstandard")
    except ImportError as error:
        raise NoDecoderError from error
    return lambda data, most: package.ZstdDecompressor().stream_reader(data).read(most)


def _check(size: int, view: View, where: str) -> None:
    if size > _MOST:
        view.damaged(f"{where} would be {size} bytes when decompressed")


def _checked(out: bytes, size: int, view: View, where: str) -> bytes:
    if len(out) != size:
        view.damaged(f"{where} does not decompress to {size} bytes, as its header says")
    return out
