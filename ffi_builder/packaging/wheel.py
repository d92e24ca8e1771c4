"""Writes wheels, byte for byte the same for the same content, and reads the libraries of wheels.

The format is that of PyPA's "Binary distribution format".
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import re
import shutil
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import BinaryIO, Final

from ffi_builder import BuildError, __version__

_EARLIEST: Final = 315532800
"""1980-01-01, the earliest time that a ZIP file has."""


def wheel(
    name: str, version: str, tag: str, content: Mapping[str, bytes], own: Mapping[str, bytes]
) -> bytes:
    """Return a wheel.

    Args:
        name: the name of the distribution, as file names have it.
        version: its version.
        tag: `py3-none-manylinux_2_17_x86_64`, or the like.
        content: the files, by their paths.
        own: the files of `.dist-info` beside WHEEL and RECORD, by their paths in it.
    """
    about = (
        f"Wheel-Version: 1.0\nGenerator: ffi_builder {__version__}\nRoot-Is-Purelib: false\n"
        f"Tag: {tag}\n"
    )
    folder = f"{name}-{version}.dist-info"
    # Readers find the last files fastest, so the standard wants these there.
    files = dict(sorted(content.items())) | {
        f"{folder}/{path}": data for path, data in {**own, "WHEEL": about.encode()}.items()
    }
    files[f"{folder}/RECORD"] = _record(files, f"{folder}/RECORD")
    data = io.BytesIO()
    moment = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), _EARLIEST))
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as opened:
        for path, each in files.items():
            entry = zipfile.ZipInfo(path, moment[:6])
            entry.create_system = 3  # Unix, so that the permissions count
            entry.external_attr = (0o100755 if path.endswith(".so") else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            opened.writestr(entry, each)
    return data.getvalue()


def _record(files: Mapping[str, bytes], own: str) -> bytes:
    """Return the table of all files, with their digests. It has none of its own."""
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        rows.writerow((path, f"sha256={digest}", len(data)))
    rows.writerow((own, "", ""))
    return table.getvalue().encode()


# ---- reading

_LIBRARY: Final = re.compile(r".*\.(so(\.[^/]*)?|o)", re.DOTALL)
_ENCRYPTED: Final = 0x1
_SMALL: Final = 100 << 20
_RATIO: Final = 50
"""Libraries shrink to a third or so, and those with large tables of zeros to a thousandth."""


class Libraries:
    """The libraries and objects of a wheel, which may be damaged or made to do harm."""

    def __init__(self, wheel: BinaryIO) -> None:
        """Read the list. Raises BuildError."""
        try:
            self._zip = zipfile.ZipFile(wheel)
        except Exception as error:  # zipfile raises many kinds
            raise BuildError(f"it is not a wheel, or is damaged: {_words(error)}") from error
        libraries = [each for each in self._zip.infolist() if _LIBRARY.fullmatch(each.filename)]
        self._count = Counter(each.filename for each in libraries)
        self._entries = {each.filename: each for each in libraries}
        self._limit = max(_SMALL, _RATIO * wheel.seek(0, os.SEEK_END))
        self._left = self._limit

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the files."""
        return tuple(self._entries)

    @contextmanager
    def unpacked(self, name: str) -> Generator[BinaryIO, None, None]:
        """Unpack a file into a temporary one. Raises BuildError."""
        entry = self._entries[name]
        self._check(entry)
        self._left -= entry.file_size
        with tempfile.TemporaryFile(prefix="ffi_builder-") as copy:
            try:
                # This ends after `file_size` bytes, whatever is packed.
                with self._zip.open(entry) as packed:
                    shutil.copyfileobj(packed, copy, 1 << 20)
            except Exception as error:
                raise BuildError(f"it cannot be unpacked: {_words(error)}") from error
            yield copy

    def _check(self, entry: zipfile.ZipInfo) -> None:
        if self._count[entry.filename] > 1:
            raise BuildError("the wheel has several files of this name")
        if entry.flag_bits & _ENCRYPTED:
            raise BuildError("it is encrypted")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BuildError(f"it is packed by method {entry.compress_type}; wheels have deflate")
        if entry.file_size > self._left:
            raise BuildError(
                f"it would be {entry.file_size} bytes, and of a wheel of this size, at most "
                f"{self._limit} are unpacked: if you trust it, unpack it yourself (python -m "
                f"zipfile -e) and inspect its libraries"
            )


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__
