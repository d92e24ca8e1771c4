"""Measure what choosing a kernel costs: 1, 2 and 8 variants, beside a dispatcher in C.

    python benchmarks/variants.py [--quick]

A tensor is float16 or bfloat16, its rows are a multiple of 16 or not, its address is or not: 8
kernels, which only note their number. The dispatcher tries one condition after the other, as
Triton's ``tools/link.py`` makes it from the variants of a kernel; the wrapper around it passes the
dtype.

Printed are nanoseconds a call from C (the median of the rounds, all in turn in each), the median of
the differences to one variant, and instructions a call if valgrind is there. Needs a C compiler.
"""

from __future__ import annotations

import argparse
import ctypes
import random
import re
import shutil
import statistics
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from native import HERE, cc
from tvm_ffi import libinfo

from ffi_builder import attach, runtime, spec
from ffi_builder.providers import (
    CallProvider,
    DirectCallProvider,
    Variant,
    VariantsCallProvider,
    when,
)

ir: Any = import_module("torch_mlir.ir")
SOURCE: Final = str(HERE / "choosing" / "dispatch.c")
N, K = spec.dims("n k")
with spec.DefaultConfig(device_type="cpu"):
    X: Final = spec.Tensor("x", [N, K], ("float16", "bfloat16"))
    Y: Final = spec.Tensor("y", [K], ("float16", "bfloat16"))
ARGS: Final = ("x", "y", "n", "k")
SETS: Final = 64
KERNELS: Final = 8
CALLS: Final = 1024  # as in dispatch.c
ONE: Final = "one"


def kernel(number: int) -> CallProvider:
    return DirectCallProvider(f"kernel_{number}", args=["x.data", "y.data", *ARGS[2:]])


def eight() -> CallProvider:
    """Return a variant for each kernel; the conditions are those of the dispatcher."""
    divides, aligned = when.divisible(N, 16), when.aligned(X, 16)
    variants: list[Variant] = []
    for dtype in X.dtypes:
        has = when.dtype(X) == dtype
        conditions = (has & divides & aligned, has & divides, has & aligned, has)
        first = len(variants)
        variants += [Variant(kernel(first + i), when=c) for i, c in enumerate(conditions)]
    return VariantsCallProvider(variants)


def providers() -> dict[str, CallProvider]:
    """Return what is compared, by its name in the tables."""
    is_half = when.dtype(X) == "float16"
    return {
        ONE: kernel(7),
        "two": VariantsCallProvider([Variant(kernel(0), when=is_half), Variant(kernel(7))]),
        "eight": eight(),
        "dispatcher": DirectCallProvider("dispatch", args=["x", "y.data", *ARGS[2:], "x.dtype"]),
    }


def module() -> Any:
    """Return a module with all wrappers."""
    made = ir.Module.parse("", ir.Context())
    for name, provider in providers().items():
        attach(made, spec.Signature(name, [X, Y]), provider)
    return made


def nanoseconds(folder: Path, rounds: int) -> dict[str, dict[str, list[float]]]:
    """Return the times of all rounds, by the kernels that are called, and by wrapper."""
    shared = folder / "dispatch.so"
    cc("-shared", SOURCE, libinfo.find_libtvm_ffi(), "-o", str(shared))
    library = ctypes.CDLL(str(shared), mode=ctypes.RTLD_GLOBAL)
    library.run.restype = ctypes.c_double
    compiled = runtime.compile(module())
    addresses = {name: ctypes.c_void_p(compiled.address(name)) for name in providers()}
    mixed = random.Random(1).choices(range(KERNELS), k=SETS)
    check(library, addresses)
    cases = {"first": [0] * SETS, "last": [KERNELS - 1] * SETS, "at random": mixed}
    found: dict[str, dict[str, list[float]]] = {case: defaultdict(list) for case in cases}
    for turn in range(rounds):
        for case, kernels in cases.items():
            for at, which in enumerate(kernels):
                library.make(at, which)
            names = list(addresses)
            for name in names[turn % len(names) :] + names[: turn % len(names)]:
                seconds = library.run(addresses[name], ctypes.c_int64(100 * CALLS))
                assert seconds >= 0, f"a call of {name} failed"
                found[case][name].append(1e9 * seconds / (100 * CALLS))
    return found


def check(library: ctypes.CDLL, addresses: dict[str, ctypes.c_void_p]) -> None:
    """Check that the wrappers and the dispatcher choose the same kernels."""
    called = ctypes.c_int.in_dll(library, "called")
    for which in range(KERNELS):
        library.make(0, which)
        for name in ("eight", "dispatcher"):
            assert library.run(addresses[name], ctypes.c_int64(1)) >= 0
            assert called.value == which, f"{name} called kernel {called.value}, not {which}"


def instructions(folder: Path) -> dict[tuple[str, int], float]:
    """Return the instructions of a call, by wrapper and kernel, without the loop."""
    (folder / "functions.inc").write_text("".join(f"FUNCTION({name})\n" for name in providers()))
    objects, program = folder / "wrappers.o", folder / "count"
    runtime.lower(module()).export_object(objects)
    library = Path(libinfo.find_libtvm_ffi())
    paths = [str(objects), str(library), f"-Wl,-rpath,{library.parent}", "-o", str(program)]
    cc("-DCOUNT", f"-I{folder}", SOURCE, *paths)
    command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=out"]
    subprocess.run([*command, program], cwd=folder, check=True, capture_output=True)
    totals: dict[tuple[str, int], int] = {}
    for path in folder.glob("out.*"):
        text = path.read_text()
        name = re.search(r"^desc: Trigger: Client Request: (\w+)/(\d)$", text, re.MULTILINE)
        total = re.search(r"^totals: (\d+)$", text, re.MULTILINE)
        if name and total:
            totals[name[1], int(name[2])] = int(total[1])
    return {
        (name, which): (total - totals["nothing", which]) / CALLS
        for (name, which), total in totals.items()
        if name != "nothing"
    }


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    print(f"\n| {' | '.join(header)} |\n| --- |{' ---: |' * (len(header) - 1)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds")
    rounds = 9 if parser.parse_args().quick else 101
    with tempfile.TemporaryDirectory() as name:
        times = nanoseconds(Path(name), rounds)
        counts = instructions(Path(name)) if shutil.which("valgrind") else {}
    rows: list[list[str]] = []
    for case, found in times.items():
        for wrapper, values in found.items():
            more = [a - b for a, b in zip(values, found[ONE], strict=True)]
            figures = (statistics.median(values), statistics.median(more))
            rows.append([f"{case}: {wrapper}", *(f"{figure:.2f}" for figure in figures)])
    table(("kernel: variants", "ns a call", "more than one"), rows)
    if not counts:
        print("\nvalgrind is not installed, so no instructions are counted")
        return
    rows = [
        [wrapper, *(f"{counts[wrapper, which]:.0f}" for which in range(KERNELS))]
        for wrapper in providers()
    ]
    table(("instructions a call of kernel", *map(str, range(KERNELS))), rows)


if __name__ == "__main__":
    main()
