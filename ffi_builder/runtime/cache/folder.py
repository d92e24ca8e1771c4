"""The folder of the compile cache: one file per entry.

A folder that fails is never an error: an entry that cannot be read is built anew, and one that
cannot be written is a warning.
"""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path
from typing import Final

from ffi_builder.runtime.cache.entry import Entry, decode, encode
from ffi_builder.store import Store

SIZE_VARIABLE: Final = "FFI_BUILDER_CACHE_SIZE"

DEFAULT_SIZE: Final = 512 << 20

_SIZE: Final = re.compile(r"(\d+)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)

_warned: set[Path] = set()


def open_folder(cache_dir: str | os.PathLike[str]) -> Cache:
    """Open the cache in a folder. Raises what `cache.open_cache` does."""
    return Cache(_folder(cache_dir), _size_limit())


def _folder(given: object) -> Path:
    path = os.fspath(given) if isinstance(given, os.PathLike) else given  # pyright: ignore
    if not isinstance(path, str):
        raise TypeError(f"Expected the path of a folder in cache_dir=, but got {given!r}")
    if not path:
        raise ValueError("Expected the path of a folder in cache_dir=, but it is empty")
    return Path(path).expanduser()


def _size_limit() -> int:
    text = os.environ.get(SIZE_VARIABLE, "").strip()
    if not text:
        return DEFAULT_SIZE
    found = _SIZE.fullmatch(text)
    if found is None:
        raise ValueError(f"Expected a size such as 512M in {SIZE_VARIABLE}, but it is `{text}`")
    return int(found[1]) << 10 * " KMGT".index(found[2].upper() or " ")


class Cache(Store):
    """A store of entries."""

    def read(self, key: bytes) -> Entry | None:
        """Read the entry for `key`; None if there is none that can be trusted."""
        data = self.read_bytes(key)
        return None if data is None else decode(key, data)

    def write(self, key: bytes, entry: Entry) -> None:
        """Store `entry`, or warn once that this folder does not take entries.

        The warning points at the caller's caller.
        """
        try:
            self.write_bytes(key, encode(key, entry))
        except OSError as error:
            if self.folder not in _warned:
                _warned.add(self.folder)
                warnings.warn(
                    f"The compile cache in {self.folder} cannot be written, and is not: {error}",
                    RuntimeWarning,
                    stacklevel=3,
                )
