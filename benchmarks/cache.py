"""Measure what the compile cache saves: a hit and a miss, in a warm and in a fresh process.

    python benchmarks/cache.py [--quick]

Needs a C compiler ($CC, or cc). Prints Markdown tables; README.md here says how to read them.
"""

from __future__ import annotations

import argparse
import itertools
import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

KERNEL = """
func.func @mm(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf32>, memref<?x?xf32>) outs(%C : memref<?x?xf32>)
  return
}
"""
LOWERING = (
    "builtin.module(func.func(convert-linalg-to-loops),expand-strided-metadata,lower-affine,"
    "convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)"
)
WITH_KERNEL = "matmul, its kernel lowered too"

Build = Callable[[], Any]
Builds = tuple[Build, Build]
"""Make a module that this process has not seen, and one that is always the same."""
_numbers = itertools.count()


def median(values: Sequence[float]) -> str:
    """Show the median, followed by the quartiles."""
    low, middle, high = statistics.quantiles(values, n=4)
    digits = 2 if middle < 10 else 1
    return f"{middle:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Return a Markdown table; the first column is text."""
    print(f"\n| {' | '.join(header)} |")
    print(f"| --- |{' ---: |' * (len(header) - 1)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def timed(work: Callable[..., Any], *args: Any, **options: Any) -> float:
    """Return the milliseconds that a call takes."""
    start = time.perf_counter()
    work(*args, **options)
    return 1e3 * (time.perf_counter() - start)


def wrapper_of(case: Any, context: Any) -> Builds:
    """Make a module with only a wrapper; its kernel is linked."""
    from ffi_builder import attach_ffi_func

    def build(shown: str) -> Any:
        module = context_module("", context)
        attach_ffi_func(module, case.name, case.params, case.provider, shown)
        return module

    return lambda: build(new_name()), lambda: build(case.name)


def new_name() -> str:
    """Return a new name, as a repeated wrapper costs less (docs/performance.md)."""
    return f"f{next(_numbers)}"


def context_module(text: str, context: Any = None) -> Any:
    ir = import_module("torch_mlir.ir")
    return ir.Module.parse(text, context or ir.Context())


def attach_matmul(module: Any) -> None:
    """Attach a wrapper under the name of the module, in the case with a kernel."""
    from signatures import MATMUL

    from ffi_builder import attach_ffi_func, providers

    named = "sym_name" in module.operation.attributes
    shown = module.operation.attributes["sym_name"].value if named else MATMUL.name
    attach_ffi_func(module, MATMUL.name, MATMUL.params, providers.MemRefCallProvider("mm"), shown)


# ---- warm


def measure_warm(kernels: bytes, folder: Path, rounds: int) -> None:
    """Measure a miss and then a hit in each round."""
    from signatures import CASES

    context = import_module("torch_mlir.ir").Context()
    cases: list[tuple[str, Builds, dict[str, Any]]] = [
        (case.title, wrapper_of(case, context), {"link": [kernels]}) for case in CASES
    ]
    lowering = {"pipeline": LOWERING, "post_compile_hooks": [attach_matmul]}

    def build(shown: str) -> Any:
        return context_module(f"module @{shown} {{ {KERNEL} }}", context)

    builds = (lambda: build(new_name()), lambda: build("mm"))
    cases.append((WITH_KERNEL, builds, lowering))
    print("\n## In a process that has compiled before\n\nMilliseconds to a callable.")
    rows = [
        [title, *measure_case(builds, options, folder, rounds)] for title, builds, options in cases
    ]
    titles = ["no cache", "miss", "hit", "miss / hit", "hit of `compile`"]
    table(["signature", *titles], rows)


def measure_case(builds: Builds, options: dict[str, Any], folder: Path, rounds: int) -> list[str]:
    from ffi_builder import runtime

    build, same = builds

    times: dict[str, list[float]] = {"none": [], "miss": [], "hit": [], "compile": []}
    runtime.compile(same(), cache_dir=folder, **options)
    for _ in range(rounds):
        key = (str(time.perf_counter_ns()),)
        times["none"].append(timed(lambda: runtime.compile(build(), **options)))
        for which in ("miss", "hit"):
            ms = timed(runtime.compile_cached, key, build, cache_dir=folder, **options)
            times[which].append(ms)
        ms = timed(lambda: runtime.compile(same(), cache_dir=folder, **options))
        times["compile"].append(ms)
    ratio = [miss / hit for miss, hit in zip(times["miss"], times["hit"], strict=True)]
    shown = [times["none"], times["miss"], times["hit"], ratio, times["compile"]]
    return [median(values) for values in shown]


# ---- first


def first_in_process(folder: Path) -> dict[str, float]:
    """Return the milliseconds to a callable; runs in a fresh process."""
    start = time.perf_counter()
    import tvm_ffi  # noqa: F401  # pyright: ignore[reportUnusedImport]

    imported = time.perf_counter()
    from ffi_builder import runtime

    runtime.compile_cached(
        "matmul",
        lambda: context_module(KERNEL),
        pipeline=LOWERING,
        post_compile_hooks=[attach_matmul],
        cache_dir=folder,
    )
    end = time.perf_counter()
    return {"all": 1e3 * (end - start), "after `import tvm_ffi`": 1e3 * (end - imported)}


def run_first(folder: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--first", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def measure_first(folder: Path, rounds: int) -> None:
    pairs: list[tuple[dict[str, float], dict[str, float]]] = []
    for index in range(rounds):
        fresh = folder / f"first-{index}"
        pairs.append((run_first(fresh), run_first(fresh)))
    print(f"\n## The first in a process\n\nMilliseconds, imports included, of {WITH_KERNEL}.")
    rows: list[list[str]] = []
    for part in pairs[0][0]:
        miss, hit = ([pair[side][part] for pair in pairs] for side in (0, 1))
        ratio = [a / b for a, b in zip(miss, hit, strict=True)]
        rows.append([part, median(miss), median(hit), median(ratio)])
    table(["", "miss", "hit", "miss / hit"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="What the compile cache saves.")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--first", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.first:
        print(json.dumps(first_in_process(options.first)))
        return
    from native import Native, compiler

    names = ("apache-tvm-ffi", "llvmlite", "apache-tvm-ffi-orcjit", "torch-mlir")
    versions = [f"{name} {metadata.version(name)}" for name in names]
    python = f"Python {platform.python_version()} on {platform.machine()}"
    print(f"{python}, {', '.join(versions)}, {compiler()}.")
    print("Medians, with the quartiles in brackets.")
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        kernels = Native(folder).kernels
        measure_warm(kernels, folder / "warm", 15 if options.quick else 101)
        measure_first(folder, 3 if options.quick else 15)


if __name__ == "__main__":
    main()
