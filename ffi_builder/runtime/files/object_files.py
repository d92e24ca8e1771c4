"""Reads and edits ELF files for linking: the symbols of objects and libraries, and edited objects.

The JIT finds an unresolved symbol only when a function is looked up, and names it only on stderr.
So `link` reads the objects first, and can raise an error that names the symbol.
"""

from __future__ import annotations

import platform
import struct
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from ffi_builder.errors import CompileError, LinkError
from ffi_builder.formats import elf, format_of
from ffi_builder.formats.elf import MAGIC, Elf, Section, SymbolFields, machine_name
from ffi_builder.records import dataclass
from ffi_builder.runtime.files.oddities import Oddity, oddities

_SYM_AFTER_NAME = struct.Struct("<BBHQQ")
_SMALL = 1 << 16
_READ_ONLY = ".rodata.constant", elf.SHT_PROGBITS, elf.SHF_ALLOC
_WRITABLE = ".data.variable", elf.SHT_PROGBITS, elf.SHF_ALLOC | elf.SHF_WRITE
_TLS_FUNCTION = -1
_TYPE = 0xFFFFFFFF
"""The bits of `r_info` that say the type of a relocation."""
_LOADS = {9: 2, 41: 2, 42: 2, 311: 275, 312: 286}
"""Relocations that load an address from the linker's table, and those that load from a symbol.

GOTPCREL, GOTPCRELX, REX_GOTPCRELX: PC32; ADR_GOT_PAGE: ADR_PREL_PG_HI21; LD64_GOT_LO12_NC:
LDST64_ABS_LO12_NC.
"""
CALLS = (4, 282, 283)
"""Relocations of calls: PLT32; JUMP26, CALL26."""
_MACHINES = ("x86_64", "aarch64")


class Symbol(NamedTuple):
    """One global or weak symbol of an object."""

    name: str
    defined: bool
    weak: bool
    """Weak, unique or common: it may be defined again elsewhere; if weak, remain undefined."""
    exported: bool
    """Defined, a function, and visible outside of its library."""
    data: bool = False
    """A variable."""
    thread_local: bool = False


class Reach(IntEnum):
    """The place of a relocation's symbol, seen from the relocation."""

    SECTION = 0
    """In the section that is relocated."""
    OBJECT = 1
    """In another section of the object."""
    ELSEWHERE = 2
    """In another object, or in the process."""
    THREAD = 3
    """Elsewhere: it is the function that finds thread-local variables."""


class Relocation(NamedTuple):
    """A kind of relocation that an object has."""

    type: int
    """`R_X86_64_…` or `R_AARCH64_…`."""
    reach: Reach


@dataclass(frozen=True)
class ObjectFile:
    """One relocatable object, with the facts that linking needs."""

    data: bytes
    symbols: tuple[Symbol, ...]
    thread_local: bool
    """It has thread-local variables."""
    relocations: frozenset[Relocation]
    """The relocations of loaded sections. Those of debug information are left out."""
    sections: frozenset[str]
    """The names of its sections."""
    constructors: bool
    destructors: bool
    oddities: Mapping[Oddity, list[str]]
    """The symbols or sections that have each oddity. Most objects have none."""
    machine: str | None = None
    """The machine that it was read for; None for this one."""


def read_object(data: bytes, machine: str | None = None) -> ObjectFile:
    """Read `data`.

    Raises CompileError if it is not a relocatable ELF-64 object for `machine`, by default this one.
    """
    # Each compilation reads the same objects of wrappers again.
    return _read_once(data, machine) if len(data) <= _SMALL else _read(data, machine)


def _read(data: bytes, machine: str | None) -> ObjectFile:
    file = _object(data, machine)
    names = frozenset(file.by_name)
    return ObjectFile(
        data,
        tuple(symbols_of(file, elf.SHT_SYMTAB)),
        any(section.flags & elf.SHF_TLS for section in file.sections),
        frozenset(_relocations(file)),
        names,
        # With a priority they are called `.init_array.200`.
        any(name.startswith((".init_array", ".ctors")) for name in names),
        any(name.startswith((".fini_array", ".dtors")) for name in names),
        oddities(file),
        machine,
    )


