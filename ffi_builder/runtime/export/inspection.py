"""Reads libraries and objects without loading them: functions, target, compilers, what they need.

The file may be for another machine, damaged, or made to do harm. Its code is not run, and little of
it is in memory at a time.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from itertools import zip_longest
from typing import Any, BinaryIO, Final, TypeVar

from ffi_builder.abi import PREFIX
from ffi_builder.errors import LinkError
from ffi_builder.formats import elf
from ffi_builder.formats.elf import MAGIC, Elf, machine_name
from ffi_builder.protocol import PREFIX as MODULE_PREFIX
from ffi_builder.records import dataclass
from ffi_builder.runtime.files.object_files import symbols_of
from ffi_builder.runtime.jit.link import functions_among

_Item = TypeVar("_Item")

_LARGEST_PART: Final = 64 << 20
"""The bytes of the largest table that is read: of headers, symbols or names."""
_MOST_TEXT: Final = 16 << 20
"""The bytes of all names, or of all metadata, that are kept: some 10,000 functions."""
_OVERHEAD: Final = 64
"""The bytes that a short text takes beside its characters."""
_LONGEST_METADATA: Final = 1 << 20
"""The bytes of the metadata of one function."""
_CHUNK: Final = 1 << 20


@dataclass(frozen=True)
class Inspected:
    """What a library or an object says of itself."""

    machine: str
    """`x86_64` or `aarch64`."""
    compilers: tuple[str, ...]
    """The compilers of its parts, from the section `.comment`."""
    soname: str
    """The name by which other libraries need it; empty if it has none."""
    needs: tuple[str, ...]
    """The libraries that it needs."""
    versions: tuple[str, ...]
    """The versions of symbols of the C and C++ runtimes that it needs, such as `GLIBC_2.17`."""


def inspected(opened: BinaryIO) -> Inspected:
    """Read a library or an object.

    Raises:
        LinkError: it is no 64-bit little-endian ELF library or object, or is damaged.
        OSError: it cannot be read.
    """
    file = _read(_Parts(opened))
    return Inspected(
        machine_name(file.header.machine),
        tuple(_few("compilers", _found(_WORDS, _content(file, ".comment")))),
        next(_named(file, elf.DT_SONAME), ""),
        tuple(_few("needed libraries", _named(file, elf.DT_NEEDED))),
        tuple(sorted(set(_few("needed versions", _found(_VERSION, _content(file, ".dynstr")))))),
    )


def functions(opened: BinaryIO) -> dict[str, str | None]:
    """Read the metadata of each function by its name, as JSON; None for one that has none.

    Raises LinkError and OSError, as `inspected` does.
    """
    data = _Parts(opened)
    file = _read(data)
    table = elf.SHT_DYNSYM if file.header.type == elf.ET_DYN else elf.SHT_SYMTAB
    named = functions_among(symbols_of(file, table, PREFIX))
    names = sorted(set(_few("functions", named)))
    described = dict(_few("metadata", _described(data, set(names)), lambda pair: pair[1]))
    return {name: described.get(name) for name in names}


def own_symbols(opened: BinaryIO) -> Iterator[tuple[str, int, Callable[[], bytes]]]:
    """Yield the local symbols of wrappers: the name, the size, and what reads the content.

    There are none if the file was stripped. Raises LinkError and OSError, as `inspected` does.
    """
    file = _read(_Parts(opened))
    (names, symbols), prefix = file.symbol_table(elf.SHT_SYMTAB), MODULE_PREFIX.encode()
    for name_at, _, _, number, value, size in symbols:
        if names.startswith(prefix, name_at):
            name = file.text(names, name_at)
            yield name, size, partial(_bytes, file, name, number, value, size)


def _bytes(file: Elf, name: str, number: int, value: int, size: int) -> bytes:
    section = file.section(number, name)
    return file.slice(section.offset + value - section.address, size, name)


def _read(data: _Parts) -> Elf:
    if (start := data[:8])[: len(MAGIC)] != MAGIC:
        given = f"starts with {start!r}" if start else "is empty"
        raise LinkError(f"expected an ELF file, but it {given}")
    file = Elf(data, "file", LinkError)
    if not file.header.is_64_little or file.header.type not in (elf.ET_DYN, elf.ET_REL):
        raise LinkError("expected a shared library or an object for a 64-bit CPU")
    return file


class _Parts:
    """The bytes of a file, of which slices are read."""

    def __init__(self, opened: BinaryIO) -> None:
        self._opened = opened
        self._size = opened.seek(0, os.SEEK_END)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice, /) -> bytes:
        start, stop, _ = part.indices(self._size)
        if stop - start > _LARGEST_PART:
            raise LinkError(
                f"a table has {stop - start} bytes, and at most {_LARGEST_PART} are read"
            )
        self._opened.seek(start)
        data = self._opened.read(max(stop - start, 0))
        if len(data) < stop - start:
            raise LinkError("the file was cut while it was read")
        return data


def _few(what: str, items: Iterable[_Item], text: Callable[[_Item], str] = str) -> Iterator[_Item]:
    """Yield items. Raises LinkError if their texts take too much memory."""
    size = 0
    for item in items:
        size += len(text(item)) + _OVERHEAD
        if size > _MOST_TEXT:
            raise LinkError(f"its {what} take more than {_MOST_TEXT} bytes, and are not read")
        yield item


def _content(file: Elf, name: str) -> bytes:
    section = file.find(name)
    return b"" if section is None else file.content(section)


_WORDS: Final = re.compile(rb"[^\0]+")
_VERSION: Final = re.compile(rb"(?<=\0)(?:GLIBC|GLIBCXX|CXXABI|GCC)_(?:[\d.]+|ABI_DT_RELR)(?=\0)")
"""Names of versions; other strings of the table are symbols and libraries."""


def _found(pattern: re.Pattern[bytes], content: bytes) -> Iterator[str]:
    for match in pattern.finditer(content):
        yield match[0].decode(errors="replace")


def _described(data: _Parts, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the name and the metadata of each function, which are JSON among the constants."""
    decoder, start = json.JSONDecoder(), b'{"type_schema":'
    for at in range(0, len(data), _CHUNK):
        chunk = data[at : at + _CHUNK + len(start) - 1]
        places = [match.start() for match in re.finditer(re.escape(start), chunk)]
        for place, after in zip_longest(places, places[1:]):
            # The last text may go on in the next chunk.
            part = (
                chunk[place:after] if after else data[at + place : at + place + _LONGEST_METADATA]
            )
            text = part.decode(errors="replace")
            try:
                described, end = decoder.raw_decode(text)
                name: Any = described["ffi_builder"]["name"]
            except (ValueError, LookupError, TypeError, RecursionError):
                continue
            if isinstance(name, str) and name in names:
                yield name, text[:end]


def _named(file: Elf, tag: int) -> Iterator[str]:
    """Yield the names that the dynamic section has with a tag."""
    strings, content = _content(file, ".dynstr"), _content(file, ".dynamic")
    for kind, value in elf.DYN.iter_unpack(content[: len(content) // elf.DYN.size * elf.DYN.size]):
        if kind == tag:
            yield file.text(strings, value)
