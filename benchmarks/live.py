"""Measure what many functions cost: memory each, the time to make one more, and to load them.

    python benchmarks/live.py [--counts 100 1000 10000] [--exported 10 1000]

The functions are wrappers of a matmul, each in a module and a context of its own, whose kernel does
nothing. They have the same structure, so that their code is copied from the second time on, or
parameters of other names, so that each is compiled. Each row has a process of its own, which has
made a few before. Memory is that of the process, and again after all were dropped and as many were
made: what is dropped serves the next. Times are CPU times of attaching and compiling, medians of
the first and of the last fifty.

The second table is about libraries with that many functions: the time to load one, and then to get
each function, in microseconds of CPU time for each function; the medians of nine processes.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from ffi_builder import attach, providers, runtime, spec

ir: Any = import_module("torch_mlir.ir")

KERNEL = """
llvm.func @kernel(%a: !llvm.ptr, %b: !llvm.ptr, %c: !llvm.ptr, %n: i64, %k: i64, %m: i64) {
  llvm.return
}
"""
PARAMETERS = (
    "A: Tensor([n, {k}], float32), B: Tensor([{k}, m], float32), C: Tensor([n, m], float32)"
)
BEFORE = 50


def function(number: int, alike: bool) -> tuple[Any, float]:
    """Return one, and the milliseconds of attaching and compiling it."""
    k = "k" if alike else f"k{number}"
    text = f"matmul{number}({PARAMETERS.format(k=k)})"
    signature = spec.Signature.parse(text, device="cpu")
    module = ir.Module.parse(KERNEL, ir.Context())
    args = ["A", "B", "C", "n", k, "m"]
    start = time.process_time()
    attach(module, signature, providers.DirectCallProvider("kernel", args=args))
    compiled = runtime.compile(module)
    return compiled[signature.name], 1e3 * (time.process_time() - start)


def resident() -> int:
    """Return the memory of this process in KB."""
    gc.collect()
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def row(count: int, alike: bool) -> str:
    """Measure in this process, and return a row of the table."""
    kept = [function(number, alike) for number in range(BEFORE)]
    before = resident()
    kept += [function(number, alike) for number in range(BEFORE, BEFORE + count)]
    times = [taken for _, taken in kept[BEFORE:]]
    each = (resident() - before) / count
    del kept[BEFORE:]
    kept += [function(number, alike) for number in range(BEFORE + count, BEFORE + 2 * count)]
    again = (resident() - before) / count
    first, last = (statistics.median(some) for some in (times[:BEFORE], times[-BEFORE:]))
    structure = "the same" if alike else "each its own"
    return f"| {structure} | {count:,} | {each:.0f} | {again:.0f} | {first:.2f} | {last:.2f} |"


def export(path: Path, count: int) -> None:
    """Write a library of many functions."""
    module = ir.Module.parse(KERNEL, ir.Context())
    for number in range(count):
        text = f"matmul{number}({PARAMETERS.format(k='k')})"
        args = ["A", "B", "C", "n", "k", "m"]
        provider = providers.DirectCallProvider("kernel", args=args)
        attach(module, spec.Signature.parse(text, device="cpu"), provider)
    runtime.lower(module).export_library(path)


def loaded(path: Path) -> str:
    """Load a library and get its functions; return the microseconds of each, for both."""
    runtime.load(path.with_name("first.so"))["matmul0"]  # imports what is needed
    start = time.process_time()
    library = runtime.load(path)
    between = time.process_time()
    functions = [library[name] for name in library]
    times = (between - start, time.process_time() - between)
    return " ".join(str(1e6 * taken / len(functions)) for taken in times)


def exported_row(folder: Path, count: int) -> str:
    """Measure in other processes, and return a row of the second table."""
    path = folder / f"{count}.so"
    export(path, count)
    command = [sys.executable, __file__, "--load", str(path)]
    texts = [subprocess.check_output(command, text=True) for _ in range(9)]
    medians = map(
        statistics.median, zip(*(map(float, text.split()) for text in texts), strict=True)
    )
    return f"| {count:,} | {' | '.join(f'{median:.1f}' for median in medians)} |"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", type=int, nargs="+", default=[100, 1_000])
    parser.add_argument("--exported", type=int, nargs="*", default=[10, 1_000])
    parser.add_argument("--row", nargs=2, metavar=("COUNT", "ALIKE"), help=argparse.SUPPRESS)
    parser.add_argument("--load", type=Path, metavar="LIBRARY", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.load:
        print(loaded(options.load))
        return
    if options.row:
        print(row(int(options.row[0]), options.row[1] == "True"))
        return
    print("| structure | functions | KB each | again | first, ms | last, ms |")
    print("| -- | -: | -: | -: | -: | -: |")
    for alike in (True, False):
        for count in options.counts:
            command = [sys.executable, __file__, "--row", str(count), str(alike)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            print(done.stdout.strip(), flush=True)
    print("\n| functions in a library | load, µs each | get, µs each |\n| -: | -: | -: |")
    with tempfile.TemporaryDirectory() as folder:
        export(Path(folder, "first.so"), 1)
        for count in options.exported:
            print(exported_row(Path(folder), count), flush=True)


if __name__ == "__main__":
    main()
