"""Measure `compile_many` beside a loop of `compile`, and beside a pool of processes by hand.

    python benchmarks/many.py [--quick] [--rounds N] [--workers N]

The ways alternate, and in each round so does a control: processes that only count, which shows how
much of the cores this run had. README.md here says how to read the tables.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from ffi_builder import attach, providers, runtime, spec
from ffi_builder.runtime.codegen import llvm
from ffi_builder.runtime.isolate import crew, worker

ir: Any = import_module("torch_mlir.ir")
CONTEXT = ir.Context()

COUNT = "n = 30_000_000\nwhile n: n -= 1"
CORES = 16
"""The cores that the model is asked about."""

Build = Callable[[int], Any]
"""Make a module, parsed and attached, that differs from those of other numbers."""


# ---- modules


def wrapper(number: int) -> Any:
    """Only a wrapper, of a structure of its own."""
    module = ir.Module.parse("", CONTEXT)
    tensors = (f"{name}: Tensor([m, {number + 2}, n], float32)" for name in "xyz")
    signature = spec.Signature.parse(f"f{number}({', '.join(tensors)})", device="cpu")
    attach(module, signature, providers.NopCallProvider())
    return module


LOOP = """
  llvm.br ^loop{i}(%zero : i64)
^loop{i}(%i{i}: i64):
  %p{i} = llvm.getelementptr %x[%i{i}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %q{i} = llvm.getelementptr %y[%i{i}] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %a{i} = llvm.load %p{i} : !llvm.ptr -> i8
  %b{i} = llvm.load %q{i} : !llvm.ptr -> i64
  %s{i} = llvm.mlir.constant({number}{i} : i64) : i64
  %c{i} = llvm.sext %a{i} : i8 to i64
  %d{i} = llvm.mul %c{i}, %s{i} : i64
  %e{i} = llvm.mul %d{i}, %b{i} : i64
  llvm.store %e{i}, %q{i} : i64, !llvm.ptr
  %j{i} = llvm.add %i{i}, %one : i64
  %l{i} = llvm.icmp "slt" %j{i}, %n : i64
  llvm.cond_br %l{i}, ^loop{i}(%j{i} : i64), ^after{i}
^after{i}:"""


def loops(number: int) -> Any:
    """A kernel of loops that LLVM vectorises and unrolls, and its wrapper."""
    body = "".join(LOOP.format(i=i, number=number + 1) for i in range(36))
    text = f"""llvm.func @kernel(%x: !llvm.ptr, %y: !llvm.ptr, %n: i64) {{
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64 {body}
  llvm.return
}}"""
    module = ir.Module.parse(text, CONTEXT)
    words = "f(x: Tensor([n], int8), y: Tensor([n], int64))"
    signature = spec.Signature.parse(words, device="cpu")
    attach(module, signature, providers.DirectCallProvider("kernel", args=["x", "y", "n"]))
    return module


TILES = [*product((1, 2, 3, 4, 6), (4, 8, 16, 32), (1, 2, 3, 4, 5, 6, 7, 8, 9, 10))]
"""Rows and columns of the tile that is kept in registers, and steps that are unrolled."""

LOWERING = (
    "builtin.module(convert-scf-to-cf,convert-vector-to-llvm,expand-strided-metadata,"
    "convert-to-llvm,reconcile-unrealized-casts)"
)


def tiled(number: int) -> Any:
    """A variant of a matmul, before MLIR's passes lower it."""
    rows, columns, unroll = TILES[number % len(TILES)]
    vector, array = f"vector<{columns}xf32>", "memref<?x?xf32>"
    accumulators = [f"%acc{r}" for r in range(rows)]
    lines = [f"%i{r} = arith.addi %i, %c{r} : index" for r in range(rows)]
    steps: list[str] = []
    for u in range(unroll):
        steps.append(f"%k{u} = arith.addi %k, %c{u} : index")
        steps.append(f"%b{u} = vector.load %B[%k{u}, %j] : {array}, {vector}")
        for r in range(rows):
            steps.append(f"%s{u}_{r} = memref.load %A[%i{r}, %k{u}] : {array}")
            steps.append(f"%v{u}_{r} = vector.broadcast %s{u}_{r} : f32 to {vector}")
            before = f"%acc{r}" if u == 0 else f"%f{u - 1}_{r}"
            steps.append(f"%f{u}_{r} = vector.fma %v{u}_{r}, %b{u}, {before} : {vector}")
    results = ", ".join(f"%f{unroll - 1}_{r}" for r in range(rows))
    types = ", ".join([vector] * rows)
    given = ", ".join(f"{name} = %zero" for name in accumulators)
    stores = [f"vector.store %sums#{r}, %C[%i{r}, %j] : {array}, {vector}" for r in range(rows)]
    newline = "\n        "
    constants = {0, 1, *range(max(rows, unroll)), rows, columns, unroll}
    named = newline.join(f"%c{c} = arith.constant {c} : index" for c in sorted(constants))
    text = f"""module @variant{number} {{
      func.func @matmul(%A: {array}, %B: {array}, %C: {array}) {{
        {named}
        %zero = arith.constant dense<0.0> : {vector}
        %m = memref.dim %C, %c0 : {array}
        %n = memref.dim %C, %c1 : {array}
        %depth = memref.dim %A, %c1 : {array}
        scf.for %i = %c0 to %m step %c{rows} {{
        {newline.join(lines)}
        scf.for %j = %c0 to %n step %c{columns} {{
        %sums:{rows} = scf.for %k = %c0 to %depth step %c{unroll}
            iter_args({given}) -> ({types}) {{
        {newline.join(steps)}
        scf.yield {results} : {types}
        }}
        {newline.join(stores)}
        }} }}
        return
      }}
    }}"""
    return ir.Module.parse(text, CONTEXT)


MATMUL = spec.Signature.parse(
    "f(A: Tensor([m, k], float32), B: Tensor([k, n], float32), C: Tensor([m, n], float32))",
    device="cpu",
)


def attach_matmul(module: Any) -> None:
    attach(module, MATMUL, providers.MemRefCallProvider("matmul"))


LOWERED: dict[str, Any] = {"pipeline": LOWERING, "post_compile_hooks": [attach_matmul]}


# ---- loops of compile, and compile_many


@dataclass
class Times:
    """Seconds that a round took, for all modules."""

    loop: float
    share: float
    """LLVM's share of the loop's CPU time."""
    many: float
    parent: float
    """CPU time of this process in `compile_many`."""
    children: float
    """CPU time of its children."""
    control: float
    """How many times as fast the processes together count as one of them alone."""


def counting(processes: int) -> float:
    """Return the seconds in which so many processes count, side by side."""
    start = time.perf_counter()
    running = [subprocess.Popen([sys.executable, "-c", COUNT]) for _ in range(processes)]
    assert not any(process.wait() for process in running)
    return time.perf_counter() - start


def looped(build: Build, numbers: Iterable[int], options: dict[str, Any]) -> tuple[float, float]:
    """Compile in a loop; return the seconds, and LLVM's share of the CPU time."""
    emit, spent = llvm.emit_object, 0.0

    def timed(*arguments: Any, **named: Any) -> bytes:
        nonlocal spent
        start = time.process_time()
        try:
            return emit(*arguments, **named)
        finally:
            spent += time.process_time() - start

    timed.__name__ = emit.__name__
    llvm.emit_object = timed
    try:
        start, before = time.perf_counter(), time.process_time()
        for number in numbers:
            runtime.compile(build(number), **options)
        taken, worked = time.perf_counter() - start, time.process_time() - before
    finally:
        llvm.emit_object = emit
    return taken, spent / worked


def many(
    build: Build, numbers: Iterable[int], workers: int, options: dict[str, Any]
) -> tuple[float, float, float]:
    """Compile with `compile_many`.

    Return the seconds, and the CPU times of this process and of its children.
    """
    start, before, others = time.perf_counter(), time.process_time(), of_children()
    for result in runtime.compile_many(map(build, numbers), workers=workers, **options):
        if isinstance(result, Exception):
            raise result
    parent = time.process_time() - before
    return time.perf_counter() - start, parent, of_children() - others


def of_children() -> float:
    """Return the CPU time of the children that run now."""
    ticks = 0
    for child in worker.running.get(crew.KIND, ()):
        fields = Path(f"/proc/{child.process.pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def measured(
    build: Build, count: int, rounds: int, workers: int, options: dict[str, Any]
) -> list[Times]:
    """Measure in rounds; the first, in which children start, is left out."""
    times: list[Times] = []
    for number in range(rounds + 1):
        first = 2 * count * number
        alone = counting(1)
        loop, share = looped(build, range(first, first + count), options)
        both = counting(workers)
        compiled = many(build, range(first + count, first + 2 * count), workers, options)
        times.append(Times(loop, share, *compiled, workers * alone / both))
    return times[1:]


def row(name: str, count: int, workers: int, times: Sequence[Times]) -> str:
    """Show the medians of the rounds, and what limits them."""
    loop, share, taken, parent, children, control = (
        statistics.median(getattr(each, field) for each in times)
        for field in ("loop", "share", "many", "parent", "children", "control")
    )
    low, ratio, high = statistics.quantiles((each.loop / each.many for each in times), n=4)
    amdahl = 1 / (1 - share + share / workers)
    # All work is shared out, but that of this process is not.
    model = loop / max(parent, (parent + children) / CORES)
    cells = [
        *(name, f"{1e3 * loop / count:.1f}", f"{share:.0%}".replace("%", " %")),
        *(f"{1e3 * taken / count:.1f}", f"{1e3 * parent / count:.1f}"),
        f"{1e3 * children / count:.1f}",
        *(f"{ratio:.2f} ({low:.2f}–{high:.2f})", f"{amdahl:.2f}", f"{control:.2f}", f"{model:.1f}"),
    ]
    return f"| {' | '.join(cells)} |"


# ---- a pool by hand


def made(number: int) -> bytes:
    """Return the object of a variant; runs in a process of the pool."""
    return runtime.lower(tiled(number), **LOWERED).object


def pooled(pool: ProcessPoolExecutor, numbers: Sequence[int]) -> float:
    start = time.perf_counter()
    for data in pool.map(made, numbers, chunksize=4):
        runtime.compile(data)
    return time.perf_counter() - start


def peers(count: int, rounds: int, workers: int) -> list[str]:
    """Compare with a pool: with the start of its processes, and once they run."""
    times: dict[str, list[float]] = {name: [] for name in ("loop", "first", "next", "pool", "warm")}
    for turn in range(rounds):
        ranges = [range((5 * turn + i) * count, (5 * turn + i + 1) * count) for i in range(5)]
        times["loop"].append(looped(tiled, ranges[0], LOWERED)[0])
        worker.kill_children()
        times["first"].append(many(tiled, ranges[1], workers, LOWERED)[0])
        times["next"].append(many(tiled, ranges[2], workers, LOWERED)[0])
        start = time.perf_counter()
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            pooled(pool, ranges[3])
            times["pool"].append(time.perf_counter() - start)
            times["warm"].append(pooled(pool, ranges[4]))
    loop = times.pop("loop")
    names = ("`compile_many`, first", "`compile_many`, next", "a pool, started", "a pool, running")
    rows = [f"| a loop of `compile` | {statistics.median(loop):.2f} | 1.00 |"]
    for name, taken in zip(names, times.values(), strict=True):
        ratio = statistics.median(a / b for a, b in zip(loop, taken, strict=True))
        rows.append(f"| {name} | {statistics.median(taken):.2f} | {ratio:.2f} |")
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--workers", type=int, default=worker.most_children())
    options = parser.parse_args(arguments)
    workers, rounds = options.workers, options.rounds or (2 if options.quick else 7)
    few = 10 if options.quick else 1
    print(f"{workers} workers, {rounds} rounds, load {os.getloadavg()[0]:.1f}\n")
    titles = (
        "modules",
        "loop, ms each",
        "LLVM",
        "many, ms each",
        "this process, ms",
        "children, ms",
    )
    more = ("ratio", "Amdahl", "counting", f"model, {CORES} cores")
    print(f"| {' | '.join((*titles, *more))} |\n| -- |{' -: |' * 9}")
    cases: list[tuple[str, Build, int, dict[str, Any]]] = [
        ("wrappers", wrapper, 200, {}),
        ("loops, O3", loops, 20, {"opt_level": 3}),
        ("tiled matmuls, with MLIR's passes", tiled, 100, LOWERED),
    ]
    for name, build, count, given in cases:
        times = measured(build, count // few, rounds, workers, given)
        print(row(name, count // few, workers, times), flush=True)
    count = len(TILES) // few
    print(f"\n| {count} tiled matmuls | s | ratio |\n| -- | -: | -: |")
    print(*peers(count, rounds, workers), sep="\n")
    print(f"\nload {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
