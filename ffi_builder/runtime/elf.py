"""Reading relocatable ELF objects: their symbols, thread-local sections and relocations.

The JIT finds an unresolved symbol only when a function is looked up, and names it on stderr;
reading the objects first is what lets `link` raise an error that names it. Layouts are those of the
ELF-64 specification: Ehdr 64 bytes, Shdr 64, Sym 24, Rela 24.
"""

from __future__ import annotations

import platform
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ffi_builder.errors import CompileError

MAGIC = b"\x7fELF"

_EHDR = struct.Struct("<16sHHIQQQIHHHHHH")
_SHDR = struct.Struct("<IIQQQQIIQQ")
_SYM = struct.Struct("<IBBHQQ")
_RELA = struct.Struct("<QQq")

_ET_REL = 1
_CLASS_64_LITTLE = b"\x02\x01"
_SHT_SYMTAB, _SHT_RELA = 2, 4
_SHF_ALLOC, _SHF_TLS = 0x2, 0x400
_SHN_UNDEF, _SHN_COMMON = 0, 0xFFF2
_STB_LOCAL, _STB_WEAK = 0, 2
_STT_FUNC, _STT_GNU_IFUNC = 2, 10
_STV_DEFAULT, _STV_PROTECTED = 0, 3
_MACHINES = {"x86_64": 62, "aarch64": 183}
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


def read_object(data: bytes) -> ObjectFile:
    """Read `data`.

    Raises CompileError if it is not a relocatable ELF-64 object for this machine.
    """
    try:
        sections = _sections(data)
        symtabs = [section for section in sections if section[1] == _SHT_SYMTAB]
        symbols = [symbol for section in symtabs for symbol in _symbols(data, sections, section)]
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
        )
    except (struct.error, IndexError, ValueError) as error:
        raise CompileError(f"The object file is truncated or damaged: {error}") from error


def rename_symbols(data: bytes, names: Mapping[str, str]) -> bytes:
    """A copy of object `data` with symbols renamed, and a new string table at its end."""
    sections = _sections(data)
    index, symtab = next(
        (at, section) for at, section in enumerate(sections) if section[1] == _SHT_SYMTAB
    )
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


_Section = tuple[int, int, int, int, int, int, int, int, int, int]


def _sections(data: bytes) -> list[_Section]:
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
    machine = platform.machine()
    if header[2] != _MACHINES.get(machine, header[2]):
        name = _MACHINE_NAMES.get(header[2], f"ELF machine {header[2]}")
        raise CompileError(f"The object file is for {name}, but this machine is {machine}")
    offset, count = header[6], header[12]
    return [_SHDR.unpack_from(data, offset + index * _SHDR.size) for index in range(count)]


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
