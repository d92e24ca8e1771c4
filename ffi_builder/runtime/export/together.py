"""Writes the functions of several modules to one shared library.

The modules share nothing, so each of them may have kernels of the same names. In objects these get
other names. Shared libraries keep theirs, of which the loader takes the first, whoever needs it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ffi_builder.errors import CompileError, LinkError
from ffi_builder.formats import elf
from ffi_builder.formats.elf import Elf
from ffi_builder.runtime.export.files import Exporter, Options, Output, linked, write_outputs
from ffi_builder.runtime.export.function_info import Described
from ffi_builder.runtime.files import archives
from ffi_builder.runtime.files.object_files import read_object, rename_symbols, symbols_of
from ffi_builder.runtime.jit.link import missing_in
from ffi_builder.runtime.metadata import PREFIX
from ffi_builder.runtime.sources.links import (
    ArchiveSource,
    LibrarySource,
    libraries_among,
    words_of,
)


def write_together(
    path: Path, exporters: Sequence[Exporter], options: Options
) -> tuple[Described, ...]:
    """Write a shared library with the functions of several modules; return these, sorted by name.

    Raises:
        CompileError: two functions have the same name, two modules need different functions of one
            name from shared libraries, and what `Exporter.library` raises.
        LinkError: the linker fails.
    """
    functions: dict[str, Described] = {}
    groups: list[list[bytes]] = []
    for exporter in exporters:
        for function in exporter.functions():
            if function.name in functions:
                raise CompileError(f"Two modules have a function {function.name!r}: rename one")
            functions[function.name] = function
        groups.append(_objects(exporter, options))
    if not functions:
        raise CompileError("The modules have no functions")
    links = [item for exporter in exporters for item in exporter.links]
    paths = [[item.given for item in libraries_among(each.links)] for each in exporters]
    _check_libraries(groups, paths, options.target.machine)
    objects = _without_clashes(groups, options.target.machine)
    libraries = dict.fromkeys(item for item in links if isinstance(item, LibrarySource))
    data = linked(objects, words_of(list(libraries)), [f"{PREFIX}*"], path, options)
    write_outputs([Output(path, data, executable=True)])
    return tuple(sorted(functions.values(), key=lambda function: function.name))


def _objects(exporter: Exporter, options: Options) -> list[bytes]:
    """Return the objects of a module, with those of archives that it needs."""
    machine = options.target.machine
    objects = exporter.objects(replace(options, only=exporter.linked))
    contents = {item.what: item.data for item in exporter.links if isinstance(item, ArchiveSource)}
    return [*objects, *archives.needed(contents, missing_in(objects, machine), machine)]


# ---- objects


def _without_clashes(groups: Sequence[Sequence[bytes]], machine: str) -> list[bytes]:
    """Rename what a group defines and another has, too; return the objects of all groups."""
    files = [[read_object(data, machine) for data in group] for group in groups]
    names = [{symbol.name for file in group for symbol in file.symbols} for group in files]
    count = Counter(name for some in names for name in some)
    objects: list[bytes] = []
    for number, group in enumerate(files):
        # Weak functions are taken to be the same in all groups, as those of C++ are, but kernels.
        called = {symbol.name for symbol in group[0].symbols if not symbol.defined}
        defined = (symbol for file in group for symbol in file.symbols if symbol.defined)
        own = {symbol.name for symbol in defined if not symbol.weak or symbol.name in called}
        shared = {name for name in own if count[name] > 1 and not name.startswith(PREFIX)}
        new = {name: f"{name}.{number}" for name in shared}
        objects += [rename_symbols(file.data, new, machine) if new else file.data for file in group]
    return objects


# ---- shared libraries


class _Looked(NamedTuple):
    """Symbols of a shared library: those that it defines, and those that the loader looks up."""

    defined: frozenset[str]
    """Without weak symbols, which are taken to be the same in all libraries."""
    needed: frozenset[str]
    """Also what it defines itself and does not call directly."""


def _looked(path: str) -> _Looked:
    file = Elf(Path(path).read_bytes(), path, LinkError)
    names, fields = file.symbol_table(elf.SHT_DYNSYM)
    table, symbols = file.table(elf.SHT_DYNSYM), list(fields)
    offsets: set[int] = {
        symbols[info >> 32][0]
        for section in file.sections
        if section.kind == elf.SHT_RELA and file.section(section.link, "symbols") is table
        for _, info, _ in elf.RELA.iter_unpack(file.content(section))
    }
    strong = (s.name for s in symbols_of(file, elf.SHT_DYNSYM) if s.defined and not s.weak)
    return _Looked(frozenset(strong), frozenset(file.text(names, at) for at in offsets if at))


def _check_libraries(
    groups: Sequence[Sequence[bytes]], paths: Sequence[Sequence[str]], machine: str
) -> None:
    """Raise CompileError if a module would get a function of another module's library."""
    looked = {path: _looked(path) for path in dict.fromkeys(path for own in paths for path in own)}
    first: dict[str, str] = {}
    for path, symbols in looked.items():
        first = dict.fromkeys(symbols.defined, path) | first
    for group, own in zip(groups, paths, strict=True):
        called = missing_in(group, machine)
        needed = {*called}.union(*(looked[path].needed for path in own))
        for path in own:
            for name in sorted(needed & looked[path].defined):
                if first[name] not in own:
                    mend = f"link {path} with -Wl,-Bsymbolic, so that it calls its own"
                    if name in called:
                        mend = "rename one of them, or make two wheels"
                    raise CompileError(
                        f"Two modules need functions `{name}` of different libraries, "
                        f"{first[name]} and {path}, and the loader finds only the first: {mend}"
                    )
