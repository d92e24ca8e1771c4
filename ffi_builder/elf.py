"""Reading ELF-64 files: cubins, objects and shared libraries.

Structures have the names and layouts of the ELF-64 specification. All sizes are bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

from ffi_builder.view import View

MAGIC: Final = b"\x7fELF"
ET_REL: Final = 1
ET_DYN: Final = 3
SHT_PROGBITS: Final = 1
SHT_SYMTAB: Final = 2
SHT_RELA: Final = 4
SHT_NOBITS: Final = 8
SHT_DYNSYM: Final = 11
SHT_INIT_ARRAY: Final = 14
SHF_WRITE: Final = 0x1
SHF_ALLOC: Final = 0x2
SHF_TLS: Final = 0x400
SHN_UNDEF: Final = 0
SHN_COMMON: Final = 0xFFF2
STB_LOCAL: Final = 0
STB_WEAK: Final = 2
STT_FUNC: Final = 2
STT_GNU_IFUNC: Final = 10
STV_DEFAULT: Final = 0
STV_PROTECTED: Final = 3

EHDR: Final = struct.Struct("<16sHHIQQQIHHHHHH")
SHDR: Final = struct.Struct("<IIQQQQIIQQ")
SYM: Final = struct.Struct("<IBBHQQ")
_CLASS_64_LITTLE: Final = b"\x02\x01"
_SHN_XINDEX: Final = 0xFFFF
_HEADERS: Final = "the section headers"


class Header(NamedTuple):
    """``Elf64_Ehdr``."""

    ident: bytes
    type: int
    machine: int
    version: int
    entry: int
    segments_at: int
    sections_at: int
    flags: int
    size: int
    segment_header_size: int
    segment_count: int
    section_header_size: int
    section_count: int
    section_names: int

    @property
    def is_64_little(self) -> bool:
        """Whether the file is of 64 bits and little-endian; the other fields are wrong if not."""
        return self.ident[4:6] == _CLASS_64_LITTLE

    @property
    def abi_version(self) -> int:
        """``e_ident[EI_ABIVERSION]``."""
        return self.ident[8]


class Section(NamedTuple):
    """``Elf64_Shdr``."""

    name_at: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry_size: int


SymbolFields: TypeAlias = "tuple[int, int, int, int, int, int]"
"""``Elf64_Sym``: where its name is, info, other, section, value, size.

The info has the binding (``STB_…``) above its low 4 bits, and in these the type (``STT_…``).
"""


@dataclass(frozen=True)
class Elf:
    """An ELF-64 file, little-endian; what is damaged is an error of the view.

    Linking reads every object of each compilation, so names are decoded only where they are used.
    """

    view: View

    @cached_property
    def header(self) -> Header:
        """The ELF header."""
        return Header._make(self.view.unpack(EHDR, 0, "the ELF header"))

    @cached_property
    def sections(self) -> Sequence[Section]:
        """All sections, by their numbers."""
        at, size = self.header.sections_at, self.header.section_header_size
        if not at:
            return ()
        if size != SHDR.size:
            self.view.damaged(f"a section header would have {size} bytes, not {SHDR.size}")
        # From 0xff00 sections on, their number is in the first header.
        first = Section._make(self.view.unpack(SHDR, at, _HEADERS))
        count = self.header.section_count or first.size
        table = self.view.slice(at, count * SHDR.size, _HEADERS)
        return [Section._make(fields) for fields in SHDR.iter_unpack(table)]

    def section(self, number: int, content: str) -> Section:
        """The section of this number, which should have this content."""
        if number >= len(self.sections):
            self.view.damaged(f"there is no section {number}, which would have {content}")
        return self.sections[number]

    @cached_property
    def _section_names(self) -> bytes:
        number = self.header.section_names
        number = self.sections[0].link if number == _SHN_XINDEX else number
        return self._strings(self.section(number, "the names"))

    def name(self, section: Section) -> str:
        """The name of a section, or an empty text."""
        return self.text(self._section_names, section.name_at)

    @cached_property
    def by_name(self) -> dict[str, Section]:
        """The sections that have names."""
        named = ((self.name(section), section) for section in self.sections)
        return {name: section for name, section in named if name}

    def describe(self, section: Section) -> str:
        """How errors call a section."""
        return f"section {self.name(section) or '(no name)'}"

    def content(self, section: Section) -> bytes:
        """The bytes of a section."""
        if section.kind == SHT_NOBITS:
            self.view.damaged(f"{self.describe(section)} has no content")
        start, end = section.offset, section.offset + section.size
        if end > len(self.view.data):
            return self.view.slice(start, section.size, self.describe(section))
        return self.view.data[start:end]

    def table(self, kind: int) -> Section | None:
        """The section of a kind of which a file has at most one, such as ``SHT_SYMTAB``."""
        return next((section for section in self.sections if section.kind == kind), None)

    def symbols(self, table: Section) -> Iterator[SymbolFields]:
        """All symbols of a symbol table, by their numbers."""
        content = self.content(table)
        if len(content) % SYM.size:
            size = f"{len(content)} bytes, no multiple of {SYM.size}"
            self.view.damaged(f"{self.describe(table)} has {size}")
        return SYM.iter_unpack(content)

    def symbol_names(self, table: Section) -> bytes:
        """The strings that the symbols of a table have their names in; see :meth:`text`."""
        return self._strings(self.section(table.link, "symbols' names"))

    def text(self, strings: bytes, at: int) -> str:
        """The string that begins at a byte of a table of strings."""
        end = strings.find(b"\0", at)
        if end < 0:  # it does not end, or would begin behind the last that does
            self.view.damaged(f"a name would be at byte {at} of a table of {len(strings)}")
        return str(strings[at:end], "utf-8", "backslashreplace")

    def _strings(self, section: Section) -> bytes:
        return self.view.slice(section.offset, section.size, "a table of names")
