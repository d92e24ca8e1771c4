"""Keeps helpers of wrappers, which all processes of a user make alike, in the user's cache folder.

A process that finds none assembles, emits and compiles them, which takes a third of the time of its
first wrapper. A file is found by all that its content was made of, so that other sources, another
LLVM or CPU find nothing. It is read only if its checksum is right, and nobody else can have written
it. The checksum covers the key, so that a file under another's name is not believed. A folder that
cannot be read or written is never an error.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

from ffi_builder.store import Store

VARIABLE: Final = "FFI_BUILDER_HELPERS_DIR"
"""The environment variable that names another folder; if it is empty, nothing is kept."""

_FORMAT: Final = "2"
_LIMIT: Final = 32 << 20
"""The most bytes that are kept. One version takes some 60 KB."""
_DIGEST: Final = 32


def kept(made_of: tuple[str, ...], make: Callable[[], bytes]) -> bytes:
    """Return what was kept of an earlier ``make()``, or call it and keep the result.

    Args:
        made_of: what is made, and all that the result depends on.
        make: makes it. Its errors are raised, and nothing is kept then.
    """
    store = _store()
    if store is None:
        return make()
    key = "\n".join((_FORMAT, *map(repr, made_of))).encode()
    found = store.read_bytes(key)
    if found is not None and found[:_DIGEST] == _checksum(key, found[_DIGEST:]):
        return found[_DIGEST:]
    data = make()
    with contextlib.suppress(OSError):
        store.write_bytes(key, _checksum(key, data) + data)
    return data


def _checksum(key: bytes, data: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(key).digest() + data).digest()


def _store() -> Store | None:
    given = os.environ.get(VARIABLE)
    if given == "" or not _has_sources():
        return None
    # Path.expanduser raises an error if there is no home; this one leaves `~`.
    if given is not None:
        return Store(Path(os.path.expanduser(given)), _LIMIT)  # noqa: PTH111
    given = os.environ.get("XDG_CACHE_HOME")
    if not given and os.environ.get("HOME") == "":
        return None  # `~` would be the root of the file system
    cache = Path(given or os.path.expanduser("~/.cache"))  # noqa: PTH111
    # Not `ffi_builder` itself, which may be the compile cache: the two have different limits.
    return Store(cache / "ffi_builder" / "helpers", _LIMIT) if cache.is_absolute() else None


def _has_sources() -> bool:
    """Tell whether the package has its sources, which it has not in a zip file or a frozen program.

    Nothing else tells what is made there from what other sources make.
    """
    return Path(__file__).with_suffix(".py").is_file()


@cache
def sources(*rooms: str) -> tuple[str, ...]:
    """Identify the Python files of folders of this package, as Python does for its bytecode.

    Returns the folder of the package, and each file's name, size and time. Without these files it
    returns nothing, and nothing is kept.
    """
    if not _has_sources():
        return ()
    root = Path(__file__).parent
    found = [str(root)]
    for room in ("", *rooms):
        for file in os.scandir(root / room):
            if file.name.endswith(".py"):
                status = file.stat()
                found.append(f"{room}/{file.name} {status.st_size} {status.st_mtime_ns}")
    return tuple(sorted(found))
