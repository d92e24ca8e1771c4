"""Finds the sections of the object that given functions need, with their relocations.

Each function and each constant is in a separate section. So a module or object that has to contain
functions takes only those that it calls.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from ffi_builder import elf, support
from ffi_builder.elf import Elf, View
from ffi_builder.errors import BuildError


class Symbol(NamedTuple):
    """A function in a section, or one that a section calls."""

    name: str
    section: int
    """The number of its section; 0 if the function is in libc or tvm-ffi."""
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

    number: int
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
    every = _parts(machine)
    own = {symbol.name: number for number, part in every.items() for symbol in part.functions}
    reached = _reached(every, (own[name] for name in names))
    return tuple(every[number] for number in sorted(reached))


def _reached(parts: dict[int, Part], first: Iterable[int]) -> set[int]:
    waiting, reached = list(first), set[int]()
    while waiting:
        number = waiting.pop()
        if number not in reached:
            reached.add(number)
            sections = (relocation.target.section for relocation in parts[number].relocations)
            waiting += filter(None, sections)
    return reached


@cache
def _parts(machine: str) -> dict[int, Part]:
    file = Elf(View(support.object_code(machine), f"support/{machine}.o", BuildError))
    table = file.table(elf.SHT_SYMTAB)
    assert table is not None
    strings = file.symbol_names(table)
    symbols = [
        Symbol(file.text(strings, name_at), section, value, size, info >> 4 == elf.STB_LOCAL)
        for name_at, info, _, section, value, size in file.symbols(table)
    ]
    relocations = {
        section.info: tuple(
            Relocation(offset, info & 0xFFFFFFFF, symbols[info >> 32], addend)
            for offset, info, addend in elf.RELA.iter_unpack(file.content(section))
        )
        for section in file.sections
        if section.kind == elf.SHT_RELA
    }
    return {
        number: Part(
            number,
            file.content(section),
            max(section.align, 1),
            bool(section.flags & elf.SHF_EXECINSTR),
            relocations.get(number, ()),
            tuple(s for s in symbols if s.section == number and not s.is_local),
        )
        for number, section in enumerate(file.sections)
        if section.kind == elf.SHT_PROGBITS and section.flags & elf.SHF_ALLOC
    }
