"""ELF files for linking: the symbols of objects and libraries, and edited objects.

The JIT finds an unresolved symbol only when a function is looked up, and names it on stderr;
reading the objects first is what lets `link` raise an error that names it.
"""

from __future__ import annotations

import platform
import struct
from collections.abc import Collection, Iterator, Mapping
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from ffi_builder import elf
from ffi_builder.elf import MAGIC, Elf, Section
from ffi_builder.errors import CompileError, LinkError
from ffi_builder.records import dataclass
from ffi_builder.view import View

_RELA = struct.Struct("<QQq")
_SYM_AFTER_NAME = struct.Struct("<BBHQQ")
_SMALL = 1 << 16
_BITCODE = b"BC\xc0\xde"
_MACHINES = {"x86_64": 62, "aarch64": 183}
_MACHINE_NAMES = {number: name for name, number in _MACHINES.items()}


class Symbol(NamedTuple):
    """One global or weak symbol of an object."""

    name: str
    defined: bool
    weak: bool
    """Weak or common: may be defined again elsewhere, and if undefined may stay so."""
    exported: bool
    """Defined, a function, and visible outside of its library."""
    indirect: bool
    """Its address is chosen when it is loaded (`ifunc`)."""


class Reach(IntEnum):
    """The place of a relocation's symbol."""

    SECTION = 0
    """The section that is relocated."""
    OBJECT = 1
    """Another section of the object."""
    ELSEWHERE = 2
    """Another object, or the process."""


class Relocation(NamedTuple):
    """A kind of relocation that an object has."""

    type: int
    """`R_X86_64_…` or `R_AARCH64_…`."""
    reach: Reach


@dataclass(frozen=True)
class ObjectFile:
    """One relocatable object, as far as linking needs it."""

    data: bytes
    symbols: tuple[Symbol, ...]
    thread_local: bool
    """It has thread-local variables."""
    relocations: frozenset[Relocation]
    """Relocations of loaded sections: debug information has others."""
    constructors: bool
    destructors: bool


def read_object(data: bytes, machine: str | None = None) -> ObjectFile:
    """Read `data`.

    Raises CompileError if it is not a relocatable ELF-64 object for `machine`, by default this one.
    """
    # Each compilation reads the same helpers again.
    return _read_once(data, machine) if len(data) <= _SMALL else _read(data, machine)


def _read(data: bytes, machine: str | None) -> ObjectFile:
    file = _object(data, machine)
    names = list(file.by_name)
    return ObjectFile(
        data,
        _symbols(file, elf.SHT_SYMTAB),
        any(section.flags & elf.SHF_TLS for section in file.sections),
        frozenset(_relocations(file)),
        # With a priority they are called `.init_array.200`.
        any(name.startswith((".init_array", ".ctors")) for name in names),
        any(name.startswith((".fini_array", ".dtors")) for name in names),
    )


_read_once = lru_cache(maxsize=32)(_read)


def read_library(data: bytes) -> tuple[Symbol, ...]:
    """The symbols of a shared library that it defines for others, and those that it needs.

    Raises LinkError if it is not an ELF-64 shared library for this machine.
    """
    if data[:4] != MAGIC:
        raise LinkError(f"Expected an ELF shared library, but it starts with {bytes(data[:8])!r}")
    file = Elf(View(data, "library", LinkError))
    if not file.header.is_64_little or file.header.type != elf.ET_DYN:
        raise LinkError(
            "Expected a shared library, but it is an object, an executable, or for another word "
            "size"
        )
    given, wanted = _machine_name(file.header.machine), platform.machine()
    if wanted in _MACHINES and given != wanted:
        raise LinkError(f"The library is for {given}, but this machine is {wanted}")
    return _symbols(file, elf.SHT_DYNSYM)


def content_of(data: bytes, symbol: str, machine: str | None = None) -> bytes | None:
    """The bytes of a constant that object `data` defines, or None if it defines none.

    Raises CompileError as `read_object` does.
    """
    file = _object(data, machine)
    table = _symbol_table(file)
    places = _places(file.symbol_names(table), symbol)
    for name_at, _, _, section, value, size in file.symbols(table) if places else ():
        if name_at in places and section != elf.SHN_UNDEF:
            start = file.section(section, f"symbol {symbol!r}").offset + value
            return file.view.slice(start, size, f"symbol {symbol!r}")
    return None


def source_file(data: bytes) -> str | None:
    """The name of the file that object `data` was compiled from, or None if it names none or many.

    Raises CompileError as `read_object` does.
    """
    file = _object(data)
    table = _symbol_table(file)
    names = file.symbol_names(table)
    found = {name_at for name_at, info, *_ in file.symbols(table) if info & 15 == elf.STT_FILE}
    return (file.text(names, found.pop()) or None) if len(found) == 1 else None


