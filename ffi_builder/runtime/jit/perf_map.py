"""The file that tells `perf` the names of functions in this process that are in no file.

`perf report` reads it when the profile is made, `/tmp/perf-<pid>.map`: a line for each function,
address, size and name, the numbers in hexadecimal. Its format is in jit-interface.txt of perf's
documentation. Python writes the same file with `-X perf`; both append to it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final

from ffi_builder.runtime.elf import Function
from ffi_builder.runtime.safety.locks import fork_safe_lock

_lines: Final[list[str]] = []
_written: Final[dict[int, int]] = {}
"""How many lines the file of a process has; a forked child begins one of its own."""
_lock = fork_safe_lock()


def path() -> str:
    """The file of this process."""
    return f"/tmp/perf-{os.getpid()}.map"


def append(functions: Iterable[Function]) -> None:
    """Append `functions` to the file of this process. Raises OSError."""
    with _lock:
        _lines.extend(f"{at:x} {size:x} {name}\n" for at, size, name in functions)
        # The code that a forked child has from its parent is in the child's file too.
        new = _lines[_written.get(os.getpid(), 0) :]
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(path(), flags, 0o600)
        try:
            os.write(file, "".join(new).encode())
        finally:
            os.close(file)
        _written[os.getpid()] = len(_lines)
