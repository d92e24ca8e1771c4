"""Write files whole, and together as far as a file system allows."""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Sequence
from pathlib import Path

from ffi_builder.records import dataclass


@dataclass(frozen=True)
class Output:
    """A file to write."""

    path: Path
    data: bytes
    executable: bool = False


def write(outputs: Sequence[Output]) -> None:
    """Write all to temporary names beside the files, then rename all.

    Raises OSError, and ValueError for a path that occurs twice. An error leaves the files as they
    were, unless renaming the second or a later one fails.
    """
    seen: set[Path] = set()
    for output in outputs:
        if output.path.absolute() in seen:
            raise ValueError(f"Two files are to be written to `{output.path}`")
        seen.add(output.path.absolute())
    temporary: list[Path] = []
    try:
        for output in outputs:
            temporary.append(_temporary(output.path))
            _write_new(temporary[-1], output)
        for output in outputs:
            if output.path.is_dir():  # renaming would say so, but too late
                raise IsADirectoryError(
                    errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(output.path)
                )
        for path, output in zip(temporary, outputs, strict=True):
            path.replace(output.path)
    finally:
        for path in temporary:
            path.unlink(missing_ok=True)


def _write_new(path: Path, output: Output) -> None:
    mode = 0o777 if output.executable else 0o666  # less the umask
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except OSError as error:
        error.filename = os.fspath(output.path)  # the one that the caller knows
        raise
    with os.fdopen(descriptor, "wb") as file:
        file.write(output.data)


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.{uuid.uuid4().hex}")