_read_once = lru_cache(maxsize=32)(_read)


def read_library(data: bytes) -> tuple[Symbol, ...]:
    """Return the symbols that a shared library defines for others, and those that it needs.

    Raises LinkError if it is not an ELF-64 shared library for this machine.
    """
    if data[:4] != MAGIC:
        raise LinkError(f"Expected an ELF shared library, but it starts with {bytes(data[:8])!r}")
    file = Elf(data, "library", LinkError)
    if not file.header.is_64_little or file.header.type != elf.ET_DYN:
        raise LinkError(
            "Expected a shared library, but it is an object, an executable, or for another word "
            "size"
        )
    given, wanted = machine_name(file.header.machine), platform.machine()
    if wanted in _MACHINES and given != wanted:
        raise LinkError(f"The library is for {given}, but this machine is {wanted}")
    return tuple(symbols_of(file, elf.SHT_DYNSYM))


def movable(data: bytes, dropped: Collection[int] = ()) -> bytes:
    """Return a copy of shared library `data` that needs others by their names, not by paths.

    It lacks the entries of the dynamic section with the tags `dropped`.
    """
    file = Elf(data, "library", LinkError)
    section, strings = file.find(".dynamic"), file.find(".dynstr")
    if section is None or strings is None:
        return data
    names, out = file.content(strings), bytearray()
    for tag, value in elf.DYN.iter_unpack(file.content(section)):
        if tag == elf.DT_NEEDED:
            value += file.text(names, value).rfind("/") + 1  # the name is the end of the path
        if tag not in dropped:
            out += elf.DYN.pack(tag, value)
    end = section.offset + section.size
    return data[: section.offset] + bytes(out).ljust(section.size, b"\0") + data[end:]


def content_of(data: bytes, symbol: str, machine: str | None = None) -> bytes | None:
    """Return the bytes of a constant in object `data`; None if the object does not define it.

    Raises CompileError as `read_object` does.
    """
    file, table, names = _with_symbols(data, machine)
    places = _places(names, symbol)
    for name_at, _, _, section, value, size in file.symbols(table) if places else ():
        if name_at in places and section != elf.SHN_UNDEF:
            start = file.section(section, f"symbol {symbol!r}").offset + value
            return file.slice(start, size, f"symbol {symbol!r}")
    return None


def source_file(data: bytes, machine: str | None = None) -> str | None:
    """Return the name of the source file of object `data`; None if it names none, or several.

    Raises CompileError as `read_object` does.
    """
    file, table, names = _with_symbols(data, machine)
    offsets = {name_at for name_at, info, *_ in file.symbols(table) if info & 15 == elf.STT_FILE}
    return (file.text(names, offsets.pop()) or None) if len(offsets) == 1 else None


def relocated(data: bytes, types: Collection[int], machine: str | None = None) -> list[str]:
    """Return the symbols and sections to which relocations of these types in loaded sections refer.

    Raises CompileError as `read_object` does.
    """
    file, table, names = _with_symbols(data, machine)
    symbols = list(file.symbols(table))
    targets: dict[str, None] = {}
    for _, info in _relocation_infos(file):
        if info & _TYPE in types:
            name_at, kind, _, section, *_ = symbols[info >> 32]
            is_section = kind & 15 == elf.STT_SECTION
            name = file.name(file.sections[section]) if is_section else file.text(names, name_at)
            targets[name] = None
    return list(targets)


def rename_symbols(data: bytes, names: Mapping[str, str], machine: str | None = None) -> bytes:
    """Return a copy of object `data` with symbols renamed."""
    return with_constants(data, {}, machine, names)


