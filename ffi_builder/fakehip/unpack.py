"""Unpacks an offload bundle that is compressed, as HIP does before it reads it."""

from __future__ import annotations

import struct
import zlib
from typing import Final

from ffi_builder.extending import importing

_HEADERS: Final = {2: struct.Struct("<4sHHIIQ"), 3: struct.Struct("<4sHHQQQ")}
"""The magic, the version, the method, the size of the file and when unpacked, a hash."""
_ZLIB, _ZSTD = 0, 1
_MOST: Final = 1 << 28


def unpacked(data: bytes) -> bytes:
    """Return the bundle.

    Raises:
        ValueError: it is damaged, or larger than the fake reads.
        ModuleNotFoundError: nothing reads zstd: before Python 3.14, the package zstandard does.
    """
    version, method = struct.unpack_from("<HH", data, 4)
    if version not in _HEADERS or method not in (_ZLIB, _ZSTD):
        raise ValueError(f"FakeHip: a bundle of version {version} and method {method}")
    header = _HEADERS[version]
    *_, size, _ = header.unpack_from(data)
    if size > _MOST:
        raise ValueError(f"FakeHip: a bundle of {size} bytes, and it reads {_MOST} at most")
    content = data[header.size :]
    bundle = zlib.decompress(content) if method == _ZLIB else _unzstd(content, size)
    if len(bundle) != size:
        raise ValueError(f"FakeHip: a bundle unpacks to {len(bundle)} bytes instead of {size}")
    return bundle


def _unzstd(data: bytes, size: int) -> bytes:
    try:
        return importing.load("compression.zstd").decompress(data)
    except ImportError:  # before Python 3.14
        return importing.load("zstandard").decompress(data, max_output_size=size)
