"""Static archives (ar): the members that other objects need.

A member has a header of 60 bytes: its name (16), dates and owners (32), its size in decimal (10)
and two bytes that end it. Members begin at even offsets. Names that begin with ``/`` are tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from ffi_builder.errors import CompileError
from ffi_builder.formats.elf import MAGIC as ELF
from ffi_builder.runtime.files.object_files import read_object

MAGIC: Final = b"!<arch>\n"
THIN: Final = b"!<thin>\n"
_HEADER: Final = 60
_END: Final = b"`\n"


def needed(
    archives: Mapping[str, bytes], wanted: Iterable[str], machine: str | None = None
) -> list[bytes]:
    """Return the members that define the wanted symbols and what these need, as a linker does.

    Args:
        archives: the contents of archives by their paths. They may need each other.
        wanted: symbols. Those that no archive has are left out.
        machine: that of the objects, by default this one.

    Raises:
        CompileError: an archive is damaged, or has objects for another machine.
    """
    objects = (each for what, data in archives.items() for each in members(data, what))
    files = [read_object(each, machine) for each in objects]
    homes: dict[str, int] = {}
    for index, file in enumerate(files):
        for symbol in file.symbols:
            if symbol.defined:
                homes.setdefault(symbol.name, index)
    chosen: set[int] = set()
    waiting = [homes[name] for name in wanted if name in homes]
    while waiting:
        index = waiting.pop()
        if index in chosen:
            continue
        chosen.add(index)
        own = (s.name for s in files[index].symbols if not s.defined and not s.weak)
        waiting += [homes[name] for name in own if name in homes]
    return [files[index].data for index in sorted(chosen)]


def members(archive: bytes, what: str) -> Iterator[bytes]:
    """Yield the objects of an archive, and skip tables and other files.

    Raises:
        CompileError: the archive is damaged.
    """
    at = len(MAGIC)
    while at < len(archive):
        header = archive[at : at + _HEADER]
        size = header[48:58].rstrip()
        at += _HEADER
        if header[58:] != _END or not size.isdigit() or at + int(size) > len(archive):
            raise CompileError(f"{what}: the archive is truncated or damaged at byte {at}")
        member = archive[at : at + int(size)]
        if member.startswith(ELF):
            yield member
        at += int(size) + int(size) % 2
