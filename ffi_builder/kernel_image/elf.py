"""The sections and symbols of an ELF-64 file, as far as reading a cubin takes.

Layouts are those of the ELF-64 specification. ``ffi_builder.runtime.elf`` reads host objects for
linking, and needs other things of them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ffi_builder.kernel_image.view import View

MAGIC: Final = b"\x7fELF"
ET_REL: Final = 1
STT_FUNC: Final = 2

_EHDR = struct.Struct("<16sHHIQQQIHHHHHH")
_SHDR = struct.Struct("<IIQQQQIIQQ")
_SYM = struct.Struct("<IBBHQQ")
_CLASS_64_LITTLE: Final = b"\x02\x01"
_SHT_SYMTAB, _SHT_NOBITS = 2, 8
_SHN_XINDEX: Final = 0xFFFF


@dataclass(frozen=True)
class Header:
    """Of the ELF header what is needed."""

    abi_version: int
    """``e_ident[EI_ABIVERSION]``."""
    type: int
    flags: int
    sections_at: int
    section_header_size: int
    section_count: int
    section_names: int


@dataclass(frozen=True)
class Section:
    """One section header, with its name."""

    name: str
    kind: int
    offset: int
    size: int
    link: int

    def __str__(self) -> str:
        return f"section {self.name or '(no name)'}"


@dataclass(frozen=True)
class Symbol:
    """One symbol."""

    name: str
    kind: int
    other: int


@dataclass(frozen=True)
class Elf:
    """An ELF-64 file, little-endian."""

    view: View

    @cached_property
    def header(self) -> Header:
        """The ELF header."""
        ident, kind, _, _, _, _, sections, flags, *_, entry, count, names = self.view.unpack(
            _EHDR, 0, "the ELF header"
        )
        if ident[4:6] != _CLASS_64_LITTLE:
            self.view.damaged("it is not of 64 bits and little-endian, as all cubins are")
        return Header(ident[8], kind, flags, sections, entry, count, names)

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """All sections, by their numbers."""
        at, size = self.header.sections_at, self.header.section_header_size
        if not at:
            return ()
        if size != _SHDR.size:
            self.view.damaged(f"a section header would have {size} bytes, not {_SHDR.size}")
        first = self.view.unpack(_SHDR, at, "the section headers")
        # From 0xff00 sections on, the numbers are in the first header.
        count = self.header.section_count or first[5]
        names_at = self.header.section_names
        names_at = first[6] if names_at == _SHN_XINDEX else names_at
        table = self.view.slice(at, count * _SHDR.size, "the section headers")
        raw = list(_SHDR.iter_unpack(table))
        if names_at >= len(raw):
            self.view.damaged(f"there is no section {names_at}, which would have the names")
        names = self._strings(raw[names_at][4], raw[names_at][5])
        return tuple(
            Section(self._text(names, header[0]), header[1], header[4], header[5], header[6])
            for header in raw
        )

    @cached_property
    def by_name(self) -> dict[str, Section]:
        """The sections that have names."""
        return {section.name: section for section in self.sections if section.name}

    def content(self, section: Section) -> bytes:
        """The bytes of a section."""
        if section.kind == _SHT_NOBITS:
            self.view.damaged(f"{section} has no content")
        return self.view.slice(section.offset, section.size, str(section))

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """All symbols, by their numbers."""
        table = next((each for each in self.sections if each.kind == _SHT_SYMTAB), None)
        return () if table is None else tuple(self._symbols(table))

    def _symbols(self, table: Section) -> Iterator[Symbol]:
        content = self.content(table)
        if len(content) % _SYM.size:
            self.view.damaged(f"{table} has {len(content)} bytes, no multiple of {_SYM.size}")
        if table.link >= len(self.sections):
            self.view.damaged(f"there is no section {table.link}, which would have symbols' names")
        strings = self.sections[table.link]
        names = self._strings(strings.offset, strings.size)
        for name, info, other, *_ in _SYM.iter_unpack(content):
            yield Symbol(self._text(names, name), info & 15, other)

    def _strings(self, offset: int, size: int) -> bytes:
        return self.view.slice(offset, size, "a table of names")

    def _text(self, strings: bytes, at: int) -> str:
        end = strings.find(b"\0", at)
        if end < 0:  # it does not end, or would begin behind the last that does
            self.view.damaged(f"a name would be at byte {at} of a table of {len(strings)}")
        return strings[at:end].decode(errors="backslashreplace")