def with_visible(data: bytes, names: Collection[str]) -> bytes:
    """Return a copy of object `data` in which other libraries see the symbols it defines."""
    file, table, _ = _with_symbols(data)
    symbols, out = Symbols(file, table), bytearray(data)
    for name in filter(symbols.is_defined, names):
        number = symbols.number(name)
        name_at, info, other, *place = symbols.fields[number]
        start = table.offset + number * elf.SYM.size
        elf.SYM.pack_into(out, start, name_at, info, other & ~3, *place)
    return bytes(out)


def with_empty_initialiser(data: bytes) -> bytes:
    """Return a copy of object `data` with an `.init_array` of no entries."""
    flags = elf.SHF_WRITE | elf.SHF_ALLOC
    return rebuilt(_object(data), {}, [Added(".init_array", elf.SHT_INIT_ARRAY, flags, 8)])


def with_pointers(data: bytes, addresses: Mapping[str, int]) -> bytes:
    """Return object `data`, or a copy that has the addresses of symbols, to load them from.

    Symbols that it uses in other ways than by loading their addresses are left as they are.
    """
    file, table, _ = _with_symbols(data)
    symbols = Symbols(file, table)
    others = {info >> 32 for _, info in _relocation_infos(file) if info & _TYPE not in _LOADS}
    names = [n for n in addresses if n in symbols and symbols.number(n) not in others]
    if not names:
        return data
    numbers = set(map(symbols.number, names))

    def direct(info: int) -> int:
        kind = info & _TYPE
        return info - kind + _LOADS.get(kind, kind) if info >> 32 in numbers else info

    pointers = {n: Constant(addresses[n].to_bytes(8, "little"), 8, local=True) for n in names}
    return with_constants(rebuilt(file, _with_infos(file, direct), []), pointers)


class Constant(NamedTuple):
    """The data of a symbol, which an object may only declare."""

    data: bytes | memoryview
    align: int = 16
    """The alignment in bytes, a power of two."""
    local: bool = False
    """Whether other objects cannot see it."""
    writable: bool = False


def with_constants(
    data: bytes,
    constants: Mapping[str, Constant],
    machine: str | None = None,
    renamed: Mapping[str, str] = {},
) -> bytes:
    """Return a copy of object `data` that defines `constants`, by their symbols.

    Local constants that the object does not need are left out. Before, symbols are `renamed`.
    """
    file, table, _ = _with_symbols(data, machine)
    symbols = Symbols(file, table)
    symbols.rename(renamed)
    added: list[Added] = []
    local = set(range(table.info))
    for writable in (False, True):
        section = Added(*(_WRITABLE if writable else _READ_ONLY))
        for name, constant in constants.items():
            if constant.writable != writable or (constant.local and name not in symbols):
                continue
            at = symbols.number(name)
            _, info, other, *_ = symbols.fields[at]
            if constant.local:
                local.add(at)
                info, other = elf.STB_LOCAL, 0
            number = len(file.sections) + len(added)
            start = section.append(constant.data, constant.align)
            info = info & ~15 | elf.STT_OBJECT
            symbols.define(name, info, other, number, start, len(constant.data))
        if section.pieces:
            added.append(section)
    # Local symbols come before all others, so some symbols get new numbers.
    order = sorted(range(len(symbols.fields)), key=lambda at: at not in local)
    symbols.fields = [symbols.fields[at] for at in order]
    replaced, infos = symbols.contents(), {file.sections.index(table): len(local)}
    if len(local) > table.info:
        numbers = {old: new for new, old in enumerate(order)}
        replaced |= _with_infos(file, lambda info: numbers[info >> 32] << 32 | info & _TYPE)
        groups = (at for at, each in enumerate(file.sections) if each.kind == elf.SHT_GROUP)
        infos |= {at: numbers[file.sections[at].info] for at in groups}
    return rebuilt(file, replaced, added, infos)


