"""What few objects have, and makes loading them go wrong."""

from __future__ import annotations

from enum import Enum, auto

from ffi_builder.formats import elf
from ffi_builder.formats.elf import Elf, Section

_STARTING = (".init", ".fini", ".preinit_array")
_RELOCATING = (elf.SHT_REL, elf.SHT_CREL)
_STACK = ".note.GNU-stack"


class Oddity(Enum):
    """What few objects have."""

    INDIRECT = auto()
    """Functions whose addresses are chosen when they are loaded (`ifunc`)."""
    ABSOLUTE = auto()
    """Symbols that are numbers, and visible outside of the object."""
    INTERNAL = auto()
    """Symbols of internal visibility."""
    STARTING = auto()
    """Sections whose code runs before or after the constructors and destructors."""
    RELOCATING = auto()
    """Sections with relocations of another kind than RELA."""
    STACK = auto()
    """The section that asks for an executable stack."""


def oddities(file: Elf) -> dict[Oddity, list[str]]:
    """Return the symbols or sections of an object that have each oddity. Most have none."""
    result = {
        Oddity.STARTING: [n for n in _STARTING if n in file.by_name and file.by_name[n].size],
        Oddity.RELOCATING: [
            file.name(section)
            for section in file.sections
            if section.kind in _RELOCATING and file.relocates_loaded(section)
        ],
    }
    table = file.table(elf.SHT_SYMTAB)
    note = file.by_name.get(_STACK)
    # Only LLVM says it by leaving the note out. Assemblers do so, too, and mean nothing by it.
    is_executable = _is_of_llvm(file, table) if note is None else note.flags & elf.SHF_EXECINSTR
    if is_executable:
        result[Oddity.STACK] = [_STACK]
    if table is not None and _may_be_odd(file.content(table), table.info):
        names = file.symbol_names(table)
        for name_at, info, other, section, *_ in file.symbols(table):
            oddity = _oddity(info, other, section)
            if oddity is not None:
                result.setdefault(oddity, []).append(file.text(names, name_at))
    return {oddity: names for oddity, names in result.items() if names}


def _is_of_llvm(file: Elf, table: Section | None) -> bool:
    """Return whether LLVM has made an object of LLVM IR.

    It keeps the names of sections and symbols together, and the name of the source file.
    """
    if table is None or file.header.section_names != table.link:
        return False
    return any(info & 15 == elf.STT_FILE for info in {*file.content(table)[4 :: elf.SYM.size]})


def _may_be_odd(symbols: bytes, first_global: int) -> bool:
    """Return whether one of the symbols may be odd, without a look at each, which takes long."""
    size, start = elf.SYM.size, first_global * elf.SYM.size
    return (
        any(info & 15 == elf.STT_GNU_IFUNC for info in {*symbols[4::size]})
        or any(other & 3 == elf.STV_INTERNAL for other in {*symbols[start + 5 :: size]})
        or elf.SHN_ABS >> 8 in symbols[start + 7 :: size]
    )


def _oddity(info: int, other: int, section: int) -> Oddity | None:
    """Return the oddity of a symbol, by the fields of the symbol table."""
    if info & 15 == elf.STT_GNU_IFUNC:
        return Oddity.INDIRECT
    if info >> 4 == elf.STB_LOCAL or section == elf.SHN_UNDEF:
        return None
    if section == elf.SHN_ABS:
        return Oddity.ABSOLUTE
    return Oddity.INTERNAL if other & 3 == elf.STV_INTERNAL else None
