"""Measure what looking at a module costs, before this process compiles it.

    python benchmarks/safety.py [--rounds N]

The modules of tests/ordinary, and kernels of 20,000 operations, are looked at as `runtime.compile`
does, and compiled at its default level: translated, optimised, and made an object. Times are CPU
times of the process, of which the least of some rounds is taken.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import big

from ffi_builder.runtime.codegen import allowlist_llvm, allowlist_mlir, floats, llvm, mlir

sys.path.append(str(Path(__file__).parent.parent))
corpus: Any = import_module("tests.ordinary.corpus")

LEVEL = 2
OPERATIONS = 20_000


def least(rounds: int, function: Callable[[], Any]) -> tuple[float, Any]:
    """Return the milliseconds that a function takes, and its result."""
    best, result = float("inf"), None
    for _ in range(rounds):
        start = time.process_time()
        result = function()
        best = min(best, 1e3 * (time.process_time() - start))
    return best, result


def measured(text: str, is_llvm_ir: bool, rounds: int) -> tuple[float, float]:
    """Return the milliseconds of looking at a module, and of compiling it."""
    look = make = 0.0
    if not is_llvm_ir:
        module = mlir.parse(text)
        operation = module.operation
        look, hazard = least(rounds, lambda: allowlist_mlir.translation_hazard(operation))
        assert hazard is None, hazard
        make, translated = least(rounds, lambda: mlir.translate(module))
        verify, _ = least(rounds, operation.verify)
        make, text = make + verify, translated
    text = floats.readable(text)
    cpu, features = llvm.host_cpu(), llvm.host_features()
    more, hazard = least(rounds, lambda: allowlist_llvm.codegen_hazard(text, cpu, features))
    assert hazard is None, hazard
    emit, _ = least(min(rounds, 2), lambda: llvm.emit_object(text, "host", LEVEL))
    return look + more, make + emit


def row(name: str, of: Iterable[tuple[float, float]]) -> str:
    """Return a line of the table."""
    looks, makes = zip(*of, strict=True)
    shares = sorted(look / (look + make) for look, make in zip(looks, makes, strict=True))
    share = sum(looks) / (sum(looks) + sum(makes))
    cells = [name, str(len(looks)), f"{sum(looks):.1f}", f"{sum(makes):,.0f}", f"{share:.1%}"]
    return f"| {' | '.join([*cells, f'{statistics.median(shares):.1%}', f'{shares[-1]:.1%}'])} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args(arguments).rounds
    llvm.most_pipelines = float("inf")
    found: dict[str, list[tuple[float, float]]] = {}
    for name, text in corpus.modules().items():
        of = found.setdefault(name.partition(" ")[0], [])
        of.append(measured(text, corpus.is_llvm_ir(name), rounds))
    for kernel in big.KERNELS:
        found[f"{kernel} of 20,000"] = [measured(big.text_of(kernel, OPERATIONS), False, rounds)]
    titles = ("modules", "count", "look, ms", "compile, ms", "share", "median", "most")
    print(f"| {' | '.join(titles)} |\n| -- |{' -: |' * (len(titles) - 1)}")
    for name, of in found.items():
        print(row(name, of))


if __name__ == "__main__":
    main()
