"""Reads ELF-64 files: cubins, objects and shared libraries, which may be damaged.

Structures have the names and layouts of the ELF-64 specification. All sizes are bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple, NoReturn, Protocol, TypeAlias

from ffi_builder.records import dataclass


class Data(Protocol):
    """Bytes, or a file of which slices are read."""

    def __len__(self) -> int: ...
    def __getitem__(self, part: slice, /) -> bytes: ...


@dataclass(frozen=True)
class View:
    """Bytes, their name in errors (``cubin``, ``object file``), and the class of these errors."""

    data: Data
    what: str
    error: type[Exception]

    def unpack(self, layout: struct.Struct, at: int, part: str) -> tuple[Any, ...]:
        """Return the fields of a structure at an offset; ``part`` is its name in errors."""
        return layout.unpack(self.slice(at, layout.size, part))

    def slice(self, at: int, size: int, part: str) -> bytes:
        """Return ``size`` bytes from an offset; ``part`` is their name in errors."""
        if at + size > len(self.data):
            self.damaged(
                f"{part} would be bytes {at} to {at + size}, but there are {len(self.data)}"
            )
        return self.data[at : at + size]

    def damaged(self, words: str) -> NoReturn:
        """Raise an error with the reason why the bytes cannot be right."""
        raise self.error(f"The {self.what} is truncated or damaged: {words}")


_MACHINES: Final = {
    3: "x86",
    62: "x86_64",
    183: "aarch64",
    190: "NVIDIA GPUs",
    224: "AMD GPUs",
    243: "RISC-V",
}
MAGIC: Final = b"\x7fELF"
ET_REL: Final = 1
ET_DYN: Final = 3
SHT_NULL: Final = 0
SHT_PROGBITS: Final = 1
SHT_SYMTAB: Final = 2
SHT_RELA: Final = 4
SHT_NOBITS: Final = 8
SHT_REL: Final = 9
SHT_DYNSYM: Final = 11
SHT_INIT_ARRAY: Final = 14
SHT_GROUP: Final = 17
SHT_CREL: Final = 0x40000014
SHF_WRITE: Final = 0x1
SHF_ALLOC: Final = 0x2
SHF_EXECINSTR: Final = 0x4
SHF_TLS: Final = 0x400
SHN_UNDEF: Final = 0
SHN_ABS: Final = 0xFFF1
SHN_COMMON: Final = 0xFFF2
STB_LOCAL: Final = 0
STB_GLOBAL: Final = 1
STB_WEAK: Final = 2
STB_GNU_UNIQUE: Final = 10
STT_OBJECT: Final = 1
STT_FUNC: Final = 2
STT_SECTION: Final = 3
STT_FILE: Final = 4
STT_TLS: Final = 6
STT_GNU_IFUNC: Final = 10
STV_DEFAULT: Final = 0
STV_INTERNAL: Final = 1
STV_HIDDEN: Final = 2
STV_PROTECTED: Final = 3
DT_NEEDED: Final = 1
DT_SONAME: Final = 14
DT_RPATH: Final = 15
DT_RUNPATH: Final = 29

EHDR: Final = struct.Struct("<16sHHIQQQIHHHHHH")
SHDR: Final = struct.Struct("<IIQQQQIIQQ")
SYM: Final = struct.Struct("<IBBHQQ")
PHDR: Final = struct.Struct("<IIQQQQQQ")
RELA: Final = struct.Struct("<QQq")
"""``Elf64_Rela``: offset, info, addend. The upper half of info is the symbol."""
DYN: Final = struct.Struct("<qQ")
"""``Elf64_Dyn``: a tag (``DT_…``) and its value."""
_PT_GNU_STACK: Final = 0x6474E551
_PF_X: Final = 1
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
        """Whether the file is 64-bit and little-endian; if not, the other fields are wrong."""
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
"""``Elf64_Sym``: offset of the name, info, other, section, value, size.

