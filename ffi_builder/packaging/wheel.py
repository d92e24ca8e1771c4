"""Writes a wheel, byte for byte the same for the same content.

The format is that of PyPA's "Binary distribution format".
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import time
import zipfile
from collections.abc import Mapping
from typing import Final

from ffi_builder import __version__

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
