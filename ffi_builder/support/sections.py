"""Finds the sections of the objects that given functions need, with their relocations.

Each function and each constant is in a separate section. So a module or object that has to contain
functions takes only those that it calls.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from ffi_builder import support
from ffi_builder.errors import BuildError
from ffi_builder.formats import elf
from ffi_builder.formats.elf import Elf
from ffi_builder.support import Bundle


class Symbol(NamedTuple):
    """A function in a section, or one that a section calls."""

    name: str
    section: str
    """The name of its part; empty if the function is in libc or tvm-ffi."""
    value: int
    size: int
    is_local: bool


class Relocation(NamedTuple):
    """A place that refers to a symbol."""

    offset: int
    kind: int
    """``R_X86_64_…`` or ``R_AARCH64_…``."""
    target: Symbol
    addend: int


class Part(NamedTuple):
    """A section with code or constants."""

    name: str
    """The digest of the bundle, and the number of the section in the object."""
    content: bytes
    align: int
    is_code: bool
    relocations: tuple[Relocation, ...]
    functions: tuple[Symbol, ...]
    """The functions that generated code calls."""


@cache
def parts_of(machine: str, names: tuple[str, ...]) -> tuple[Part, ...]:
    """Return the sections of these functions and of everything that they call.

    Args:
        machine: one of ``support.MACHINES``.
        names: the symbols, as :func:`ffi_builder.support.symbol` returns them.
    """
    return tuple(part for bundle in support.bundles() for part in _needed(bundle, machine, names))


def _needed(bundle: Bundle, machine: str, names: tuple[str, ...]) -> Iterable[Part]:
    wanted = {symbol for name in bundle.functions if (symbol := bundle.symbol(name)) in names}
    if not wanted:
        return ()
    parts = _parts(bundle, machine)
    first = (part.name for part in parts.values() if any(f.name in wanted for f in part.functions))
    reached = _reached(parts, first)
    return (part for part in parts.values() if part.name in reached)


def _reached(parts: dict[str, Part], first: Iterable[str]) -> set[str]:
    waiting, reached = list(first), set[str]()
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            sections = (relocation.target.section for relocation in parts[name].relocations)
            waiting += filter(None, sections)
    return reached


@cache
def _parts(bundle: Bundle, machine: str) -> dict[str, Part]:
    file = Elf(bundle.object_code(machine), f"{bundle.folder}/{machine}.o", BuildError)
    strings, entries = file.symbol_table(elf.SHT_SYMTAB)

    def name(section: int) -> str:
        return f"{bundle.digest}_{section}" if section else ""

    symbols = [
        Symbol(file.text(strings, name_at), name(section), value, size, info >> 4 == elf.STB_LOCAL)
        for name_at, info, _, section, value, size in entries
    ]
    relocations = {
        name(section.info): tuple(
            Relocation(offset, info & 0xFFFFFFFF, symbols[info >> 32], addend)
            for offset, info, addend in elf.RELA.iter_unpack(file.content(section))
        )
        for section in file.sections
        if section.kind == elf.SHT_RELA
    }
    parts = (
        Part(
            name(number),
            file.content(section),
            max(section.align, 1),
            bool(section.flags & elf.SHF_EXECINSTR),
            relocations.get(name(number), ()),
            tuple(s for s in symbols if s.section == name(number) and not s.is_local),
        )
        for number, section in enumerate(file.sections)
        if section.kind == elf.SHT_PROGBITS and section.flags & elf.SHF_ALLOC
    )
    return {part.name: part for part in parts}
