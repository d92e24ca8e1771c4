"""Reading ELF files: the symbols of objects and libraries, and what else linking objects needs.

The JIT finds an unresolved symbol only when a function is looked up, and names it on stderr;
reading the objects first is what lets `link` raise an error that names it. Layouts are those of the
ELF-64 specification: Ehdr 64 bytes, Shdr 64, Sym 24, Rela 24.
"""

from __future__ import annotations

import platform
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ffi_builder.errors import CompileError, LinkError

MAGIC = b"\x7fELF"

_EHDR = struct.Struct("<16sHHIQQQIHHHHHH")
_SHDR = struct.Struct("<IIQQQQIIQQ")
_SYM = struct.Struct("<IBBHQQ")
_RELA = struct.Struct("<QQq")

_SHOFF, _SHNUM, _SHSTRNDX = 6, 12, 13  # fields of the header
_ET_REL, _ET_DYN = 1, 3
_CLASS_64_LITTLE = b"\x02\x01"
_SHT_PROGBITS, _SHT_SYMTAB, _SHT_RELA, _SHT_DYNSYM, _SHT_INIT_ARRAY = 1, 2, 4, 11, 14
_SHF_WRITE, _SHF_ALLOC, _SHF_TLS = 0x1, 0x2, 0x400
_SHN_UNDEF, _SHN_COMMON = 0, 0xFFF2
_STB_LOCAL, _STB_WEAK = 0, 2
_STT_FUNC, _STT_GNU_IFUNC = 2, 10
_STV_DEFAULT, _STV_PROTECTED = 0, 3
_MACHINES = {"x86_64": 62, "aarch64": 183}
_DAMAGED = "The object file is truncated or damaged"
_MACHINE_NAMES = {number: name for name, number in _MACHINES.items()}


@dataclass(frozen=True)
class Symbol:
    """One global or weak symbol of an object."""

    name: str
    defined: bool
    weak: bool
    """Weak or common: may be defined again elsewhere, and if undefined may stay so."""
    exported: bool
    """Defined, a function, and visible outside of its library."""
    indirect: bool
    """What it stands for is chosen when it is loaded (`ifunc`)."""


@dataclass(frozen=True)
class ObjectFile:
    """What linking needs to know of one relocatable object."""

    data: bytes
    symbols: tuple[Symbol, ...]
    thread_local: bool
    """It has thread-local variables."""
    relocation_types: frozenset[int]
    """Those in sections that are loaded: debug information has others."""
    constructors: bool
    destructors: bool


def read_object(data: bytes, machine: str | None = None) -> ObjectFile:
    """Read `data`.

    Raises CompileError if it is not a relocatable ELF-64 object for `machine`, by default this one.
    """
    try:
        sections = _sections(data, machine)
        symtabs = [section for section in sections if section[1] == _SHT_SYMTAB]
        symbols = [symbol for section in symtabs for symbol in _symbols(data, sections, section)]
        strtab = sections[_section_names_at(data)]
        names = [_string(data, strtab, section[0]) for section in sections]
        loaded = [
            section
            for section in sections
            if section[1] == _SHT_RELA and sections[section[7]][2] & _SHF_ALLOC
        ]
        return ObjectFile(
            data,
            tuple(symbols),
            any(section[2] & _SHF_TLS for section in sections),
            frozenset(kind for section in loaded for kind in _relocation_types(data, section)),
            # With a priority they are called `.init_array.200`.
            any(name.startswith((".init_array", ".ctors")) for name in names),
            any(name.startswith((".fini_array", ".dtors")) for name in names),
        )
    except (struct.error, IndexError, ValueError) as error:
        raise CompileError(f"{_DAMAGED}: {error}") from error