def relocated(data: bytes, types: Collection[int]) -> list[str]:
    """The symbols, or sections, that relocations of these types in loaded sections refer to.

    Raises CompileError as `read_object` does.
    """
    file = _object(data)
    table = _symbol_table(file)
    names, symbols = file.symbol_names(table), list(file.symbols(table))
    found: dict[str, None] = {}
    for _, info in _relocation_infos(file):
        if info & 0xFFFFFFFF in types:
            name_at, kind, _, section, *_ = symbols[info >> 32]
            is_section = kind & 15 == elf.STT_SECTION
            name = file.name(file.sections[section]) if is_section else file.text(names, name_at)
            found[name] = None
    return list(found)


def rename_symbols(data: bytes, names: Mapping[str, str], machine: str | None = None) -> bytes:
    """A copy of object `data` with symbols renamed, and a new string table at its end."""
    file = _object(data, machine)
    table = _symbol_table(file)
    strings, out = bytearray(file.symbol_names(table)), bytearray(data)
    new_names = {at: new for old, new in names.items() for at in _places(strings, old)}
    for at, (name_at, *_) in zip(_positions(table), file.symbols(table), strict=True):
        if name_at in new_names:
            struct.pack_into("<I", out, at, len(strings))
            strings += new_names[name_at].encode() + b"\0"
    out += bytes(-len(out) % 16)
    moved = file.sections[table.link]._replace(offset=len(out), size=len(strings))
    _set_section(file, out, table.link, moved)
    return bytes(out + strings)


def with_empty_initialiser(data: bytes) -> bytes:
    """A copy of object `data` with an `.init_array` of no entries."""
    flags = elf.SHF_WRITE | elf.SHF_ALLOC
    return _with_section(_object(data), ".init_array", elf.SHT_INIT_ARRAY, flags, b"", 8)


def with_constant(data: bytes, symbol: str, content: bytes, machine: str | None = None) -> bytes:
    """A copy of object `data` in which `symbol`, which it has, is a constant of these bytes."""
    file = _object(data, machine)
    flags = elf.SHF_ALLOC
    out = bytearray(_with_section(file, ".rodata.constant", elf.SHT_PROGBITS, flags, content, 0))
    table = _symbol_table(file)
    places = _places(file.symbol_names(table), symbol)
    for at, (name_at, info, other, *_) in zip(_positions(table), file.symbols(table), strict=True):
        if name_at in places:
            place = (len(file.sections), 0, len(content))
            _SYM_AFTER_NAME.pack_into(out, at + 4, info, other, *place)
    return bytes(out)


class Function(NamedTuple):
    """A function of an object that is loaded."""

    address: int
    size: int
    name: str


def with_labels(data: bytes, prefix: str) -> tuple[bytes, dict[int, str]]:
    """A copy of object `data` with a symbol at the start of each section that has code.

    Also at the unwind tables. Returns the symbols by the numbers of their sections; all begin with
    `prefix`. They tell where local functions are, since the JIT keeps a section in one piece.
    """
    file = _object(data)
    table = _symbol_table(file)
    labels = {
        number: f"{prefix}{number}"
        for number, section in enumerate(file.sections)
        if section.size and (section.flags & elf.SHF_EXECINSTR or _is_unwind_table(file, section))
    }
    strings, entries = bytearray(file.symbol_names(table)), bytearray(file.content(table))
    for number, name in labels.items():
        fields = (len(strings), elf.STB_GLOBAL << 4, elf.STV_HIDDEN, number, 0, 0)
        entries += elf.SYM.pack(*fields)
        strings += name.encode() + b"\0"
    out = bytearray(data)
    for section, content in ((table, entries), (file.sections[table.link], strings)):
        out += bytes(-len(out) % 16)
        moved = section._replace(offset=len(out), size=len(content))
        _set_section(file, out, file.sections.index(section), moved)
        out += content
    return bytes(out), labels


def with_addresses(data: bytes, addresses: Mapping[int, int]) -> bytes:
    """A copy of object `data` that says at which addresses its sections were loaded."""
    file, out = _object(data), bytearray(data)
    for number, address in addresses.items():
        moved = file.section(number, "code")._replace(address=address)
        _set_section(file, out, number, moved)
    return bytes(out)


def functions_at(data: bytes, addresses: Mapping[int, int]) -> Iterator[Function]:
    """The functions in those sections of object `data` that were loaded at `addresses`."""
    file = _object(data)
    table = _symbol_table(file)
    names = file.symbol_names(table)
    for name_at, info, _, section, value, size in file.symbols(table):
        if info & 15 == elf.STT_FUNC and section in addresses and size:
            yield Function(addresses[section] + value, size, file.text(names, name_at))


def _is_unwind_table(file: Elf, section: Section) -> bool:
    return file.name(section) == ".eh_frame"


def _set_section(file: Elf, out: bytearray, number: int, section: Section) -> None:
    elf.SHDR.pack_into(out, file.header.sections_at + number * elf.SHDR.size, *section)


