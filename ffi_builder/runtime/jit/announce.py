"""Announces code to tools that otherwise see only addresses: `perf` and gdb.

The environment variable `FFI_BUILDER_JIT_SYMBOLS` names the tools: `perf`, `gdb`, or `perf,gdb`.
The JIT does not tell the addresses of local functions. So each section of an object gets a label,
and the JIT tells the addresses of the labels.

`perf report` reads `/tmp/perf-<pid>.map` when the profile is made: a line for each function,
address, size and name, the numbers in hexadecimal. Its format is in jit-interface.txt of perf's
documentation. Python writes the same file with `-X perf`; both append to it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Final

from ffi_builder import protocol
from ffi_builder.abi import PREFIX
from ffi_builder.errors import CompileError
from ffi_builder.records import dataclass
from ffi_builder.runtime.codegen import llvm
from ffi_builder.runtime.files import object_files
from ffi_builder.runtime.files.object_files import Function, ObjectFile
from ffi_builder.runtime.isolate.locks import fork_safe_lock
from ffi_builder.suggest import did_you_mean

VARIABLE: Final = "FFI_BUILDER_JIT_SYMBOLS"
_PERF: Final = "perf"
_GDB: Final = "gdb"
_LABEL: Final = f"{protocol.PREFIX}section_"


def requested() -> frozenset[str]:
    """Return the tools that the environment names. Raises ValueError for one that is not known."""
    given = [word.strip() for word in os.environ.get(VARIABLE, "").split(",")]
    tools = frozenset(word for word in given if word)
    for word in sorted(tools - {_PERF, _GDB}):
        meant = did_you_mean(word, (_PERF, _GDB), "`{}`")
        raise ValueError(f"Expected `perf`, `gdb` or `perf,gdb` in {VARIABLE}, got {word!r}{meant}")
    return tools


@dataclass(frozen=True)
class Announcement:
    """Objects to load, and how to announce them afterwards."""

    files: tuple[ObjectFile, ...]
    """The objects to load."""
    functions: tuple[str, ...] = ()
    """The labels whose addresses are needed, without the prefix of functions."""
    make: Callable[[Callable[[str], int]], None] = lambda address: None
    """Announces the code, given a function that returns where a label is. Raises OSError."""


def announcement(files: Sequence[ObjectFile]) -> Announcement:
    """Prepare objects to be announced, if the environment names tools.

    Raises ValueError for an invalid setting, and CompileError if it names gdb and the extension for
    gdb was not built.
    """
    tools = requested()
    if not tools:
        return Announcement(tuple(files))
    gdb = _extension() if _GDB in tools else None
    labelled = [
        object_files.with_labels(file.data, f"{PREFIX}{_LABEL}{index}_")
        for index, file in enumerate(files)
    ]
    # If loading fails, the entries leak: 32 bytes each, in no list.
    entries = [0 if gdb is None else gdb.new_entry() for _ in labelled]

    def announce(address: Callable[[str], int]) -> None:
        for (data, labels), entry in zip(labelled, entries, strict=True):
            at = {n: address(label.removeprefix(PREFIX)) for n, label in labels.items()}
            if _PERF in tools:
                _append_to_perf_map(object_files.functions_at(data, at))
            if gdb is not None:
                gdb.announce(entry, object_files.with_addresses(data, at))

    loaded = [data for data, _ in labelled]
    if gdb is not None:
        loaded.append(_farewell(gdb.FORGET, entries))
    names = [label.removeprefix(PREFIX) for _, labels in labelled for label in labels.values()]
    return Announcement(tuple(map(object_files.read_object, loaded)), tuple(names), announce)


def _extension() -> ModuleType:
    try:
        from ffi_builder.runtime.jit import _gdb
    except ImportError as error:
        raise CompileError(
            f"{VARIABLE} names gdb, which needs an extension that was not built for this Python "
            f"({error}); leave `gdb` out, or install ffi_builder where there is a C compiler"
        ) from error
    return _gdb


def _farewell(forget: int, entries: Sequence[int]) -> bytes:
    """Make an object that removes `entries` from gdb's list when the library is unloaded."""
    calls = "\n".join(
        f"  call void inttoptr (i64 {forget} to ptr)(ptr inttoptr (i64 {entry} to ptr))"
        for entry in entries
    )
    text = f"""
@llvm.global_dtors = appending global [1 x {{ i32, ptr, ptr }}]
  [{{ i32, ptr, ptr }} {{ i32 65535, ptr @farewell, ptr null }}]
define internal void @farewell() {{
{calls}
  ret void
}}
"""
    return llvm.emit_object(text, "host", 0, passes=False)


# ---- perf

_lines: Final[list[str]] = []
_written: Final[dict[int, int]] = {}
"""The number of lines in the file of each process; a forked child begins a new file."""
_lock = fork_safe_lock()


def perf_map() -> str:
    """Return the path of the file of this process."""
    return f"/tmp/perf-{os.getpid()}.map"


def _append_to_perf_map(functions: Iterable[Function]) -> None:
    """Append `functions` to the file of this process. Raises OSError."""
    with _lock:
        _lines.extend(f"{at:x} {size:x} {name}\n" for at, size, name in functions)
        # The file of a forked child also lists the code that it has from its parent.
        new = _lines[_written.get(os.getpid(), 0) :]
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(perf_map(), flags, 0o600)
        try:
            os.write(file, "".join(new).encode())
        finally:
            os.close(file)
        _written[os.getpid()] = len(_lines)