def _with_infos(file: Elf, changed: Callable[[int], int]) -> dict[int, bytes]:
    """Return the contents of all relocations with their `r_info` changed, by section."""
    return {
        at: b"".join(
            elf.RELA.pack(offset, changed(info), addend)
            for offset, info, addend in elf.RELA.iter_unpack(file.content(section))
        )
        for at, section in enumerate(file.sections)
        if section.kind == elf.SHT_RELA
    }


class Function(NamedTuple):
    """A function of a loaded object."""

    address: int
    size: int
    name: str


def with_labels(data: bytes, prefix: str) -> tuple[bytes, dict[int, str]]:
    """Copy object `data`, with a symbol at the start of each section with code or unwind tables.

    Also return the symbols by the numbers of their sections. All begin with `prefix`. Their
    addresses tell where local functions are, since the JIT keeps a section in one piece.
    """
    file, table, _ = _with_symbols(data)
    labels = {
        number: f"{prefix}{number}"
        for number, section in enumerate(file.sections)
        if section.size and (section.flags & elf.SHF_EXECINSTR or file.name(section) == ".eh_frame")
    }
    symbols = Symbols(file, table)
    for number, name in labels.items():
        symbols.define(name, elf.STB_GLOBAL << 4, elf.STV_HIDDEN, number, 0, 0)
    return rebuilt(file, symbols.contents(), []), labels


def with_addresses(data: bytes, addresses: Mapping[int, int]) -> bytes:
    """Return a copy of object `data` that has the addresses at which its sections were loaded."""
    file, out = _object(data), bytearray(data)
    for number, address in addresses.items():
        moved = file.section(number, "code")._replace(address=address)
        elf.SHDR.pack_into(out, file.header.sections_at + number * elf.SHDR.size, *moved)
    return bytes(out)


def functions_at(data: bytes, addresses: Mapping[int, int]) -> Iterator[Function]:
    """Yield the functions in the sections of object `data` that were loaded at `addresses`."""
    file, table, names = _with_symbols(data)
    for name_at, info, _, section, value, size in file.symbols(table):
        if info & 15 == elf.STT_FUNC and section in addresses and size:
            yield Function(addresses[section] + value, size, file.text(names, name_at))


class Symbols:
    """The symbols of an object, to be changed, and those to add to it."""

    def __init__(self, file: Elf, table: Section) -> None:
        names = file.symbol_names(table)
        self.fields: list[SymbolFields] = list(file.symbols(table))
        self._file, self._table, self._names = file, table, bytearray(names)
        others = enumerate(self.fields[table.info :], table.info)  # all but the local ones
        self._numbers = {file.text(names, fields[0]): number for number, fields in others}

    def __contains__(self, name: str) -> bool:
        return name in self._numbers

    def is_undefined(self, name: str) -> bool:
        """Return whether the object needs a symbol and does not define it."""
        return name in self and self.fields[self._numbers[name]][3] == elf.SHN_UNDEF

    def is_defined(self, name: str) -> bool:
        """Return whether the object defines a symbol that other objects see."""
        return name in self and not self.is_undefined(name)

    def number(self, name: str) -> int:
        """Return the number of a symbol. Add it as undefined if it is new."""
        if name not in self:
            self._numbers[name] = len(self.fields)
            self.fields.append((self._named(name), elf.STB_GLOBAL << 4, elf.STV_DEFAULT, 0, 0, 0))
        return self._numbers[name]

    def define(self, name: str, info: int, other: int, section: int, value: int, size: int) -> None:
        """Set all fields of a symbol but its name. Add it if it is new."""
        number = self.number(name)
        self.fields[number] = self.fields[number][0], info, other, section, value, size

    def rename(self, names: Mapping[str, str]) -> None:
        """Give symbols other names; those that the object lacks are left out."""
        for name in filter(names.get, self._numbers):
            number = self._numbers[name]
            self.fields[number] = self._named(names[name]), *self.fields[number][1:]
        self._numbers = {names.get(name, name): at for name, at in self._numbers.items()}

    def contents(self) -> dict[int, bytes]:
        """Return the contents of the sections with the symbols and with their names."""
        table = b"".join([elf.SYM.pack(*fields) for fields in self.fields])
        number = self._file.sections.index(self._table)
        return {number: table, self._table.link: bytes(self._names)}

    def _named(self, name: str) -> int:
        at = len(self._names)
        self._names += name.encode() + b"\0"
        return at