def _with_section(
    file: Elf, name: str, kind: int, flags: int, content: bytes, entry_size: int
) -> bytes:
    """A copy of an object with one more section behind the others, aligned to 16 bytes."""
    data, sections, at = file.view.data, list(file.sections), file.header.section_names
    strtab = file.section(at, "the names")
    out = bytearray(data + bytes(-len(data) % 16))
    names = file.content(strtab) + name.encode() + b"\0"
    sections[at] = strtab._replace(offset=len(out), size=len(names))
    out += names + bytes(-len(names) % 16)
    fields = (strtab.size, kind, flags, 0, len(out), len(content), 0, 0, 16, entry_size)
    sections.append(Section(*fields))
    out += content + bytes(-len(content) % 16)
    header = file.header._replace(sections_at=len(out), section_count=len(sections))
    elf.EHDR.pack_into(out, 0, *header)
    return bytes(out) + b"".join(elf.SHDR.pack(*section) for section in sections)


def _object(data: bytes, machine: str | None = None) -> Elf:
    """The file, if it is a relocatable object for `machine`, by default this one."""
    if data[:4] != MAGIC:
        hint = ""
        if data[:4] == _BITCODE:
            hint = (
                ": it is LLVM bitcode; compile it without -flto to an object, or with "
                "-S -emit-llvm to LLVM IR text"
            )
        if data[:8] == b"!<arch>\n":
            hint = " of a static library: `ld -r --whole-archive lib.a -o lib.o` makes an object"
        raise CompileError(
            f"Expected an ELF object file, but the bytes start with {bytes(data[:8])!r}{hint}"
        )
    file = Elf(View(data, "object file", CompileError))
    if not file.header.is_64_little or file.header.type != elf.ET_REL:
        raise CompileError(
            "Expected a relocatable 64-bit little-endian ELF object (as `cc -c -fPIC` makes), "
            "but the file is an executable, a shared library (for the JIT, "
            "ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL) loads one), or for another word size"
        )
    given, wanted = _machine_name(file.header.machine), machine or platform.machine()
    if wanted in _MACHINES and given != wanted:
        what = "this machine" if machine is None else "the target"
        raise CompileError(f"The object file is for {given}, but {what} is {wanted}")
    return file


def _symbol_table(file: Elf) -> Section:
    table = file.table(elf.SHT_SYMTAB)
    return file.view.damaged("it has no symbols") if table is None else table


def _places(strings: bytes | bytearray, name: str) -> set[int]:
    """Return the offset of a name in a table of strings; it may be the end of a longer one."""
    wanted, found = name.encode() + b"\0", set[int]()
    at = strings.find(wanted)
    while at >= 0:
        found.add(at)
        at = strings.find(wanted, at + 1)
    return found


def _positions(table: Section) -> range:
    """Return the offsets of the entries of a symbol table."""
    return range(table.offset, table.offset + table.size, elf.SYM.size)


def _machine_name(number: int) -> str:
    return _MACHINE_NAMES.get(number, f"ELF machine {number}")


def _symbols(file: Elf, kind: int) -> tuple[Symbol, ...]:
    """The global and weak symbols of the table of this kind, if there is one."""
    table = file.table(kind)
    if table is None:
        return ()
    names, found = file.symbol_names(table), list[Symbol]()
    for name_at, info, other, section, _, _ in file.symbols(table):
        binding, defined = info >> 4, section != elf.SHN_UNDEF
        if binding != elf.STB_LOCAL:
            visible = other & 3 in (elf.STV_DEFAULT, elf.STV_PROTECTED)
            symbol = Symbol(
                file.text(names, name_at),
                defined,
                binding == elf.STB_WEAK or section == elf.SHN_COMMON,
                defined and info & 15 == elf.STT_FUNC and visible,
                info & 15 == elf.STT_GNU_IFUNC,
            )
            found.append(symbol)
    return tuple(found)


def _relocations(file: Elf) -> Iterator[Relocation]:
    """The relocations in sections that are loaded."""
    places = _symbol_sections(file)
    for section, info in _relocation_infos(file):
        symbol = info >> 32
        if symbol >= len(places):
            file.view.damaged(f"{file.describe(section)} refers to symbol {symbol}")
        yield Relocation(info & 0xFFFFFFFF, _reach(places[symbol], section.info))


def _relocation_infos(file: Elf) -> Iterator[tuple[Section, int]]:
    """The different `r_info` of each section with relocations of a section that is loaded."""
    for section in file.sections:
        if (
            section.kind != elf.SHT_RELA
            or not file.section(section.info, "what is relocated").flags & elf.SHF_ALLOC
        ):
            continue
        content = file.content(section)
        if len(content) % _RELA.size:
            size = f"{len(content)} bytes, no multiple of {_RELA.size}"
            file.view.damaged(f"{file.describe(section)} has {size}")
        for info in dict.fromkeys(info for _, info, _ in _RELA.iter_unpack(content)):
            yield section, info


def _symbol_sections(file: Elf) -> list[int | None]:
    """The sections of all symbols by their numbers; None for the object's own offset table."""
    table = file.table(elf.SHT_SYMTAB)
    if table is None:
        return []
    own = _places(file.symbol_names(table), "_GLOBAL_OFFSET_TABLE_")
    return [None if name in own else section for name, _, _, section, *_ in file.symbols(table)]


def _reach(place: int | None, relocated: int) -> Reach:
    if place == elf.SHN_UNDEF:
        return Reach.ELSEWHERE
    return Reach.SECTION if place == relocated else Reach.OBJECT
