"""Links objects to a shared library, and support functions into an object."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import tempfile
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Final

from ffi_builder import support
from ffi_builder.errors import CompileError, LinkError
from ffi_builder.formats import elf
from ffi_builder.formats.elf import Elf, Section
from ffi_builder.protocol import PREFIX
from ffi_builder.runtime import bindings
from ffi_builder.runtime.codegen import emit
from ffi_builder.runtime.codegen.constants import LlvmIr
from ffi_builder.runtime.codegen.targets import BASELINE, Target
from ffi_builder.runtime.files import archives, c_compiler
from ffi_builder.runtime.files.embedded_modules import with_one_library_bin
from ffi_builder.runtime.files.object_files import Added, ObjectFile, Symbols, read_object, rebuilt
from ffi_builder.runtime.jit.link import CXX_PREFIXES, undefined
from ffi_builder.runtime.jit.origins import hint_for
from ffi_builder.runtime.jit.unsupported import EXECUTABLE_STACK, check_refused
from ffi_builder.support.sections import Part, parts_of

_TVM_FFI: Final = "libtvm_ffi.so"
_LTO: Final = ".gnu.lto_"
_OF_PYTHON: Final = re.compile(r"_?Py[A-Z_]\w*")
"""Symbols of CPython, as `PyErr_SetString` and `_Py_NoneStruct`."""


def link_library(
    objects: Sequence[bytes],
    visible: Collection[str],
    name: str,
    target: Target,
    others: Sequence[str | bytes] = (),
) -> bytes:
    """Link `objects` to a shared library, which needs libtvm_ffi and libc.

    Args:
        objects: relocatable objects for `target`.
        visible: patterns of the symbols to export.
        name: the name of the file, which becomes the SONAME.
        target: the machine to link for.
        others: archives, and words for the compiler, such as `-lm`.

    Raises LinkError with the linker's message, and CompileError if there is no linker.
    """
    compiler = c_compiler.command(target.machine if target.foreign else None)
    objects = with_one_library_bin(objects, target.machine)
    with tempfile.TemporaryDirectory(prefix="ffi_builder-") as made:
        folder = Path(made)
        given = [other for other in others if isinstance(other, bytes)]
        words = [other for other in others if isinstance(other, str)]
        files = ["module.o", *(f"link-{at}.o" for at in range(len(objects) - 1))]
        named = {f"archive-{at}.a": data for at, data in enumerate(given)}
        for file, data in (*zip(files, objects, strict=True), *named.items()):
            (folder / file).write_bytes(data)
        (folder / "version").write_text(_version_script(visible))
        read = _checked(objects, named, target.machine)
        missing = undefined(read[: len(objects)])
        paths = [str(folder / file) for file in named]
        group = [*_to_linker("--start-group"), *paths, *_to_linker("--end-group")] if paths else []
        # Wrappers that launch kernels call dlopen, which is in libdl before glibc 2.34.
        libraries = [*group, *words, _tvm_ffi(folder, compiler, missing, target), "-lm", "-ldl"]
        archived = b"".join(given)
        is_cxx = any(symbol.startswith(CXX_PREFIXES) for symbol in missing)
        if is_cxx or any(prefix.encode() in archived for prefix in CXX_PREFIXES[1:]):
            libraries.append("-lstdc++")
        # Linkers look for a symbol only in libraries that come after the object that needs it.
        libraries += filter(re.compile(r"-l.+|.+\.(a|so)").fullmatch, compiler[1:])
        command = [
            *(*compiler, "-shared", "-fPIC", "-o", str(folder / "library.so")),
            *_to_linker(f"-soname={name}", f"--version-script={folder / 'version'}"),
            # The library uses its own `__tvm_ffi__library_ctx`, whatever the process has loaded.
            *_to_linker(*_stack(read, given), "--as-needed", "-Bsymbolic"),
            *(*(str(folder / file) for file in files), *libraries),
        ]
        failure = _failure([*command, *_to_linker("-z", "defs")], folder)
        missed = () if failure is None else _undefined(failure)
        if missed and all(map(_OF_PYTHON.fullmatch, missed)):
            # The process that loads the library has them, or is told at once that it has not.
            failure = _failure([*command, *_to_linker("-z", "now")], folder)
        if failure is not None:
            raise _error(failure, command[0])
        data = (folder / "library.so").read_bytes()
        if Elf(data, "the library", LinkError).has_executable_stack:
            raise LinkError(f"Code that is optimised when it is linked {EXECUTABLE_STACK}")
        return data


def _checked(
    objects: Sequence[bytes], named: Mapping[str, bytes], machine: str
) -> Sequence[ObjectFile]:
    """Return the objects, then the members of archives that they need.

    Raises LinkError if one is refused.
    """
    files = [read_object(data, machine) for data in objects]
    members = archives.needed(named, undefined(files), machine)
    files += [read_object(data, machine) for data in members]
    for file in files:
        check_refused(file)
    return files


def _stack(files: Sequence[ObjectFile], given: Sequence[bytes]) -> list[str]:
    """Return words that make the stack not executable, also if an object does not say so.

    Those of assembly may not. Code that is optimised when it is linked will say it only then.
    """
    is_late = any(name.startswith(_LTO) for file in files for name in file.sections)
    is_late |= any(_LTO.encode() in data for data in given)
    return [] if is_late else ["-z", "noexecstack"]


def _to_linker(*words: str) -> list[str]:
    """Compiler options that pass `words` on unchanged; -Wl would split them at commas.

    Write an option and its value as one word, since `@` at the start of a word names a file.
    """
    return [part for word in words for part in ("-Xlinker", word)]


def _version_script(visible: Collection[str]) -> str:
    shown = "".join(f" {pattern};" for pattern in visible)
    return f"{{ {f'global:{shown} ' if shown else ''}local: *; }};\n"


def _tvm_ffi(folder: Path, compiler: list[str], missing: Sequence[str], target: Target) -> str:
    """Return the libtvm_ffi to link with.

    For another architecture none is installed. The linker reads only the SONAME and the symbols, so
    a library with only these is made.
    """
    if not target.foreign:
        return str(bindings.load("tvm_ffi.libinfo").find_libtvm_ffi())
    text = "\n".join(
        f"define void @{name}() {{ ret void }}" for name in missing if name.startswith("TVMFFI")
    )
    data = emit.emit_object(LlvmIr(text), BASELINE, 1, jit=False, triple=target.triple)
    (folder / "tvm_ffi.o").write_bytes(data)
    library = str(folder / _TVM_FFI)
    soname = _to_linker(f"-soname={_TVM_FFI}")
    parts = [*soname, str(folder / "tvm_ffi.o"), "-o", library]
    failure = _failure([*compiler, "-shared", "-nostdlib", *parts], folder)
    if failure is not None:
        raise _error(failure, compiler[0])
    return library


def _failure(command: list[str], folder: Path) -> str | None:
    """Run a command, and return what it says if it fails."""
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", env=environment, check=False
    )
    if done.returncode == 0:
        return None
    words = (done.stderr or done.stdout).replace(f"{folder}/", "").strip()
    return words or f"{done.returncode}"


def _undefined(failure: str) -> list[str]:
    """Return the symbols that a linker lacks, by what it says."""
    symbols = re.findall(r"undefined (?:reference to [`']|symbol: )([^'\n]+)", failure)
    return list(dict.fromkeys(symbols))


def _error(failure: str, linker: str) -> LinkError:
    missing = _undefined(failure)
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        return LinkError(
            f"Neither the linked objects, libtvm_ffi nor libc define: {names}; "
            f"{hint_for(missing)}. {linker} says:\n{failure}"
        )
    return LinkError(f"{linker} cannot link the library: {failure}")


# ---- support functions

_LABEL: Final = elf.STB_WEAK << 4, elf.STV_HIDDEN
_FUNCTION: Final = elf.STB_WEAK << 4 | elf.STT_FUNC, elf.STV_HIDDEN


def with_support(data: bytes, machine: str) -> bytes:
    """Add the support functions that an object needs to it; return it unchanged if it needs none.

    The added symbols are hidden and weak: objects with the same functions can be linked together,
    and a linked library exports none of them.

    Raises:
        LinkError: the object defines a function with the name of one that support functions call.
    """
    file = Elf(data, "the object", CompileError)
    table = file.table(elf.SHT_SYMTAB)
    if table is None:
        return data
    symbols = Symbols(file, table)
    needed = tuple(sorted(filter(symbols.is_undefined, map(support.symbol, support.functions()))))
    if not needed:
        return data
    return _with_parts(file, table, symbols, needed, parts_of(machine, needed))


def _with_parts(
    file: Elf, table: Section, symbols: Symbols, needed: Sequence[str], parts: Sequence[Part]
) -> bytes:
    """Return the object with one section of code and one of constants, and with resolved calls."""
    code_flags = elf.SHF_ALLOC | elf.SHF_EXECINSTR
    code = Added(".text.ffi_builder", elf.SHT_PROGBITS, code_flags)
    constants = Added(".rodata.ffi_builder", elf.SHT_PROGBITS, elf.SHF_ALLOC)
    relocations = Added(".rela.text.ffi_builder", elf.SHT_RELA, 0, elf.RELA.size)
    number = len(file.sections)
    relocations.link, relocations.info = file.sections.index(table), number
    contents = {part.name: bytearray(part.content) for part in parts}
    places = {
        part.name: (code if part.is_code else constants).append(
            memoryview(contents[part.name]), part.align
        )
        for part in parts
    }
    for part in parts:
        for symbol in part.functions:
            if symbol.name in needed:
                value = places[part.name] + symbol.value
                symbols.define(symbol.name, *_FUNCTION, number, value, symbol.size)
    # A linker takes the first of several weak symbols. The sections of objects with other functions
    # differ, so the symbols at their starts have a digest of the functions' names.
    mark = f"{zlib.crc32(repr(needed).encode()):08x}"
    starts = {True: f"{PREFIX}code_{mark}", False: f"{PREFIX}constants_{mark}"}
    is_code = {part.name: part.is_code for part in parts}
    for part in parts:  # only code has relocations
        for offset, kind, target, addend in part.relocations:
            at, name = places[part.name] + offset, target.name
            if target.section:
                addend += places[target.section] + target.value
                if is_code[target.section] and kind in _CALLS:
                    _CALLS[kind](contents[part.name], offset, addend - at)
                    continue
                name = starts[is_code[target.section]]
                symbols.define(name, *_LABEL, number + (not is_code[target.section]), 0, 0)
            elif symbols.is_defined(name) and not name.startswith(PREFIX):
                raise LinkError(
                    f"{name!r}: the checks call this function of libc or tvm-ffi, and the module "
                    f"defines another one; rename it, or give it private or internal linkage"
                )
            relocations.append(elf.RELA.pack(at, symbols.number(name) << 32 | kind, addend))
    return rebuilt(file, symbols.contents(), [code, constants, relocations])


def _call_x86_64(content: bytearray, at: int, distance: int) -> None:
    struct.pack_into("<i", content, at, distance)


def _call_aarch64(content: bytearray, at: int, distance: int) -> None:
    (word,) = struct.unpack_from("<I", content, at)
    struct.pack_into("<I", content, at, word & 0xFC000000 | distance >> 2 & 0x03FFFFFF)


_CALLS: Final[Mapping[int, Callable[[bytearray, int, int], None]]] = {
    **dict.fromkeys((2, 4), _call_x86_64),  # R_X86_64_PC32, R_X86_64_PLT32
    **dict.fromkeys((282, 283), _call_aarch64),  # R_AARCH64_JUMP26, R_AARCH64_CALL26
}
"""Functions that write the distance of a call, by type of the relocation."""