def read_library(data: bytes) -> tuple[Symbol, ...]:
    """The symbols of a shared library that it defines for others, and those that it needs.

    Raises LinkError if it is not an ELF-64 shared library for this machine.
    """
    if data[:4] != MAGIC:
        raise LinkError(f"Expected an ELF shared library, but it starts with {bytes(data[:8])!r}")
    try:
        header = _EHDR.unpack_from(data)
        if header[0][4:6] != _CLASS_64_LITTLE or header[1] != _ET_DYN:
            raise LinkError(
                "Expected a shared library, but it is an object, an executable, or for another "
                "word size"
            )
        given, wanted = _machine_name(header[2]), platform.machine()
        if wanted in _MACHINES and given != wanted:
            raise LinkError(f"The library is for {given}, but this machine is {wanted}")
        sections = _section_headers(data)
        tables = [section for section in sections if section[1] == _SHT_DYNSYM]
        return tuple(symbol for table in tables for symbol in _symbols(data, sections, table))
    except (struct.error, IndexError, ValueError) as error:
        raise LinkError(f"The library is truncated or damaged: {error}") from error


def content_of(data: bytes, symbol: str, machine: str | None = None) -> bytes | None:
    """The bytes of a constant that object `data` defines, or None if it defines none.

    Raises CompileError as `read_object` does.
    """
    try:
        sections = _sections(data, machine)
        for _, symtab in _symbol_tables(sections):
            strtab = sections[symtab[6]]
            for offset in range(symtab[4], symtab[4] + symtab[5], _SYM.size):
                name_at, _, _, section, value, size = _SYM.unpack_from(data, offset)
                if section != _SHN_UNDEF and _string(data, strtab, name_at) == symbol:
                    holder: int = section
                    start: int = sections[holder][4] + value
                    return data[start : start + size]
    except (struct.error, IndexError, ValueError) as error:
        raise CompileError(f"{_DAMAGED}: {error}") from error
    return None


def rename_symbols(data: bytes, names: Mapping[str, str], machine: str | None = None) -> bytes:
    """A copy of object `data` with symbols renamed, and a new string table at its end."""
    sections = _sections(data, machine)
    index, symtab = next(_symbol_tables(sections))
    strtab = sections[symtab[6]]
    strings = bytearray(data[strtab[4] : strtab[4] + strtab[5]])
    out = bytearray(data)
    for offset in range(symtab[4], symtab[4] + symtab[5], _SYM.size):
        new = names.get(_string(data, strtab, struct.unpack_from("<I", data, offset)[0]))
        if new is not None:
            struct.pack_into("<I", out, offset, len(strings))
            strings += new.encode() + b"\0"
    out += bytes(-len(out) % 16)
    table = (*strtab[:4], len(out), len(strings), *strtab[6:])
    _SHDR.pack_into(out, _EHDR.unpack_from(data)[6] + sections[index][6] * _SHDR.size, *table)
    return bytes(out + strings)


def with_empty_initialiser(data: bytes) -> bytes:
    """A copy of object `data` with an `.init_array` of no entries."""
    flags = _SHF_WRITE | _SHF_ALLOC
    return _with_section(data, ".init_array", _SHT_INIT_ARRAY, flags, b"", 8)


def with_constant(data: bytes, symbol: str, content: bytes, machine: str | None = None) -> bytes:
    """A copy of object `data` in which `symbol`, which it has, is a constant of these bytes."""
    sections = _sections(data, machine)
    out = bytearray(
        _with_section(data, ".rodata.constant", _SHT_PROGBITS, _SHF_ALLOC, content, 0, machine)
    )
    _, symtab = next(_symbol_tables(sections))
    strtab = sections[symtab[6]]
    for offset in range(symtab[4], symtab[4] + symtab[5], _SYM.size):
        name_at, info, other, *_ = _SYM.unpack_from(data, offset)
        if _string(data, strtab, name_at) == symbol:
            _SYM.pack_into(out, offset, name_at, info, other, len(sections), 0, len(content))
    return bytes(out)


