"""The C compiler, which links libraries and knows where its own are."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Final

from ffi_builder.errors import CompileError

_NAMES: Final = ("cc", "gcc", "clang")


def command(foreign: str | None = None) -> list[str]:
    """Return the first words of a command that runs the C compiler.

    Args:
        foreign: the architecture to compile for, such as `aarch64`, if it is another one.

    Raises CompileError if there is none.
    """
    given = os.environ.get("CC", "").strip()
    if given:
        return _given(given)
    names = (f"{foreign}-linux-gnu-gcc",) if foreign else _NAMES
    path = next(filter(None, map(shutil.which, names)), None)
    if path is not None:
        return [path]
    if foreign:
        package = f"gcc-{foreign.replace('_', '-')}-linux-gnu"
        raise CompileError(
            f"Making a library for {foreign} needs a C compiler that links for it, but there is no "
            f"{names[0]}: install it (apt install {package}), or name another one in $CC; "
            f"export_object needs none"
        )
    raise CompileError(
        f"Making a library needs a C compiler, for its linker, but there is no {', '.join(names)} "
        "in $PATH: install one (apt install gcc), or name it in $CC; export_object needs none"
    )


def _given(given: str) -> list[str]:
    if shutil.which(given):  # a path with spaces in it
        return [given]
    try:
        words = shlex.split(given)
    except ValueError as error:
        raise CompileError(f"$CC is `{given}`, which is not a command: {error}") from error
    if shutil.which(words[0]) is None:
        raise CompileError(f"$CC is `{given}`, but there is no program `{words[0]}`")
    return words


def own_file(name: str) -> Path | None:
    """Return a file of the C compiler, such as `libgcc.a`; None if it has none of that name.

    Raises CompileError if there is no compiler.
    """
    asked = [*command(), f"-print-file-name={name}"]
    done = subprocess.run(asked, capture_output=True, text=True, errors="replace", check=False)
    path = Path(done.stdout.strip())  # the name alone, if it has none
    return path if path.is_absolute() and path.is_file() else None
