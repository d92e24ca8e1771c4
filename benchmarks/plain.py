"""Measure plain modules beside those of torch-mlir: attaching, compiling, and a new process.

    python benchmarks/plain.py [--quick]

Prints Markdown tables: medians of interleaved rounds, in milliseconds, and the ratio to MLIR. The
first table has the aims.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from peers.ours import forgotten
from signatures import MATMUL

from ffi_builder import attach_ffi_func, ir, providers, runtime, spec

mlir: Any = import_module("torch_mlir.ir")
import_module("torch_mlir.dialects.llvm")

KERNEL: Final = runtime.lower("define void @kernel_mm_direct() {\n  ret void\n}").object
_numbers = itertools.count()


def plain() -> Any:
    """Make an empty plain module."""
    return ir.PlainModule()


def of_mlir() -> Any:
    """Make an empty MLIR module in a context of its own."""
    return mlir.Module.parse("", mlir.Context())


MAKERS: Final[dict[str, Callable[[], Any]]] = {"plain": plain, "MLIR": of_mlir}


def build(make: Callable[[], Any], params: Any, provider: Any) -> dict[str, float]:
    """Attach a wrapper under a new name to an empty module and compile it; return the times."""
    name, module = f"mm_{next(_numbers)}", make()
    start = time.perf_counter()
    attach_ffi_func(module, name, params, provider)
    attached = time.perf_counter()
    runtime.compile(module, link=[KERNEL])
    end = time.perf_counter()
    return {"attach": 1e3 * (attached - start), "attach and compile": 1e3 * (end - start)}


def interleaved(rounds: int, work: Callable[[Callable[[], Any]], dict[str, float]]) -> Any:
    """Return the medians of each measurement, for each kind of module."""
    found: dict[str, dict[str, list[float]]] = {kind: {} for kind in MAKERS}
    for turn in range(rounds + 1):
        for kind in sorted(MAKERS, reverse=bool(turn % 2)):
            for what, took in work(MAKERS[kind]).items():
                if turn:  # the first round warms up
                    found[kind].setdefault(what, []).append(took)
    return {
        kind: {what: statistics.median(took) for what, took in times.items()}
        for kind, times in found.items()
    }


def new_structure(make: Callable[[], Any]) -> dict[str, float]:
    with forgotten():
        return build(make, MATMUL.params, MATMUL.provider)


def same_structure(make: Callable[[], Any]) -> dict[str, float]:
    return build(make, MATMUL.params, MATMUL.provider)


PROCESS: Final = """
from ffi_builder import attach, providers, runtime, spec
{module}
hypot = spec.Signature.parse("hypot(x: float64, y: float64) -> r: float64")
attach(module, hypot, providers.DirectCallProvider("hypot"))
assert runtime.compile(module)["hypot"](3.0, 4.0) == 5.0
"""
MODULES: Final = {
    "plain": "from ffi_builder import ir; module = ir.PlainModule()",
    "MLIR": "from torch_mlir import ir; module = ir.Module.parse('', ir.Context())",
}


def process(kind: str) -> float:
    """Return the seconds of CPU time that a process takes to the first call."""
    text = PROCESS.format(module=MODULES[kind])
    before = os.times()
    subprocess.run([sys.executable, "-c", text], check=True)
    after = os.times()
    return after.children_user + after.children_system - before[2] - before[3]


def table(title: str, rows: list[list[str]], *header: str) -> None:
    """Print a Markdown table."""
    print(f"\n## {title}\n\n| {' | '.join(header)} |\n| --- |{' ---: |' * (len(header) - 1)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def cells(found: Any, what: str) -> list[str]:
    own, other = found["plain"][what], found["MLIR"][what]
    return [f"{own:.2f}", f"{other:.2f}", f"{own / other:.2f}"]


def main_table(rounds: int) -> None:
    new, same = interleaved(rounds, new_structure), interleaved(rounds, same_structure)
    rows = [
        ["a new matmul, attach", *cells(new, "attach"), "0.60"],
        ["a new matmul, attach and compile", *cells(new, "attach and compile"), "0.67"],
        ["one of its structure, attach", *cells(same, "attach"), "1.00"],
        ["one of its structure, attach and compile", *cells(same, "attach and compile"), "1.00"],
    ]
    table("Wrappers, ms", rows, "", "plain", "MLIR", "ratio", "at most")


def process_table(rounds: int) -> None:
    times = {kind: [process(kind) for _ in range(rounds)] for kind in MODULES}
    own, other = (statistics.median(times[kind]) for kind in ("plain", "MLIR"))
    rows = [["the first wrapper", f"{own:.2f}", f"{other:.2f}", f"{other - own:.2f}", "0.06"]]
    table("A new process, s of CPU time", rows, "", "plain", "MLIR", "sooner by", "at least")


def with_constant(size: int) -> Any:
    """Return a provider with a constant of so many bytes."""

    def provider(current_block: Any, context: Any) -> Any:
        b = context.builder
        context.symbols.declare("getpid", b.types.i32, [])
        b.call("getpid", [], b.types.i32)
        b.text_constant(os.urandom(size))
        return current_block

    return provider


def growth_table(rounds: int, most: int) -> None:
    rows: list[list[str]] = []
    for size in (10, 1_000, 100_000, *([10_000_000] if rounds > 1 else [])):

        def constant(make: Callable[[], Any], size: int = size) -> dict[str, float]:
            return build(make, [], with_constant(size))

        found = interleaved(rounds, constant)
        rows.append([f"a constant of {size:,} bytes", *cells(found, "attach and compile")])
    for count in sorted({10, 100, most}):
        params = [spec.Var(f"p{index}", "int64") for index in range(count)]

        def parameters(make: Callable[[], Any], params: Any = params) -> dict[str, float]:
            with forgotten():
                return build(make, params, providers.NopCallProvider())

        found = interleaved(rounds, parameters)
        rows.append([f"{count:,} parameters", *cells(found, "attach and compile")])
    for count in sorted({10, 100, most}):

        def wrappers(make: Callable[[], Any], count: int = count) -> dict[str, float]:
            module = make()
            start = time.perf_counter()
            for index in range(count):
                attach_ffi_func(module, f"mm_{index}", MATMUL.params, MATMUL.provider)
            runtime.compile(module, link=[KERNEL])
            return {"attach and compile": 1e3 * (time.perf_counter() - start)}

        found = interleaved(rounds, wrappers)
        rows.append([f"{count:,} wrappers in a module", *cells(found, "attach and compile")])
    table("What grows, ms", rows, "", "plain", "MLIR", "ratio")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMPDIR"] = str(Path(folder))
        main_table(5 if quick else 60)
        process_table(1 if quick else 9)
        growth_table(1 if quick else 3, 100 if quick else 1000)


if __name__ == "__main__":
    main()
