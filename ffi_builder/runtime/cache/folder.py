"""The folder of the compile cache: one file per entry, found by the SHA-256 of its key.

There are no locks. A file is written under another name and then renamed, so whoever opens it sees
the whole file; if two processes make the same entry, the later one stays. A folder that fails is
never an error: an entry that cannot be read is built anew, and one that cannot be written is a
warning.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ffi_builder.runtime.cache.entry import Entry, decode, encode

DIR_VARIABLE: Final = "FFI_BUILDER_CACHE_DIR"
SIZE_VARIABLE: Final = "FFI_BUILDER_CACHE_SIZE"

DEFAULT_SIZE: Final = 512 << 20

_SUFFIX: Final = ".ffib"
_UNFINISHED: Final = ".unfinished-"

_TOUCH_SECONDS: Final = 3600.0
_UNFINISHED_SECONDS: Final = 600.0
"""Writing takes milliseconds: what is older was left by a process that was killed."""

# Looking through a full folder takes some 40 ms, so it is done once for every 64th of its size that
# is written. Chance decides when: processes that write one entry each need not share a count.
_LOOKS_PER_SIZE: Final = 64

# How much of the limit is left after entries were removed.
_KEPT: Final = 7 / 8

_SIZE: Final = re.compile(r"(\d+)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)

_warned: set[Path] = set()


def open_cache(cache_dir: str | os.PathLike[str] | None) -> Cache | None:
    """Open the cache in `cache_dir`, or in the folder that the environment names, if it does.

    Raises TypeError if it is not a path, and ValueError if it is empty, or if the size limit in the
    environment is not a number of bytes with K, M, G or T.
    """
    if cache_dir is None:
        cache_dir = os.environ.get(DIR_VARIABLE) or None
        if cache_dir is None:
            return None
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


@dataclass(frozen=True)
class Cache:
    """A folder, which need not exist, and the most bytes that its entries may take."""

    folder: Path
    limit: int

    def read(self, key: bytes) -> Entry | None:
        """Read the entry for `key`; None if there is none that can be trusted."""
        try:
            data = _read_own(self.path(key), self.limit)
        except OSError:
            return None
        return None if data is None else decode(key, data)

    def write(self, key: bytes, entry: Entry) -> None:
        """Store `entry`, or warn once that this folder does not take entries.

        The warning points at the caller's caller.
        """
        data = encode(key, entry)
        if len(data) > self.limit:
            return
        try:
            self._store(self.path(key), data)
            if self._is_time_to_look(len(data)):
                self._trim(self.path(key).name)
        except OSError as error:
            if self.folder not in _warned:
                _warned.add(self.folder)
                warnings.warn(
                    f"The compile cache in {self.folder} cannot be written, and is not: {error}",
                    RuntimeWarning,
                    stacklevel=3,
                )

    def path(self, key: bytes) -> Path:
        """The path of the entry for `key`, whether or not it exists."""
        return self.folder / f"{hashlib.sha256(key).hexdigest()}{_SUFFIX}"

    def _store(self, path: Path, data: bytes) -> None:
        try:
            file, temporary = tempfile.mkstemp(prefix=_UNFINISHED, dir=self.folder)
        except FileNotFoundError:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            file, temporary = tempfile.mkstemp(prefix=_UNFINISHED, dir=self.folder)
        try:
            with open(file, "wb", buffering=0) as unfinished:  # noqa: PTH123  (a descriptor)
                _write_all(unfinished.fileno(), data)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    def _is_time_to_look(self, written: int) -> bool:
        # Not `random`: seeded alike, all processes would draw alike.
        drawn = int.from_bytes(os.urandom(4), "little") / 2**32
        return drawn * self.limit < written * _LOOKS_PER_SIZE

    def _trim(self, newest: str) -> None:
        """Remove the least recently used entries if all together are too large; keep `newest`.

        Other processes may do the same, or need what is removed: they build it again.
        """
        entries = sorted(self.entries(), key=lambda entry: entry[0])
        total = sum(size for _, size, _ in entries)
        if total <= self.limit:
            return
        for _, size, path in entries:
            if total <= self.limit * _KEPT:
                break
            if path.name != newest:
                with contextlib.suppress(OSError):
                    path.unlink()
                total -= size

    def entries(self) -> Iterator[tuple[float, int, Path]]:
        """Yield when each was last used, its size and path; remove what killed processes left."""
        now = time.time()
        for file in os.scandir(self.folder):
            with contextlib.suppress(OSError):
                status = file.stat(follow_symlinks=False)
                if not stat.S_ISREG(status.st_mode):
                    continue
                if file.name.endswith(_SUFFIX):
                    yield status.st_mtime, status.st_size, Path(file.path)
                elif (
                    file.name.startswith(_UNFINISHED)
                    and now - status.st_mtime > _UNFINISHED_SECONDS
                ):
                    Path(file.path).unlink()


def _read_own(path: Path, limit: int) -> bytes | None:
    """The bytes of a file of up to `limit` bytes that only this user can have written."""
    # O_NONBLOCK: a FIFO of that name would keep `open` waiting.
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        status = os.fstat(file)
        # The code in an entry will be run.
        if status.st_size > limit or not stat.S_ISREG(status.st_mode) or not _is_ours(status):
            return None
        data = _read_all(file, status.st_size)
        if time.time() - status.st_mtime > _TOUCH_SECONDS:
            with contextlib.suppress(OSError):
                os.utime(file)
        return data
    finally:
        os.close(file)


def _is_ours(status: os.stat_result) -> bool:
    return status.st_uid in (os.geteuid(), 0) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _read_all(file: int, size: int) -> bytes:
    parts: list[bytes] = []
    while size > 0 and (part := os.read(file, size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _write_all(file: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]
