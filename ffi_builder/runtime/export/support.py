"""Adds support functions to an object, as a linker would."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ffi_builder import elf, support
from ffi_builder.elf import Elf, Section, SymbolFields, View
from ffi_builder.errors import CompileError
from ffi_builder.protocol import PREFIX
from ffi_builder.runtime.elf import Added, rebuilt
from ffi_builder.support.sections import Part, parts_of

_WEAK: Final = elf.STB_WEAK << 4
_UNDEFINED: Final = (elf.STB_GLOBAL << 4, elf.STV_DEFAULT, elf.SHN_UNDEF, 0, 0)


def with_support(data: bytes, machine: str) -> bytes:
    """Return an object that defines the support functions which it needs; itself if it needs none.

    What is added is hidden and weak: objects with the same functions can be linked together, and a
    linked library shows none of them.
    """
    file = Elf(View(data, "the object", CompileError))
    table = file.table(elf.SHT_SYMTAB)
    if table is None:
        return data
    symbols = _Symbols(file, table)
    needed = tuple(sorted(filter(symbols.is_undefined, map(support.symbol, support.functions()))))
    if not needed:
        return data
    return _with_parts(file, table, symbols, needed, parts_of(machine, needed))


class _Symbols:
    """The symbols of an object, and those that are added to it."""

    def __init__(self, file: Elf, table: Section) -> None:
        strings = file.symbol_names(table)
        self.strings = bytearray(strings)
        self._entries: list[SymbolFields] = list(file.symbols(table))
        others = enumerate(self._entries[table.info :], table.info)  # behind the local ones
        self._numbers = {file.text(strings, fields[0]): number for number, fields in others}

    @property
    def table(self) -> bytes:
        """The symbol table."""
        return b"".join(elf.SYM.pack(*fields) for fields in self._entries)

    def is_undefined(self, name: str) -> bool:
        """Return whether the object needs a symbol and does not define it."""
        number = self._numbers.get(name)
        return number is not None and self._entries[number][3] == elf.SHN_UNDEF

    def number(self, name: str) -> int:
        """Return the number of a symbol; a new one is undefined."""
        if name not in self._numbers:
            self._numbers[name] = len(self._entries)
            self._entries.append((len(self.strings), *_UNDEFINED))
            self.strings += name.encode() + b"\0"
        return self._numbers[name]

    def define(self, name: str, section: int, value: int, size: int) -> None:
        """Define a function, or with no size another place."""
        number = self.number(name)
        fields = (_WEAK | (elf.STT_FUNC if size else 0), elf.STV_HIDDEN, section, value, size)
        self._entries[number] = (self._entries[number][0], *fields)


def _with_parts(
    file: Elf, table: Section, symbols: _Symbols, needed: Sequence[str], parts: Sequence[Part]
) -> bytes:
    """Return the object with a section of code and one of constants; calls are resolved."""
    code_flags = elf.SHF_ALLOC | elf.SHF_EXECINSTR
    code = Added(".text.ffi_builder", elf.SHT_PROGBITS, code_flags)
    constants = Added(".rodata.ffi_builder", elf.SHT_PROGBITS, elf.SHF_ALLOC)
    relocations = Added(".rela.text.ffi_builder", elf.SHT_RELA, 0, elf.RELA.size)
    number, symtab = len(file.sections), file.sections.index(table)
    relocations.link, relocations.info = symtab, number
    contents = {part.number: bytearray(part.content) for part in parts}
    places = {
        part.number: (code if part.is_code else constants).append(
            memoryview(contents[part.number]), part.align
        )
        for part in parts
    }
    for part in parts:
        for symbol in part.functions:
            if symbol.name in needed:
                symbols.define(symbol.name, number, places[part.number] + symbol.value, symbol.size)
    # Of weak symbols a linker takes the first. An object with other functions has other places in
    # its sections, so the symbols at their starts are named after the functions.
    mark = f"{zlib.crc32(repr(needed).encode()):08x}"
    starts = {True: f"{PREFIX}code_{mark}", False: f"{PREFIX}constants_{mark}"}
    is_code = {part.number: part.is_code for part in parts}
    for part in parts:  # only code refers to others
        for offset, kind, target, addend in part.relocations:
            at, name = places[part.number] + offset, target.name
            if target.section:
                addend += places[target.section] + target.value
                if is_code[target.section] and kind in _CALLS:
                    _CALLS[kind](contents[part.number], offset, addend - at)
                    continue
                name = starts[is_code[target.section]]
                symbols.define(name, number + (not is_code[target.section]), 0, 0)
            relocations.append(elf.RELA.pack(at, symbols.number(name) << 32 | kind, addend))
    replaced = {symtab: symbols.table, table.link: bytes(symbols.strings)}
    return rebuilt(file, replaced, [code, constants, relocations])


def _call_x86_64(content: bytearray, at: int, distance: int) -> None:
    struct.pack_into("<i", content, at, distance)


def _call_aarch64(content: bytearray, at: int, distance: int) -> None:
    (word,) = struct.unpack_from("<I", content, at)
    struct.pack_into("<I", content, at, word & 0xFC000000 | distance >> 2 & 0x03FFFFFF)


_CALLS: Final[Mapping[int, Callable[[bytearray, int, int], None]]] = {
    **dict.fromkeys((2, 4), _call_x86_64),  # R_X86_64_PC32, R_X86_64_PLT32
    **dict.fromkeys((282, 283), _call_aarch64),  # R_AARCH64_JUMP26, R_AARCH64_CALL26
}
"""Writes the distance of a call, by the relocation."""
