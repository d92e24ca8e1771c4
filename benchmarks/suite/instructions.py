"""Instructions per call, counted by callgrind: a busy machine does not change them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

from native import HERE, cc
from peers.base import CASES, declaration
from suite.samples import Samples
from suite.schedule import BUILT, WAYS
from suite.workers import Worker
from tvm_ffi import libinfo

C_FUNCTIONS = {"by_hand": "hand", "unchecked": "unchecked"}
CALLS = 1000  # as in count.c
NOTHING = 2  # instructions of `nothing` there


class NoValgrindError(Exception):
    """Valgrind is missing."""


def exported(folder: Path) -> Path:
    """Export all wrappers for any CPU of this architecture; valgrind knows few newer ones."""
    sys.path.append(str(HERE.parent))  # the folder of ffi_builder, if it is not installed
    from signatures import MAKERS

    from ffi_builder import attach_ffi_func, runtime

    ir: Any = import_module("torch_mlir.ir")
    callees = {declaration(case, how) for case, how in product(CASES, WAYS)}
    module = ir.Module.parse("\n".join(sorted(callees)), ir.Context())
    for case, how in product(CASES, WAYS):
        made = MAKERS[case]()
        attach_ffi_func(module, f"{case}_{how}", made.params, made.calling(how))
    path = folder / "wrappers.o"
    runtime.lower(module).export_object(path)
    return path


def exported_by_nvidia(folder: Path, python: Path) -> dict[str, str]:
    """Export NVIDIA's wrappers; return their symbols by case and way."""
    names = {f"nvidia_{case}_{how}": (case, how) for case, how in product(CASES, BUILT)}
    worker = Worker(python, folder, ["nvidia"], None)
    try:
        worker.ask("nvidia", "export", path=str(folder / "nvidia.o"), functions=names)
    finally:
        worker.close()
    return {"/".join(names[name]): f"__tvm_ffi_{name}" for name in names}


def program(folder: Path, nvidia: Path | None) -> Path:
    """Build the program that calls all of them."""
    if shutil.which("valgrind") is None:
        raise NoValgrindError("valgrind is not installed")
    theirs = exported_by_nvidia(folder, nvidia) if nvidia else {}
    objects = [str(folder / "nvidia.o")] if theirs else []
    lines: list[str] = []
    for case, how in product(CASES, WAYS):
        symbols = {"ours": f"__tvm_ffi_{case}_{how}"}
        symbols.update({peer: f"{c}_{case}_{how}" for peer, c in C_FUNCTIONS.items()})
        if f"{case}/{how}" in theirs:
            symbols["nvidia"] = theirs[f"{case}/{how}"]
        for peer, symbol in symbols.items():
            lines.append(f'FUNCTION({symbol}, "{peer}/{case}/{how}", "{case}")\n')
    (folder / "functions.inc").write_text("".join(lines))
    library = Path(libinfo.find_libtvm_ffi())
    sources = [
        str(HERE / name) for name in ("count.c", "handwritten.c", "unchecked.c", "kernels.c")
    ]
    result = folder / "count"
    try:
        cc(
            f"-I{folder}",
            f"-I{HERE}",
            *sources,
            str(exported(folder)),
            *objects,
            str(library),
            f"-Wl,-rpath,{library.parent}",
            "-o",
            str(result),
        )
    except subprocess.CalledProcessError:
        raise NoValgrindError("no program can be built with <valgrind/callgrind.h>") from None
    return result


def count_instructions(
    samples: Samples, folder: Path, missing: dict[str, str], nvidia: Path | None = None
) -> None:
    """Fill in "instructions", or name valgrind as missing.

    ``nvidia`` is the interpreter of an environment with NVIDIA's builder.
    """
    try:
        counting = program(folder, nvidia)
    except NoValgrindError as why:
        missing["callgrind"] = str(why)
        return
    command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=out"]
    subprocess.run([*command, counting], cwd=folder, check=True, capture_output=True)
    counts: dict[str, int] = {}
    for path in folder.glob("out.*"):
        text = path.read_text()
        name = re.search(r"^desc: Trigger: Client Request: (\S+)$", text, re.MULTILINE)
        total = re.search(r"^totals: (\d+)$", text, re.MULTILINE)
        if name and total:
            counts[name[1]] = int(total[1])
    loop = counts.pop("loop") - NOTHING * CALLS
    for name, total in counts.items():
        peer, case, how = name.split("/")
        samples.add(("instructions", case, how), peer, (total - loop) / CALLS)
