"""Keeps helpers of wrappers, which all processes of a user make alike, in the user's cache folder.

A process that finds none assembles, emits and compiles them, which takes a third of the time of its
first wrapper. A file is found by all that its content was made of, so that other sources, another
LLVM or CPU find nothing. It is read only if its checksum is right, and nobody else can have written
it. A folder that cannot be read or written is never an error.
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

_FORMAT: Final = "1"
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
    if found is not None and found[:_DIGEST] == hashlib.sha256(found[_DIGEST:]).digest():
        return found[_DIGEST:]
    data = make()
    with contextlib.suppress(OSError):
        store.write_bytes(key, hashlib.sha256(data).digest() + data)
    return data


def _store() -> Store | None:
    given = os.environ.get(VARIABLE)
    if given == "":
        return None
    if given is not None:
        return Store(Path(given), _LIMIT)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))  # noqa: PTH111
    # Where there is no home, `~` stays.
    return Store(cache / "ffi_builder", _LIMIT) if cache.is_absolute() else None


@cache
def sources(*rooms: str) -> tuple[str, ...]:
    """Identify the Python files of folders of this package, as Python does for its bytecode.

    Returns the folder of the package, and each file's name, size and time.
    """
    root = Path(__file__).parent
    found = [str(root)]
    for room in ("", *rooms):
        for file in os.scandir(root / room):
            if file.name.endswith(".py"):
                status = file.stat()
                found.append(f"{room}/{file.name} {status.st_size} {status.st_mtime_ns}")
    return tuple(sorted(found))
