"""Measure what compiling large constants takes: time and memory.

    python benchmarks/constants.py [--quick] [--rounds N]

A module has an array of float32, in one of three forms: `dense<"0x…">` and `dense_resource` in
MLIR, and `[N x float] [float 0x…, …]` in LLVM IR text. It is compiled by ffi_builder, and without:
MLIR by its own ExecutionEngine, LLVM IR by llvmlite, which parses it and makes an object. Each
measurement has a process of its own, which has compiled a small array before. Times are CPU times
of the process. Memory is that beside the process with its module, divided by the bytes of the
array.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import time
from array import array
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

COUNTS = (10, 1_000, 100_000, 16_000_000)
QUICK = (10, 100_000)
SMALL = 2_000
MEGABYTE = 1 << 20

ENTRY = """
llvm.func @__tvm_ffi_first(%h: !llvm.ptr, %a: !llvm.ptr, %n: i32, %r: !llvm.ptr) -> i32 {
  %address = llvm.mlir.addressof @w : !llvm.ptr
  %at = llvm.getelementptr %address[%n] : (!llvm.ptr, i32) -> !llvm.ptr, f32
  %bits = llvm.load %at : !llvm.ptr -> i32
  llvm.return %bits : i32
}
"""
LLVM_ENTRY = """
define i32 @__tvm_ffi_first(ptr %h, ptr %a, i32 %n, ptr %r) {
  %at = getelementptr float, ptr @w, i32 %n
  %bits = load i32, ptr %at
  ret i32 %bits
}
"""


def floats(count: int) -> array[float]:
    """Return numbers that differ, the same in every run."""
    some = array("f", (random.Random(0).gauss(0, 1) for _ in range(min(count, 1_000_003))))
    return (some * (count // len(some) + 1))[:count]


# ---- forms: modules with an array


def parsed(text: str) -> Any:
    """Return a module of a new context."""
    ir: Any = import_module("torch_mlir.ir")
    return ir.Module.parse(text, ir.Context())


def dense(values: array[float]) -> Any:
    """Return a module with `dense`."""
    kind = f"tensor<{len(values)}xf32>"
    value = f'dense<"0x{values.tobytes().hex()}"> : {kind}'
    array_type = f"!llvm.array<{len(values)} x f32>"
    return parsed(f"llvm.mlir.global private constant @w({value}) : {array_type}\n{ENTRY}")


def dense_resource(values: array[float]) -> Any:
    """Return a module with `dense_resource`."""
    value = f"dense_resource<w> : tensor<{len(values)}xf32>"
    array_type = f"!llvm.array<{len(values)} x f32>"
    data = f'"0x04000000{values.tobytes().hex()}"'
    return parsed(
        f"llvm.mlir.global private constant @w({value}) : {array_type}\n{ENTRY}\n"
        f"{{-# dialect_resources: {{ builtin: {{ w: {data} }} }} #-}}"
    )


def llvm_ir(values: array[float]) -> str:
    """Return LLVM IR text, as LLVM 22 prints it."""
    bits = array("Q", array("d", values).tobytes())
    listed = ", ".join([f"float 0x{each:016X}" for each in bits])
    kind = f"[{len(values)} x float]"
    return f"@w = private constant {kind} [{listed}], align 4\n{LLVM_ENTRY}"


FORMS: dict[str, Callable[[array[float]], Any]] = {
    "dense": dense,
    "dense_resource": dense_resource,
    "llvm_ir": llvm_ir,
}


# ---- ways to compile them


def ours(module: Any) -> Any:
    """Compile with ffi_builder."""
    runtime: Any = import_module("ffi_builder.runtime")
    return runtime.compile(module)


def alone(module: Any) -> Any:
    """Compile with MLIR's engine, or with llvmlite."""
    if not isinstance(module, str):
        engine: Any = import_module("torch_mlir.execution_engine").ExecutionEngine(module)
        engine.initialize()
        return engine, engine.raw_lookup("__tvm_ffi_first")
    codegen: Any = import_module("ffi_builder.runtime.codegen.llvm")
    machine = codegen.target_machine("host", 2)
    parsed = codegen.parse(module, machine)
    codegen.optimise(parsed, machine, 2)
    return parsed, machine.emit_object(parsed)


WAYS: dict[str, Callable[[Any], Any]] = {"ours": ours, "alone": alone}


# ---- measuring


def memory(field: str) -> int:
    """Return a field of /proc/self/status in bytes: VmRSS, or VmHWM, which is its peak."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{field}:")[2].split()[0]) << 10


def measured(form: str, way: str, count: int) -> dict[str, float]:
    """Measure one compilation in this process."""
    make, compiled = FORMS[form], WAYS[way]
    kept = [compiled(make(floats(SMALL)))]
    module = make(floats(count))
    Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here
    before, start = memory("VmRSS"), time.process_time()
    kept.append(compiled(module))
    seconds = time.process_time() - start
    peak, after = memory("VmHWM") - before, memory("VmRSS") - before
    return {"seconds": seconds, "peak": peak, "after": after}


def in_a_process(form: str, way: str, count: int) -> dict[str, float]:
    """Measure one compilation in a new process."""
    command = [sys.executable, __file__, "--one", form, way, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def row(form: str, count: int, rounds: int) -> str:
    """Return a row of the table: medians."""
    cells = [form, f"{count:,}"]
    for way in WAYS:
        runs = [in_a_process(form, way, count) for _ in range(rounds)]
        median = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
        cells.append(f"{median['seconds'] * 1000:,.0f}")
        for key in ("peak", "after"):
            times = median[key] / (4 * count)
            # Below, it is the compiler's own memory.
            cells.append(f"{times:.1f}" if 4 * count > 32 * MEGABYTE else "")
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small arrays only")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        form, way, count = given.one
        print(json.dumps(measured(form, way, int(count))))
        return
    print("| form | floats | ms | peak | after | alone: ms | peak | after |")
    print("| -- | -: | -: | -: | -: | -: | -: | -: |")
    for form in FORMS:
        for count in QUICK if given.quick else COUNTS:
            print(row(form, count, given.rounds), flush=True)


if __name__ == "__main__":
    main()
