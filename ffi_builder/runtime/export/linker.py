"""Link objects to a shared library, with the linker of the C compiler."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from ffi_builder.errors import CompileError, LinkError
from ffi_builder.runtime import _optional
from ffi_builder.runtime.codegen import emit
from ffi_builder.runtime.codegen.constants import LlvmIr
from ffi_builder.runtime.codegen.targets import BASELINE, Target
from ffi_builder.runtime.elf import read_object
from ffi_builder.runtime.embedded_modules import with_one_library_bin
from ffi_builder.runtime.jit import supplied
from ffi_builder.runtime.jit.link import CXX_PREFIXES, undefined

_COMPILERS: Final = ("cc", "gcc", "clang")
_TVM_FFI: Final = "libtvm_ffi.so"


def link_library(
    objects: Sequence[bytes], visible: Collection[str], name: str, target: Target
) -> bytes:
    """Link `objects` to a shared library, which needs libtvm_ffi and libc.

    Args:
        objects: relocatable objects for `target`.
        visible: patterns of the symbols that are exported.
        name: the name of the file, which becomes the SONAME.
        target: the machine to link for.

    Raises LinkError with the linker's message, and CompileError if there is no linker.
    """
    compiler = _compiler(target)
    objects = with_one_library_bin(objects, target.machine)
    with tempfile.TemporaryDirectory(prefix="ffi_builder-") as made:
        folder = Path(made)
        files = [folder / (f"link-{at - 1}.o" if at else "module.o") for at in range(len(objects))]
        for file, data in zip(files, objects, strict=True):
            file.write_bytes(data)
        (folder / "version").write_text(_version_script(visible))
        missing = undefined([read_object(data, target.machine) for data in objects])
        # Before glibc 2.34, dlopen, which launching wrappers call, is in libdl.
        libraries = [_tvm_ffi(folder, compiler, missing, target), "-lm", "-ldl"]
        if any(symbol.startswith(CXX_PREFIXES) for symbol in missing):
            libraries.append("-lstdc++")
        # Linkers look for a symbol only in the libraries that follow what needs it.
        libraries += filter(re.compile(r"-l.+|.+\.(a|so)").fullmatch, compiler[1:])
        command = [
            *(*compiler, "-shared", "-fPIC", "-o", str(folder / "library.so")),
            *_to_linker(f"-soname={name}", f"--version-script={folder / 'version'}"),
            # The library uses its own `__tvm_ffi__library_ctx`, whatever the process has loaded.
            *_to_linker("-z", "defs", "--as-needed", "-Bsymbolic"),
            *(*map(str, files), *libraries),
        ]
        _run(command, folder)
        return (folder / "library.so").read_bytes()


def _compiler(target: Target) -> list[str]:
    """The first words of a command that runs the C compiler."""
    given = os.environ.get("CC", "").strip()
    if given:
        return _given_compiler(given)
    names = (f"{target.machine}-linux-gnu-gcc",) if target.foreign else _COMPILERS
    found = next(filter(None, map(shutil.which, names)), None)
    if found is not None:
        return [found]
    if target.foreign:
        package = f"gcc-{target.machine.replace('_', '-')}-linux-gnu"
        raise CompileError(
            f"Making a library for {target.machine} needs a C compiler that links for it, but "
            f"there is no {names[0]}: install it (apt install {package}), or name another one in "
            "$CC; export_object needs none"
        )
    raise CompileError(
        f"Making a library needs a C compiler, for its linker, but there is no {', '.join(names)} "
        "in $PATH: install one (apt install gcc), or name it in $CC; export_object needs none"
    )


def _given_compiler(given: str) -> list[str]:
    if shutil.which(given):  # a path with spaces in it
        return [given]
    try:
        words = shlex.split(given)
    except ValueError as error:
        raise CompileError(f"$CC is `{given}`, which is not a command: {error}") from error
    if shutil.which(words[0]) is None:
        raise CompileError(f"$CC is `{given}`, but there is no program `{words[0]}`")
    return words


def _to_linker(*words: str) -> list[str]:
    """Compiler options that pass `words` on unchanged; -Wl would split them at commas.

    Write an option and its value as one word, since `@` at the start of a word names a file.
    """
    return [part for word in words for part in ("-Xlinker", word)]


def _version_script(visible: Collection[str]) -> str:
    shown = "".join(f" {pattern};" for pattern in visible)
    return f"{{ {f'global:{shown} ' if shown else ''}local: *; }};\n"


def _tvm_ffi(folder: Path, compiler: list[str], missing: Sequence[str], target: Target) -> str:
    """The libtvm_ffi to link with.

    For another architecture none is installed, but the linker reads only the SONAME and the
    symbols, so a library with these is made.
    """
    if not target.foreign:
        return str(_optional.load("tvm_ffi.libinfo").find_libtvm_ffi())
    text = "\n".join(
        f"define void @{name}() {{ ret void }}" for name in missing if name.startswith("TVMFFI")
    )
    data = emit.emit_object(LlvmIr(text), BASELINE, 1, jit=False, triple=target.triple)
    (folder / "tvm_ffi.o").write_bytes(data)
    library = str(folder / _TVM_FFI)
    soname = _to_linker(f"-soname={_TVM_FFI}")
    parts = [*soname, str(folder / "tvm_ffi.o"), "-o", library]
    _run([*compiler, "-shared", "-nostdlib", *parts], folder)
    return library


def _run(command: list[str], folder: Path) -> None:
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", env=environment, check=False
    )
    if done.returncode == 0:
        return
    words = (done.stderr or done.stdout).replace(f"{folder}/", "").strip()
    missing = dict.fromkeys(re.findall(r"undefined (?:reference to|symbol:) [`']?([^'\s]+)", words))
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        hint = (
            _optional.lacking(missing)
            or supplied.missing_support(missing)
            or ("pass what defines them with link=, or add its library to $CC, as in CC='cc -lfir'")
        )
        raise LinkError(
            f"Neither the linked objects, libtvm_ffi nor libc define: {names}; {hint}. "
            f"{command[0]} says:\n{words}"
        )
    raise LinkError(f"{command[0]} cannot link the library: {words or done.returncode}")