The low 4 bits of info are the type (``STT_…``), the others the binding (``STB_…``).
"""


class Elf(View):
    """A little-endian ELF-64 file. Reading a damaged file raises the view's error.

    Linking reads every object of each compilation, so names are decoded only on use.
    """

    @cached_property
    def header(self) -> Header:
        """The ELF header."""
        return Header._make(self.unpack(EHDR, 0, "the ELF header"))

    @cached_property
    def sections(self) -> Sequence[Section]:
        """All sections, by number."""
        at, size = self.header.sections_at, self.header.section_header_size
        if not at:
            return ()
        if size != SHDR.size:
            self.damaged(f"a section header would have {size} bytes, not {SHDR.size}")
        # If there are 0xff00 sections or more, the first header has their number.
        first = Section._make(self.unpack(SHDR, at, _HEADERS))
        count = self.header.section_count or first.size
        table = self.slice(at, count * SHDR.size, _HEADERS)
        return [Section._make(fields) for fields in SHDR.iter_unpack(table)]

    @property
    def has_executable_stack(self) -> bool:
        """Whether a library makes the stack of each process that loads it executable."""
        at, count = self.header.segments_at, self.header.segment_count
        table = self.slice(at, count * PHDR.size, "the program headers")
        segments = ((kind, flags) for kind, flags, *_ in PHDR.iter_unpack(table))
        return any(kind == _PT_GNU_STACK and flags & _PF_X for kind, flags in segments)

    def section(self, number: int, content: str) -> Section:
        """Return a section by number; errors say which ``content`` was expected in it."""
        if number >= len(self.sections):
            self.damaged(f"there is no section {number}, which would have {content}")
        return self.sections[number]

    @cached_property
    def _section_names(self) -> bytes:
        number = self.header.section_names
        number = self.section(0, "the names").link if number == _SHN_XINDEX else number
        return self._strings(self.section(number, "the names"))

    def name(self, section: Section) -> str:
        """Return the name of a section, which may be empty."""
        return self.text(self._section_names, section.name_at)

    @cached_property
    def by_name(self) -> dict[str, Section]:
        """The sections that have names."""
        named = ((self.name(section), section) for section in self.sections)
        return {name: section for name, section in named if name}

    def find(self, name: str) -> Section | None:
        """Return the first section of this name, or None; other names are not decoded."""
        wanted = name.encode() + b"\0"
        named = (s for s in self.sections if self._section_names.startswith(wanted, s.name_at))
        return next(named, None)

    def describe(self, section: Section) -> str:
        """Return the name of a section in errors."""
        return f"section {self.name(section) or '(no name)'}"

    def content(self, section: Section) -> bytes:
        """Return the bytes of a section."""
        if section.kind == SHT_NOBITS:
            self.damaged(f"{self.describe(section)} has no content")
        start, end = section.offset, section.offset + section.size
        if end > len(self.data):
            return self.slice(start, section.size, self.describe(section))
        return self.data[start:end]

    def relocates_loaded(self, section: Section) -> bool:
        """Return whether relocations are of a section that is loaded, not debug information."""
        return bool(self.section(section.info, "what is relocated").flags & SHF_ALLOC)

    def table(self, kind: int) -> Section | None:
        """Return the first section of a kind, such as ``SHT_SYMTAB``, or None."""
        return next((section for section in self.sections if section.kind == kind), None)

    def symbols(self, table: Section) -> Iterator[SymbolFields]:
        """Return the symbols of a symbol table, in order."""
        content = self.content(table)
        if len(content) % SYM.size:
            size = f"{len(content)} bytes, not a multiple of {SYM.size}"
            self.damaged(f"{self.describe(table)} has {size}")
        return SYM.iter_unpack(content)

    def symbol_table(self, kind: int) -> tuple[bytes, Iterator[SymbolFields]]:
        """Return the names and the symbols of the first table of a kind; nothing without one."""
        table = self.table(kind)
        return (b"", iter(())) if table is None else (self.symbol_names(table), self.symbols(table))

    def symbol_names(self, table: Section) -> bytes:
        """Return the string table with the names of a table's symbols; see :meth:`text`."""
        return self._strings(self.section(table.link, "symbols' names"))

    def text(self, strings: bytes, at: int) -> str:
        """Return the string that begins at an offset of a string table."""
        end = strings.find(b"\0", at)
        if end < 0:  # it has no end, or begins after the table
            self.damaged(f"a name would be at byte {at} of a table of {len(strings)}")
        return str(strings[at:end], "utf-8", "backslashreplace")

    def _strings(self, section: Section) -> bytes:
        return self.slice(section.offset, section.size, "a table of names")


def machine_name(number: int) -> str:
    """Return the name of a machine, as ``x86_64``."""
    return _MACHINES.get(number, f"ELF machine {number}")
