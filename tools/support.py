"""Compiles the functions in C that wrappers call: ``python -m tools.support [--check]``.

It writes the generated header, the objects and ``functions.txt`` into ``ffi_builder/support``. One
pinned compiler makes them, so that ``--check`` can compare what is there byte by byte. Users need
no clang.
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
from pathlib import Path
from typing import Final

from tvm_ffi.libinfo import include_paths

from ffi_builder import __version__
from ffi_builder.cuda.launch import header as cuda_header
from ffi_builder.diagnosis import header
from ffi_builder.protocol import SHARED
from ffi_builder.support import MACHINES

HERE: Final = Path(__file__).parent.parent / "ffi_builder" / "support"
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
    with tempfile.TemporaryDirectory() as folder:
        made = make(Path(folder))
        different = [name for name, data in made.items() if _now(name) != data]
        if not check:
            for name in different:
                (HERE / name).write_bytes(made[name])
    if different:
        print("differs:" if check else "written:", *different)
    return int(check and bool(different))


def make(folder: Path) -> dict[str, bytes]:
    """Return the files by name; a copy of the sources is compiled in an empty folder."""
    generated = headers()
    for name, data in {**sources(), **generated}.items():
        (folder / name).write_bytes(data)
    digest = digest_of({**sources(), **generated})
    objects = {f"{machine}.o": _compiled(folder, machine, digest, ()) for machine in MACHINES}
    text = _compiled(folder, MACHINES[0], digest, ("-S", "-emit-llvm")).decode()
    return {**generated, **objects, "functions.txt": f"{digest}\n{_functions(text)}".encode()}


def headers() -> dict[str, bytes]:
    """Return the generated headers by name."""
    return {"plan.h": header.text().encode(), "cuda_numbers.h": cuda_header.text().encode()}


def sources() -> dict[str, bytes]:
    """Return all files in C by name."""
    return {path.name: path.read_bytes() for path in (*HERE.glob("*.c"), *HERE.glob("*.h"))}


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


def _now(name: str) -> bytes | None:
    path = HERE / name
    return path.read_bytes() if path.exists() else None


if __name__ == "__main__":
    sys.exit(main())
