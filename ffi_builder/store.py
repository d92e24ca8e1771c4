"""Stores files for the processes of one user, in a folder, by the SHA-256 of a key.

There are no locks. A file is written under another name and then renamed, so whoever opens it sees
the whole file; if two processes write the same one, the later one stays.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ffi_builder.records import dataclass

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


@dataclass(frozen=True)
class Store:
    """A folder, which need not exist, and the most bytes that its files may take."""

    folder: Path
    limit: int

    def read_bytes(self, key: bytes) -> bytes | None:
        """Read the file for `key`; None if there is none that only this user can have written."""
        try:
            return _read_own(self.path(key), self.limit)
        except OSError:
            return None

    def write_bytes(self, key: bytes, data: bytes) -> None:
        """Write the file for `key`, unless it is larger than all may be. Raises OSError."""
        if len(data) > self.limit:
            return
        self._store(self.path(key), data)
        if self._is_time_to_look(len(data)):
            self._trim(self.path(key).name)

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
