"""Measure making, calling and failing of wrappers, beside C functions written by hand.

    python benchmarks/wrapper.py [--quick]

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
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import numpy as np
from native import Arguments, Native, as_tensor, compiler
from signatures import CASES, MATMUL, Case

from ffi_builder import attach_ffi_func, runtime

ir: Any = import_module("torch_mlir.ir")

MATMUL_KERNEL = """
llvm.func @kernel_mm_direct(%a: !llvm.ptr, %b: !llvm.ptr, %c: !llvm.ptr, %n: i64, %k: i64,
                            %m: i64) {
  llvm.return
}
"""


@dataclass(frozen=True)
class Effort:
    """Numbers of repetitions. Many short samples, so that few of them are interrupted."""

    rounds: int
    builds: int
    calls: int
    python_calls: int
    many: tuple[int, ...]


FULL = Effort(rounds=301, builds=31, calls=10_000, python_calls=1_000, many=(100, 400))
QUICK = Effort(rounds=61, builds=7, calls=10_000, python_calls=1_000, many=(100,))


def spread(values: Sequence[float], digits: int = 1) -> str:
    """Show the median, followed by the quartiles."""
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Return a Markdown table; the first column is text."""
    print(f"\n| {' | '.join(header)} |")
    print(f"| --- |{' ---: |' * (len(header) - 1)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def timed(work: Callable[..., Any], *args: Any, **options: Any) -> tuple[float, Any]:
    """Return the milliseconds that a call takes, and its result."""
    start = time.perf_counter()
    result = work(*args, **options)
    return 1e3 * (time.perf_counter() - start), result


def attach(module: Any, case: Case, name: str | None = None) -> None:
    attach_ffi_func(module, name or case.name, case.params, case.provider)


def attach_many(module: Any, count: int) -> None:
    for index in range(count):
        attach(module, MATMUL, f"{MATMUL.name}_{index}")


# ---- making


def operations(operation: Any) -> int:
    """Return the number of operations inside."""
    blocks = [block for region in operation.regions for block in region.blocks]
    inner = [op.operation for block in blocks for op in block.operations]
    return len(inner) + sum(map(operations, inner))


def measure_making(native: Native, effort: Effort) -> None:
    context = ir.Context()
    first: dict[str, list[float]] = {case.name: [] for case in CASES}
    further: dict[str, list[float]] = {case.name: [] for case in CASES}
    compiling: dict[str, list[float]] = {case.name: [] for case in CASES}
    sizes: dict[str, tuple[int, int]] = {}
    for _, case in itertools.product(range(effort.builds), CASES):
        module = ir.Module.parse("", context)
        first[case.name].append(timed(attach, module, case)[0])
        ms, compiled = timed(runtime.compile, module, link=[native.kernels])
        compiling[case.name].append(ms)
        if case.name not in sizes:
            entry = ir.SymbolTable(module.operation)[f"__tvm_ffi_{case.name}"]
            sizes[case.name] = operations(entry.operation), len(compiled.object)
        further[case.name].append(timed(attach, module, case, "further")[0])
    print("\n## Making a wrapper\n\nMilliseconds; in a process that has made one before.")
    rows: list[list[str]] = []
    for case in CASES:
        every = [a + b for a, b in zip(first[case.name], compiling[case.name], strict=True)]
        ops, size = sizes[case.name]
        times = [spread(v[case.name], 2) for v in (first, further, compiling)]
        rows.append([case.title, *times, spread(every, 2), str(ops), str(size)])
    titles = ["attach, first in a module", "attach, further", "compile + link", "to callable"]
    table(["signature", *titles, "operations", "object, bytes"], rows)


def measure_many(effort: Effort) -> None:
    print(f"\n## Many wrappers in one module\n\nOf the signature `{MATMUL.title}`; one run each.")
    context = ir.Context()
    rows: list[list[str]] = []
    for count in (1, *effort.many):
        module = ir.Module.parse(MATMUL_KERNEL, context)
        attaching, _ = timed(attach_many, module, count)
        compiling, compiled = timed(runtime.compile, module)
        size = len(compiled.object)
        each = [f"{value / count:.2f}" for value in (attaching, compiling)]
        rows.append(
            [str(count), f"{attaching:.1f}", each[0], f"{compiling:.1f}", each[1], str(size)]
        )
    table(["wrappers", "attach, ms", "each", "compile + link, ms", "each", "object, bytes"], rows)


# ---- calling


@dataclass(frozen=True)
class Callee:
    """One function in one of the ways it is called."""

    address: int
    function: Any
    arguments: Arguments
    tensors: list[object]


def callees(native: Native, case: Case) -> tuple[Callee, Callee]:
    """Return the wrapper and the function written by hand."""
    module = ir.Module.parse("", ir.Context())
    attach(module, case)
    compiled = runtime.compile(module, link=[native.kernels])
    hand = native.address(f"hand_{case.name}_direct")
    tensors = [as_tensor(value) for value in case.args]
    return (
        Callee(compiled.address(case.name), compiled[case.name], Arguments(case.args), tensors),
        Callee(hand, runtime.function_at(hand, owner=native), Arguments(case.args), tensors),
    )


def python_ns(function: Callable[..., object], args: Sequence[object], calls: int) -> float:
    start = time.perf_counter_ns()
    for _ in itertools.repeat(None, calls):
        function(*args)
    return (time.perf_counter_ns() - start) / calls


def call_ns(native: Native, effort: Effort, way: str, callee: Callee, case: Case) -> float:
    if way == "c":
        seconds = native.seconds("time_calls", callee.address, callee.arguments, effort.calls)
        return 1e9 * seconds / effort.calls
    args = callee.tensors if way == "tvm_ffi" else case.args
    return python_ns(callee.function, args, effort.python_calls)


WAYS = {
    "c": "From C",
    "tvm_ffi": "From Python, with tvm_ffi tensors",
    "numpy": "From Python, with NumPy arrays",
}


def measure_calls(native: Native, effort: Effort) -> None:
    """Measure both in each round, so that a busy machine affects both."""
    pairs = {case.name: callees(native, case) for case in CASES}
    samples: dict[tuple[str, str, int], list[float]] = {}
    for _, way, case, side in itertools.product(range(effort.rounds), WAYS, CASES, (0, 1)):
        ns = call_ns(native, effort, way, pairs[case.name][side], case)
        samples.setdefault((way, case.name, side), []).append(ns)
    print("\n## Calling it\n\nNanoseconds a call; `by hand` is handwritten.c, compiled with -O2.")
    for way, title in WAYS.items():
        rows: list[list[str]] = []
        for case in CASES:
            wrapper, hand = (samples[way, case.name, side] for side in (0, 1))
            ratio = spread([a / b for a, b in zip(wrapper, hand, strict=True)], 2)
            rows.append([case.title, spread(wrapper), spread(hand), ratio])
        table([title, "wrapper", "by hand", "wrapper / by hand"], rows)


# ---- failing

WRONG = [*MATMUL.args[:1], np.zeros((5, 5), "float32"), *MATMUL.args[2:]]


def fail(function: Any) -> None:
    try:
        function(*WRONG)
    except ValueError:
        return
    raise AssertionError("the call should have failed")


def fail_often(function: Any, calls: int) -> None:
    for _ in range(calls):
        fail(function)


def first_in_process() -> dict[str, float]:
    """Return milliseconds in a fresh process. Compiling imports llvmlite and the JIT."""
    module = ir.Module.parse(MATMUL_KERNEL, ir.Context())
    attaching, _ = timed(attach, module, MATMUL)
    compiling, compiled = timed(runtime.compile, module)
    failing, _ = timed(fail, compiled[MATMUL.name])
    return {"attach": attaching, "compile + link": compiling, "error": failing}


def measure_first(effort: Effort) -> None:
    runs: list[dict[str, float]] = []
    for _ in range(max(3, effort.builds // 5)):
        command = [sys.executable, __file__, "--first"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        runs.append(json.loads(done.stdout))
    print(f"\n## The first in a process\n\nOf the signature `{MATMUL.title}`.")
    times = [spread([run[key] for run in runs], 2) for key in runs[0]]
    table(["", *runs[0]], [["ms", *times]])


def measure_errors(native: Native, effort: Effort) -> None:
    wrapper, _ = callees(native, MATMUL)
    arguments = Arguments(WRONG)
    calls = effort.python_calls // 10
    from_c: list[float] = []
    from_python: list[float] = []
    for _ in range(effort.rounds):
        seconds = native.seconds("time_errors", wrapper.address, arguments, calls)
        from_c.append(1e6 * seconds / calls)
        ms, _ = timed(fail_often, wrapper.function, calls)
        from_python.append(1e3 * ms / calls)
    print(f"\n## A call that fails\n\nOf the signature `{MATMUL.title}`, warm.")
    ways = ["from C, with taking the error", "from Python, with catching it"]
    table(["", *ways], [["µs", spread(from_c, 2), spread(from_python, 2)]])


def main() -> None:
    parser = argparse.ArgumentParser(description="What a wrapper costs.")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions: half a minute")
    parser.add_argument("--first", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.first:
        print(json.dumps(first_in_process()))
        return
    effort = QUICK if options.quick else FULL
    names = ("apache-tvm-ffi", "llvmlite", "apache-tvm-ffi-orcjit", "torch-mlir", "numpy")
    versions = [f"{name} {metadata.version(name)}" for name in names]
    python = f"Python {platform.python_version()} on {platform.machine()}"
    print(f"{python}, {', '.join(versions)}, {compiler()}.")
    print("Medians, with the quartiles in brackets.")
    with tempfile.TemporaryDirectory() as folder:
        native = Native(Path(folder))
        measure_making(native, effort)
        measure_many(effort)
        measure_calls(native, effort)
        measure_first(effort)
        measure_errors(native, effort)


if __name__ == "__main__":
    main()
