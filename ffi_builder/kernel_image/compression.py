"""Decompressing what is in a fatbin: LZ4 here, zstd with what Python has for it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from ffi_builder.view import View

_MOST: Final = 1 << 31
"""More than this is no kernel."""


class NoDecoderError(Exception):
    """Nothing that reads zstd is installed."""


def unlz4(data: bytes, size: int, view: View, where: str) -> bytes:
    """Decode an LZ4 block, of which it is known how large it becomes.

    The block format is that of the LZ4 project, doc/lz4_Block_format.md: a token with two lengths,
    that many bytes as they are, then a distance backwards and how many bytes to copy from there.
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
    """A length whose first four bits are in the token, and where it ends."""
    total = first
    if first == 15:
        while True:
            total += data[at]
            at += 1
            if data[at - 1] != 255:
                break
    return total, at


def _copy(out: bytearray, distance: int, count: int) -> None:
    """Append bytes from so far back; what they reach over is repeated."""
    start = len(out) - distance
    while count:
        part = out[start : start + count]
        out += part
        count -= len(part)


def unzstd(data: bytes, size: int, view: View, where: str) -> bytes:
    """Decode a zstd frame.

    Raises:
        NoDecoderError: neither Python (from 3.14 on) nor the package zstandard can.
    """
    _check(size, view, where)
    decoder = _zstd()
    try:
        out = decoder(data, size + 1)
    # Their own classes of errors have no common base but this.
    except Exception as error:
        view.damaged(f"{where} does not decompress: {error}")
    return _checked(out, size, view, where)


def _zstd() -> Callable[[bytes, int], bytes]:
    """A function that decodes at most so many bytes."""
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
        view.damaged(f"{where} does not decompress to the {size} bytes that it should have")
    return out
