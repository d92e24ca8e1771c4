"""Measure the part of making and compiling a wrapper that MLIR, LLVM and the JIT take.

    python benchmarks/floor.py [--rounds N]

The wrapper has a new signature and a new context, as in `compare.py`. Clocked are the parts that
any design with a self-contained module has:
creating its operations, with operands, types and attributes at hand; MLIR's
verifier; translating to LLVM IR; LLVM's parser, verifier and code generation; loading the object.
These shares times the ratios of results.md are the lowest that the ratios could get.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from native import Native
from peers import base
from peers.ours import forgotten
from signatures import MAKERS

from ffi_builder import attach_ffi_func, runtime
from ffi_builder.builder import wrapper
from ffi_builder.ir import operations
from ffi_builder.runtime.codegen import mlir

ir: Any = import_module("torch_mlir.ir")
ATTACH = ("create", "verify")
COMPILE = ("translate", "LLVM", "load")
CASES = (("scalar", "nop"), ("mm", "nop"), ("t8_strided", "nop"), ("t8_strided", "pointers"))
CLOCK = 1e-7
"""The approximate cost of clocking a call, in seconds."""

spent: defaultdict[str, float] = defaultdict(float)


def clocked(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function so that its time is added up."""

    def call(*args: Any, **options: Any) -> Any:
        start = time.perf_counter()
        try:
            return function(*args, **options)
        finally:
            spent[name] += time.perf_counter() - start - CLOCK

    return call


def clock_everything() -> None:
    """Clock every call into MLIR, LLVM and the JIT."""
    make = operations.Core.__init__

    def made(self: Any, *args: Any) -> None:
        make(self, *args)
        self._create = clocked("create", self._create)

    setattr(operations.Core, "__init__", made)  # noqa: B010
    for place, function, name in (
        (wrapper, "verify_added", "verify"),
        (mlir, "translate", "translate"),
        (import_module("tvm_ffi_orcjit.session").ExecutionSession, "load_module", "load"),
        (import_module("tvm_ffi").Module, "get_function", "load"),
    ):
        setattr(place, function, clocked(name, getattr(place, function)))
    call: Any = import_module("llvmlite.binding.ffi")._lib_fn_wrapper
    call.__call__ = clocked("LLVM", call.__call__)


def once(case: str, how: str, name: str) -> dict[str, float]:
    """Return the milliseconds of each part and in total."""
    module = ir.Module.parse(base.declaration(case, how), ir.Context())
    made = MAKERS[case]()
    spent.clear()
    clock = base.Clock()
    attach_ffi_func(module, name, made.params, made.calling(how))
    clock.step("attach")
    _ = runtime.compile(module)[name]
    clock.step("compile")
    return {**clock.times, **{part: 1e3 * taken for part, taken in spent.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60)
    rounds = parser.parse_args().rounds
    clock_everything()
    columns = ["", *(f"{part}, ms" for part in (*ATTACH, *COMPILE))]
    columns += ["of attach", "of compile", "of both"]
    print(f"| {' | '.join(columns)} |\n| --- |{' ---: |' * (len(columns) - 1)}")
    with tempfile.TemporaryDirectory() as folder:
        kernels = Native(Path(folder))  # which makes their symbols global
        for case, how in CASES:
            runs: list[dict[str, float]] = []
            for number in range(rounds):
                with forgotten():
                    runs.append(once(case, how, f"{case}_{how}_{number}"))
            print(row(f"{case}, {how}", runs[rounds // 5 :]))
        del kernels


def row(title: str, runs: list[dict[str, float]]) -> str:
    """Return a row of medians; shares are computed per run."""

    def share(parts: tuple[str, ...], *whole: str) -> str:
        shares = (
            sum(map(run.__getitem__, parts)) / sum(map(run.__getitem__, whole)) for run in runs
        )
        return f"{100 * statistics.median(shares):.0f} %"

    times = [f"{statistics.median(run[part] for run in runs):.2f}" for part in (*ATTACH, *COMPILE)]
    both = share((*ATTACH, *COMPILE), "attach", "compile")
    shares = [share(ATTACH, "attach"), share(COMPILE, "compile"), both]
    return f"| {' | '.join([title, *times, *shares])} |"


if __name__ == "__main__":
    main()
