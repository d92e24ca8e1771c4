"""Measure calls of JAX functions beside XLA's own addition and a handler of XLA's FFI by hand.

    python benchmarks/jax_calls.py [--quick]

Each function adds two arrays of 8 floats. A call of a jitted function is measured from Python, and
one more call inside of a program as the difference between programs of many and of few calls. All
is measured in one process, round after round; each figure is the least and the median of the
rounds. Needs a C++ compiler (`$CXX`, or `g++`) and `ffi_builder[jit,mlir,jax]`.
"""

from __future__ import annotations

import argparse
import ctypes
import operator
import os
import shlex
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from ffi_builder import attach, runtime, spec
from ffi_builder.frameworks import jax as ffi_jax
from ffi_builder.providers import DirectCallProvider

HANDLER: Final = Path(__file__).parent / "calling" / "by_xla.cpp"
KERNEL: Final = """
#include <stdint.h>
void add(const float *a, const float *b, float *out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}
"""
TENSOR: Final = "Tensor([n], float32, intent="
ORDERS: Final = {
    "ffi_builder": f"add(a: {TENSOR}in), b: {TENSOR}in), out: {TENSOR}out))",
    "ffi_builder, output first": f"add2(out: {TENSOR}out), a: {TENSOR}in), b: {TENSOR}in))",
}
BASE: Final = "a + b"
BY_HAND: Final = "XLA handler by hand"
GOALS: Final = {"call": 0.5, "inside": 0.16}
"""The most µs: of a call more than `a + b`, and of one more call inside of a program."""
FEW: Final = 1
MANY: Final = 201


def functions(folder: Path) -> dict[str, Callable[..., Any]]:
    """Return what is measured, by name."""
    jax: Any = import_module("jax")
    compiler = shlex.split(os.environ.get("CXX", "g++"))
    (folder / "add.c").write_text(KERNEL)
    kernel, handler = folder / "add.o", folder / "handler.so"
    subprocess.run(
        [*compiler, "-x", "c", "-O2", "-fPIC", "-c", folder / "add.c", "-o", kernel], check=True
    )
    include = f"-I{jax.ffi.include_dir()}"
    options = ["-std=c++17", "-w", "-O2", "-fPIC", "-shared", include]
    subprocess.run([*compiler, *options, HANDLER, kernel, "-o", handler], check=True)
    by_hand = ctypes.CDLL(str(handler)).handler
    jax.ffi.register_ffi_target("by_hand", jax.ffi.pycapsule(by_hand), platform="cpu")

    def hook(module: Any) -> None:
        for text in ORDERS.values():
            signature = spec.Signature.parse(text, device="cpu")
            attach(module, signature, DirectCallProvider("add", args=["a", "b", "out", "n"]))

    compiled = runtime.compile("module {}", post_compile_hooks=[hook], link=[kernel])
    found: dict[str, Callable[..., Any]] = {BASE: operator.add}
    for name, text in ORDERS.items():
        found[name] = ffi_jax.function(compiled[text.partition("(")[0]])

    def call(a: Any, b: Any) -> Any:
        return jax.ffi.ffi_call("by_hand", jax.ShapeDtypeStruct(a.shape, a.dtype))(a, b)

    return {**found, BY_HAND: call}


def chained(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """Return a program of this many calls, each with the result of the last."""

    def program(a: Any, b: Any) -> Any:
        for _ in range(count):
            a = function(a, b)
        return a

    return program


def measured(
    programs: Mapping[str, Callable[..., Any]], rounds: int, calls: int
) -> dict[str, list[float]]:
    """Return the µs a call of each program in each round."""
    jnp: Any = import_module("jax.numpy")
    a, b = jnp.arange(8.0), jnp.zeros(8)
    times: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(rounds):
        for name, program in programs.items():
            result = program(a, b)
            start = time.perf_counter_ns()
            for _ in range(calls):
                result = program(a, b)
            result.block_until_ready()
            times[name].append((time.perf_counter_ns() - start) / calls / 1000)
    return times


def shown(name: str, times: list[float], note: str = "") -> str:
    """Return a row of a table: the least and the median."""
    return f"| {name} | {min(times):.3f} | {statistics.median(times):.3f} | {note} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure calls of JAX functions.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, for a first look")
    quick = parser.parse_args().quick
    rounds, calls = (5, 500) if quick else (40, 5000)
    jax: Any = import_module("jax")
    with tempfile.TemporaryDirectory() as folder:
        made = functions(Path(folder))
    jitted = {name: jax.jit(function) for name, function in made.items()}
    eager = {f"{name}, without jit": made[name] for name in ORDERS}
    times = measured({**jitted, **eager}, rounds, calls)
    print(f"| a jitted function, called from Python; µs | least | median | more than {BASE} |")
    print("| --- | ---: | ---: | ---: |")
    for name, each in times.items():
        print(shown(name, each, f"{min(each) - min(times[BASE]):+.2f}"))
    programs = {
        (name, count): jax.jit(chained(made[name], count))
        for name in (*ORDERS, BY_HAND)
        for count in (FEW, MANY)
    }
    inside = measured({f"{n}/{c}": p for (n, c), p in programs.items()}, rounds, calls // 20)
    print("\n| one more call inside of a program; µs | least | median | |")
    print("| --- | ---: | ---: | --- |")
    for name in (*ORDERS, BY_HAND):
        few, many = (inside[f"{name}/{count}"] for count in (FEW, MANY))
        print(shown(name, [(m - f) / (MANY - FEW) for f, m in zip(few, many, strict=True)]))
    print(f"\nGoals: {GOALS['call']} µs more than {BASE}, {GOALS['inside']} µs inside.")


if __name__ == "__main__":
    main()
