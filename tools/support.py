"""Compiles the functions in C that wrappers call: ``python -m tools.support [--check]``.

It writes the generated headers, the objects and ``functions.txt`` into ``ffi_builder/support``, and
into the folders of add-ons that are here. One pinned compiler makes them, so that ``--check`` can
compare what is there byte by byte. Users need no clang.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Final

from tvm_ffi.libinfo import include_paths

from ffi_builder import __version__
from ffi_builder.protocol import SHARED
from ffi_builder.support import MACHINES, folders

PACKAGE: Final = Path(__file__).parent.parent / "ffi_builder"
GENERATED: Final = {
    "support/plan.h": "tools.plan_header",
    "cuda/support/numbers.h": "tools.numbers_header",
    "rocm/support/numbers.h": "tools.rocm_numbers",
}
"""The modules that make headers."""
BORROWED: Final = {PACKAGE / "rocm/support": PACKAGE / "cuda/support"}
"""Folders whose sources are compiled with those of another, but for files of the same name."""
FOR_ALL: Final = tuple(PACKAGE / "support" / name for name in ("support.h", "tensors.h"))
"""The headers of the core that add-ons include too."""
COMPILER: Final = "clang-19"
FLAGS: Final = (
    # LLVM 19 drops the saving of registers with -Oz.
    *("-std=c11", "-Os", "-fPIC", "-fwrapv", "-ffp-contract=off"),
    # Jump tables need relocations of data, clang calls bcmp by itself, and each section with one
    # function lets exports take only those that they need.
    *("-fno-jump-tables", "-fno-builtin-bcmp", "-ffunction-sections", "-fdata-sections"),
    *(
        "-fno-asynchronous-unwind-tables",
        "-fno-unwind-tables",
        "-fno-stack-protector",
        "-fno-ident",
    ),
    *("-U_FORTIFY_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"),
)
_DEFINED: Final = re.compile(
    rf"^define .*?(preserve_mostcc )?(?:(?:zeroext|signext|noundef) )*(\w+) "
    rf"@{SHARED}(\w+)_[0-9a-f]{{8}}\((.*?)\)",
    re.MULTILINE,
)
_TYPES: Final = {"double": "f64"}


def main() -> int:
    """Make the files, or with ``--check`` compare them; return 1 if they differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, and compare")
    check = parser.parse_args().check
    if shutil.which(COMPILER) is None:
        print(f"SKIPPED: there is no {COMPILER} (apt install {COMPILER})")
        return 0 if check else 1
    different = [path for of in folders().values() for path in _remade(of, check)]
    if different:
        print("differs:" if check else "written:", *different)
    return int(check and bool(different))


def _remade(of: Path, check: bool) -> list[Path]:
    """Return the files of a folder that differ; write them unless they are only compared."""
    with tempfile.TemporaryDirectory() as empty:
        made = {of / name: data for name, data in make(of, Path(empty)).items()}
    different = [path for path, data in made.items() if _now(path) != data]
    if not check:
        for path in different:
            path.write_bytes(made[path])
    return [path.relative_to(PACKAGE) for path in different]


def make(of: Path, empty: Path) -> dict[str, bytes]:
    """Return the files of a folder by name; a copy of the sources is compiled in an empty one."""
    generated = headers(of)
    files = {**sources(of), **generated}
    for name, data in files.items():
        (empty / name).write_bytes(data)
    digest = digest_of(files)
    objects = {f"{machine}.o": _compiled(empty, machine, digest, ()) for machine in MACHINES}
    text = _compiled(empty, MACHINES[0], digest, ("-S", "-emit-llvm")).decode()
    return {**generated, **objects, "functions.txt": f"{digest}\n{_functions(text)}".encode()}


def headers(of: Path) -> dict[str, bytes]:
    """Return the generated headers of a folder by name."""
    paths = {PACKAGE / path: module for path, module in GENERATED.items()}
    return {
        path.name: import_module(module).text().encode()
        for path, module in paths.items()
        if path.parent == of
    }


def sources(of: Path) -> dict[str, bytes]:
    """Return all files in C that the objects of a folder are made from, by name."""
    folders = [BORROWED[of], of] if of in BORROWED else [of]
    paths = [path for each in folders for path in (*each.glob("*.c"), *each.glob("*.h"))]
    return {path.name: path.read_bytes() for path in (*FOR_ALL, *paths)}


def digest_of(files: Mapping[str, bytes]) -> str:
    """Return what the names of the functions end in, if they are compiled from these files."""
    made_of = hashlib.sha256(repr((__version__, FLAGS)).encode())
    for name in sorted(files):
        made_of.update(name.encode() + files[name])
    return made_of.hexdigest()[:8]


def _compiled(folder: Path, machine: str, digest: str, more: tuple[str, ...]) -> bytes:
    # Debian's packages libc6-dev and libc6-dev-arm64-cross.
    libc = {
        "x86_64": ("/usr/include/x86_64-linux-gnu", "/usr/include"),
        "aarch64": ("/usr/aarch64-linux-gnu/include",),
    }
    includes = [f"-isystem{path}" for path in (*include_paths(), *libc[machine])]
    target = [f"--target={machine}-linux-gnu", "-nostdlibinc", f"-DFFI_BUILDER_DIGEST={digest}"]
    if machine == "aarch64":  # else it depends on whether there is a GCC for it
        target.append("-mno-outline-atomics")
    output = folder / "output"
    command = [COMPILER, *target, *FLAGS, *includes, *more, "-c", "support.c", "-o", str(output)]
    subprocess.run(command, cwd=folder, check=True, env={**os.environ, "LC_ALL": "C"})
    return output.read_bytes()


def _functions(text: str) -> str:
    """Return a line for each function that generated code calls, from LLVM IR."""
    lines: list[str] = []
    for rare, result, name, parameters in _DEFINED.findall(text):
        types = [_type(part.split()[0]) for part in parameters.split(",") if part]
        lines.append(" ".join(("rare" if rare else "c", _type(result), name, *types)))
    return "".join(f"{line}\n" for line in sorted(lines, key=lambda line: line.split()[2]))


def _type(name: str) -> str:
    return _TYPES.get(name, name)


def _now(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


if __name__ == "__main__":
    sys.exit(main())
