"""Measure what ffi_builder adds to compiling big kernels.

    python benchmarks/big.py [--quick] [--operations N] [--rounds N] [--only KERNEL]

A kernel of 100,000 operations is compiled in two ways: by ffi_builder, which describes two tensors,
attaches and compiles; and bare, by MLIR's verifier and translation, llvmlite and the JIT, with the
same passes and no wrapper. Both begin with a module that was parsed before, and end with a function
that can be called. They alternate; times are CPU times of the process, all threads together.
README.md here says how to read the table.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from itertools import islice
from typing import Any

from ffi_builder import attach_ffi_func, providers, runtime, spec
from ffi_builder.runtime.codegen import llvm as codegen
from ffi_builder.runtime.isolate import worker

ir: Any = import_module("torch_mlir.ir")
dialect: Any = import_module("torch_mlir.dialects.llvm")
llvm: Any = import_module("llvmlite.binding")
session: Any = import_module("tvm_ffi_orcjit").default_session()

LEVELS = (0, 2)
OPERATIONS, FEW = 100_000, 10_000
BLOCK = 1_000
"""About as many operations are in the body of each loop."""

# The JIT gives out functions of this kind alone. LLVM's passes leave it alone, like a wrapper.
CALLER = """
llvm.func @__tvm_ffi_caller(%h: !llvm.ptr, %a: !llvm.ptr, %n: i32, %r: !llvm.ptr) -> i32
    attributes {passthrough = ["noinline", "optnone"]} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %n64 = llvm.sext %n : i32 to i64
  llvm.call @k(%a, %r, %n64) : (!llvm.ptr, !llvm.ptr, i64) -> ()
  llvm.return %zero : i32
}
"""


# ---- kernels: how many operations, to the lines of a body


def chain(count: int) -> Iterator[str]:
    """Yield one block, in which each operation takes the result of the one before."""
    names = ("fadd", "fmul", "fsub")
    yield "%x0 = llvm.load %x : !llvm.ptr -> f64"
    for i in range(count):
        yield f"%x{i + 1} = llvm.{names[i % 3]} %x{i}, %x{max(0, i - 7)} : f64"
    yield f"llvm.store %x{count}, %y : f64, !llvm.ptr"


def scalars(count: int) -> Iterator[str]:
    """Yield unrolled loops of `y[i] += 0.5 x[i]`, a number at a time."""
    return loops(count, "f32", "0.5 : f32")


def vectors(count: int) -> Iterator[str]:
    """Yield the same, eight numbers at a time."""
    return loops(count, "vector<8xf32>", "dense<0.5> : vector<8xf32>")


def loops(count: int, kind: str, scale: str) -> Iterator[str]:
    """Yield unrolled loops over values of type `kind`, one after the other."""
    yield f"%scale = llvm.mlir.constant({scale}) : {kind}"
    yield "%zero = llvm.mlir.constant(0 : i64) : i64"
    yield f"%step = llvm.mlir.constant({BLOCK // 7} : i64) : i64"
    yield "llvm.br ^loop0(%zero : i64)"
    for loop in range(count // BLOCK):
        yield f"^loop{loop}(%i{loop}: i64):"
        for j in range(BLOCK // 7):
            v, p = f"{loop}_{j}", f"[%i{loop}]" if j == 0 else f"[{j}]"
            of = ("%x", "%y") if j == 0 else (f"%p{loop}_0", f"%q{loop}_0")
            yield f"%p{v} = llvm.getelementptr {of[0]}{p} : {INDEX[j > 0]}, {kind}"
            yield f"%q{v} = llvm.getelementptr {of[1]}{p} : {INDEX[j > 0]}, {kind}"
            yield f"%a{v} = llvm.load %p{v} {{alignment = 4 : i64}} : !llvm.ptr -> {kind}"
            yield f"%b{v} = llvm.load %q{v} {{alignment = 4 : i64}} : !llvm.ptr -> {kind}"
            yield f"%c{v} = llvm.fmul %a{v}, %scale : {kind}"
            yield f"%d{v} = llvm.fadd %b{v}, %c{v} : {kind}"
            yield f"llvm.store %d{v}, %q{v} {{alignment = 4 : i64}} : {kind}, !llvm.ptr"
        yield f"%j{loop} = llvm.add %i{loop}, %step : i64"
        yield f'%l{loop} = llvm.icmp "slt" %j{loop}, %n : i64'
        yield f"llvm.cond_br %l{loop}, ^loop{loop}(%j{loop} : i64), ^loop{loop + 1}(%zero : i64)"
    yield f"^loop{count // BLOCK}(%last: i64):"


INDEX = ("(!llvm.ptr, i64) -> !llvm.ptr", "(!llvm.ptr) -> !llvm.ptr")
KERNELS: dict[str, Callable[[int], Iterator[str]]] = {
    "chain": chain,
    "scalars": scalars,
    "vectors": vectors,
}


def text_of(kernel: str, operations: int) -> str:
    """Return the kernel `k`, as MLIR text."""
    body = "\n  ".join(KERNELS[kernel](operations))
    arguments = "%x: !llvm.ptr, %y: !llvm.ptr, %n: i64"
    return f"llvm.func @k({arguments}) {{\n  {body}\n  llvm.return\n}}\n"


# ---- two ways


def ours(module: Any, level: int) -> Any:
    """Describe two tensors, attach a wrapper for them and compile."""
    n = spec.Var("n", "int64")
    x, y = (spec.Tensor(name, [n], "float32", device_type="cpu") for name in "xy")
    attach_ffi_func(module, "k", [x, y], providers.DirectCallProvider("k", args=[x, y, n]))
    return runtime.compile(module, opt_level=level)["k"]


def bare(module: Any, level: int) -> Any:
    """Compile with MLIR, llvmlite and the JIT alone."""
    assert module.operation.verify()
    text = dialect.translate_module_to_llvmir(module.operation)
    machine = codegen.target_machine("host", level)
    parsed = llvm.parse_assembly(text, llvm.create_context())
    parsed.verify()
    parsed.triple, parsed.data_layout = machine.triple, str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = options.slp_vectorization = level >= 2
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(parsed, builder)
    library = session.load_module([machine.emit_object(parsed)])
    return library.get_function("caller")


def measured(way: Callable[[Any, int], Any], text: str, level: int) -> float:
    """Return the milliseconds that one of the ways takes.

    Each has a thread of its own, as LLVM's part has in ffi_builder: threads have memory of their
    own, and in that of the main thread, which is in pieces, LLVM takes up to half as long again.
    """
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_measured, way, text, level).result()


def _measured(way: Callable[[Any, int], Any], text: str, level: int) -> float:
    module = ir.Module.parse(text if way is ours else text + CALLER, ir.Context())
    gc.collect()  # so that it does not run for what came before
    start = time.process_time()
    function = way(module, level)
    taken = 1e3 * (time.process_time() - start)
    del function
    return taken


# ---- the table


def row(kernel: str, text: str, level: int, rounds: int) -> str:
    """Measure a kernel at a level. The first round is not counted."""
    times: dict[Callable[[Any, int], Any], list[float]] = {ours: [], bare: []}
    for number in range(rounds + 1):
        for way in (ours, bare) if number % 2 else (bare, ours):
            times[way].append(measured(way, text, level))
    assert not worker.running, "a child process compiled, whose time is not counted"
    ratios = [
        mine / other for mine, other in islice(zip(times[ours], times[bare], strict=True), 1, None)
    ]
    middles = [f"{statistics.median(times[way][1:]):,.0f}" for way in (bare, ours)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    cells = [kernel, f"O{level}", *middles, f"{middle:.3f} ({low:.3f}–{high:.3f})"]
    return f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--operations", type=int)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--only", choices=KERNELS, action="append")
    options = parser.parse_args(arguments)
    operations = options.operations or (FEW if options.quick else OPERATIONS)
    rounds = options.rounds or (3 if options.quick else 9)
    print(f"{operations:,} operations, {rounds} rounds\n")
    titles = ("kernel", "level", "bare, ms", "ffi_builder, ms", "ratio")
    print(f"| {' | '.join(titles)} |\n| --- | --- | ---: | ---: | ---: |")
    for kernel in options.only or KERNELS:
        text = text_of(kernel, operations)
        for level in LEVELS:
            print(row(kernel, text, level, rounds), flush=True)


if __name__ == "__main__":
    main()