def _with_section(
    data: bytes,
    name: str,
    kind: int,
    flags: int,
    content: bytes,
    entry_size: int,
    machine: str | None = None,
) -> bytes:
    """A copy of object `data` with one more section behind the others, aligned to 16 bytes."""
    sections, at = _sections(data, machine), _section_names_at(data)
    strtab = sections[at]
    out = bytearray(data + bytes(-len(data) % 16))
    names = data[strtab[4] : strtab[4] + strtab[5]] + name.encode() + b"\0"
    sections[at] = (*strtab[:4], len(out), len(names), *strtab[6:])
    out += names + bytes(-len(names) % 16)
    sections.append((strtab[5], kind, flags, 0, len(out), len(content), 0, 0, 16, entry_size))
    out += content + bytes(-len(content) % 16)
    header = list(_EHDR.unpack_from(data))
    header[_SHOFF], header[_SHNUM] = len(out), len(sections)
    _EHDR.pack_into(out, 0, *header)
    return bytes(out) + b"".join(_SHDR.pack(*section) for section in sections)


_Section = tuple[int, int, int, int, int, int, int, int, int, int]


def _sections(data: bytes, machine: str | None = None) -> list[_Section]:
    if data[:4] != MAGIC:
        raise CompileError(
            f"Expected an ELF object file, but the bytes start with {bytes(data[:8])!r}"
        )
    header = _EHDR.unpack_from(data)
    if header[0][4:6] != _CLASS_64_LITTLE or header[1] != _ET_REL:
        raise CompileError(
            "Expected a relocatable 64-bit little-endian ELF object (as `cc -c -fPIC` makes), "
            "but the file is an executable, a shared library, or for another word size"
        )
    given, wanted = _machine_name(header[2]), machine or platform.machine()
    if wanted in _MACHINES and given != wanted:
        what = "this machine" if machine is None else "the target"
        raise CompileError(f"The object file is for {given}, but {what} is {wanted}")
    return _section_headers(data)


def _section_headers(data: bytes) -> list[_Section]:
    header = _EHDR.unpack_from(data)
    offset, count = header[6], header[12]
    return [_SHDR.unpack_from(data, offset + index * _SHDR.size) for index in range(count)]


def _symbol_tables(sections: list[_Section]) -> Iterator[tuple[int, _Section]]:
    """The tables of symbols of an object, with their numbers; objects have one at most."""
    return ((at, found) for at, found in enumerate(sections) if found[1] == _SHT_SYMTAB)


def _section_names_at(data: bytes) -> int:
    """The number of the section that has the names of sections."""
    return _EHDR.unpack_from(data)[_SHSTRNDX]


def _machine_name(number: int) -> str:
    return _MACHINE_NAMES.get(number, f"ELF machine {number}")


def _symbols(data: bytes, sections: list[_Section], symtab: _Section) -> list[Symbol]:
    strtab = sections[symtab[6]]
    found: list[Symbol] = []
    for name_at, info, other, section, _, _ in _SYM.iter_unpack(
        data[symtab[4] : symtab[4] + symtab[5]]
    ):
        if info >> 4 == _STB_LOCAL:
            continue
        defined = section != _SHN_UNDEF
        found.append(
            Symbol(
                _string(data, strtab, name_at),
                defined,
                info >> 4 == _STB_WEAK or section == _SHN_COMMON,
                defined and info & 15 == _STT_FUNC and other & 3 in (_STV_DEFAULT, _STV_PROTECTED),
                info & 15 == _STT_GNU_IFUNC,
            )
        )
    return found


def _relocation_types(data: bytes, section: _Section) -> Iterator[int]:
    entries = _RELA.iter_unpack(data[section[4] : section[4] + section[5]])
    return (info & 0xFFFFFFFF for _, info, _ in entries)


def _string(data: bytes, strtab: _Section, at: int) -> str:
    start = strtab[4] + at
    return data[start : data.index(b"\0", start)].decode()