class Added:
    """A section to add to an object."""

    def __init__(self, name: str, kind: int, flags: int, entry_size: int = 0) -> None:
        self.name, self.pieces, self.size, self.align = name, list[bytes | memoryview](), 0, 16
        self.link, self.info = 0, 0
        self._kind, self._flags, self._entry_size = kind, flags, entry_size

    def append(self, data: bytes | memoryview, align: int = 1) -> int:
        """Append bytes, and return where they begin."""
        start = -(-self.size // align) * align
        self.pieces += bytes(start - self.size), data
        self.size, self.align = start + len(data), max(self.align, align)
        return start

    def header(self, name_at: int, offset: int) -> Section:
        """Return the section's header."""
        start = name_at, self._kind, self._flags, 0, offset, self.size
        return Section(*start, self.link, self.info, self.align, self._entry_size)


def rebuilt(
    file: Elf, replaced: Mapping[int, bytes], added: Sequence[Added], infos: Mapping[int, int] = {}
) -> bytes:
    """Copy an object, with new contents of some sections, and more sections at its end.

    The data is copied only once, since sections may be large. `infos` has new values of `sh_info`.
    """
    sections, names_at = list(file.sections), file.header.section_names
    # The names of sections may be in the same section as the names of symbols.
    names = bytearray(replaced.get(names_at) or file.content(file.section(names_at, "the names")))
    contents = {**replaced, names_at: names}
    pieces: list[bytes | bytearray | memoryview] = [b""]
    end = elf.EHDR.size

    def append(content: Sequence[bytes | bytearray | memoryview], size: int, align: int) -> int:
        nonlocal end
        start = -(-end // align) * align
        pieces.extend((bytes(start - end), *content))
        end = start + size
        return start

    name_places: list[int] = []
    for section in added:
        name_places.append(len(names))
        names += section.name.encode() + b"\0"
    data = memoryview(file.data[:])
    for at, section in enumerate(file.sections):
        if section.kind in (elf.SHT_NULL, elf.SHT_NOBITS):
            continue
        content = contents.get(at, data[section.offset : section.offset + section.size])
        offset = append([content], len(content), max(section.align, 1))
        sections[at] = section._replace(
            offset=offset, size=len(content), info=infos.get(at, section.info)
        )
    for section, name_at in zip(added, name_places, strict=True):
        offset = append(section.pieces, section.size, section.align)
        sections.append(section.header(name_at, offset))
    headers = b"".join(elf.SHDR.pack(*section) for section in sections)
    place = append([headers], len(headers), 16)
    header = file.header._replace(sections_at=place, section_count=len(sections))
    pieces[0] = elf.EHDR.pack(*header)
    return b"".join(pieces)


def _object(data: bytes, machine: str | None = None) -> Elf:
    """Read a relocatable object for `machine`, by default this one."""
    known = format_of(data)
    if known is not None or data[:4] != MAGIC:
        raise CompileError(
            f"Expected an ELF object file, but the bytes "
            f"{f'are {known}' if known else f'start with {bytes(data[:8])!r}'}"
        )
    file = Elf(data, "object file", CompileError)
    if not file.header.is_64_little or file.header.type != elf.ET_REL:
        raise CompileError(
            "Expected a relocatable 64-bit little-endian ELF object (as `cc -c -fPIC` makes), "
            "but the file is an executable, a shared library (for the JIT, "
            "ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL) loads one), or for another word size"
        )
    given, wanted = machine_name(file.header.machine), machine or platform.machine()
    if wanted in _MACHINES and given != wanted:
        what = "this machine" if machine is None else "the target"
        raise CompileError(f"The object file is for {given}, but {what} is {wanted}")
    return file


def _with_symbols(data: bytes, machine: str | None = None) -> tuple[Elf, Section, bytes]:
    """Return an object, its table of symbols, and their names."""
    file = _object(data, machine)
    table = file.table(elf.SHT_SYMTAB)
    if table is None:
        file.damaged("it has no symbols")
    return file, table, file.symbol_names(table)


def _places(strings: bytes | bytearray, name: str) -> set[int]:
    """Return the offsets of a name in a table of strings, also as the end of a longer name."""
    wanted, offsets = name.encode() + b"\0", set[int]()
    at = strings.find(wanted)
    while at >= 0:
        offsets.add(at)
        at = strings.find(wanted, at + 1)
    return offsets


def symbols_of(file: Elf, kind: int, prefix: str = "") -> Iterator[Symbol]:
    """Yield the global and weak symbols with a prefix, if the file has a table of this kind."""
    (names, symbols), start = file.symbol_table(kind), prefix.encode()
    for name_at, info, other, section, _, _ in symbols:
        binding, what = info >> 4, info & 15
        if binding == elf.STB_LOCAL or (start and not names.startswith(start, name_at)):
            continue
        defined, is_common = section != elf.SHN_UNDEF, section == elf.SHN_COMMON
        visible = other & 3 in (elf.STV_DEFAULT, elf.STV_PROTECTED)
        yield Symbol(
            file.text(names, name_at),
            defined,
            is_common or binding in (elf.STB_WEAK, elf.STB_GNU_UNIQUE),
            defined and what in (elf.STT_FUNC, elf.STT_GNU_IFUNC) and visible,
            is_common or what in (elf.STT_OBJECT, elf.STT_TLS),
            what == elf.STT_TLS,
        )


def _relocations(file: Elf) -> Iterator[Relocation]:
    """Yield the relocations in loaded sections."""
    places = _symbol_sections(file)
    for section, info in _relocation_infos(file):
        symbol = info >> 32
        if symbol >= len(places):
            file.damaged(f"{file.describe(section)} refers to symbol {symbol}")
        yield Relocation(info & _TYPE, _reach(places[symbol], section.info))


def _relocation_infos(file: Elf) -> Iterator[tuple[Section, int]]:
    """Yield each section with relocations of a loaded section, with each of its `r_info` once."""
    for section in file.sections:
        if section.kind != elf.SHT_RELA or not file.relocates_loaded(section):
            continue
        content = file.content(section)
        if len(content) % elf.RELA.size:
            size = f"{len(content)} bytes, no multiple of {elf.RELA.size}"
            file.damaged(f"{file.describe(section)} has {size}")
        infos = memoryview(content).cast("Q")[1::3]  # offset, info, addend
        for info in dict.fromkeys(infos.tolist()):
            yield section, info


def _symbol_sections(file: Elf) -> list[int | None]:
    """Return the section of each symbol, by number.

    None stands for the global offset table, and -1 for the function that finds thread-local
    variables.
    """
    names, symbols = file.symbol_table(elf.SHT_SYMTAB)
    special: dict[int, int | None] = dict.fromkeys(_places(names, "_GLOBAL_OFFSET_TABLE_"))
    special |= dict.fromkeys(_places(names, "__tls_get_addr"), _TLS_FUNCTION)
    return [special.get(name, section) for name, _, _, section, *_ in symbols]


def _reach(place: int | None, relocated: int) -> Reach:
    if place == elf.SHN_UNDEF:
        return Reach.ELSEWHERE
    if place == _TLS_FUNCTION:
        return Reach.THREAD
    return Reach.SECTION if place == relocated else Reach.OBJECT
