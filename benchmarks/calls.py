"""Measure calls from Python beside tvm-ffi's own call and other makers of functions.

    python -m benchmarks.calls [--quick] [--without PEER …]

All is measured in one process, one after the other, round after round. Each figure is the least
and the median of the rounds, in ns a call; ratios are to tvm-ffi's call of the same code with the
GIL held, or to ours where tvm-ffi takes no such arguments. What is not installed is left out, and
said so: `pip install -e '.[calls]'`.
"""

from __future__ import annotations

import argparse
import array
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
import tvm_ffi

from benchmarks.calling.peers import BYTES, PEERS, hash_library
from ffi_builder import attach, runtime, wrap
from ffi_builder.entry import available
from ffi_builder.ir.distribution import named
from ffi_builder.providers import NopCallProvider
from ffi_builder.runtime.python import functions
from ffi_builder.spec import Signature

UNROLLED: Final = 20
OURS: Final = {"entry, GIL held": False, "entry": True}
THEIRS: Final = {"tvm-ffi, GIL held": False, "tvm-ffi": True}
BASE: Final = "tvm-ffi, GIL held"
GOALS: Final = {"ints": 0.31, "numpy3": 0.08, "torch3": 0.32, "torch8": 0.27, "keywords": 0.42}
"""The ratios to reach, of the entry with the GIL held."""


VECTORS: Final = "x{0}: Tensor([n{0}], float32)"
GENERAL: Final = {
    "shape": "f(x: Shape([n, m]))",
    "struct": "f(x: Struct(a: int32, b: float32))",
    "tuple of tensors": "f(x: Tuple(a: Tensor([n], float32), b: Tensor([n], float32)))",
    "result": "f(x: Tensor([n], float32)) -> y: Tensor([n], float32)",
}
"""Functions whose calls go the general way."""


def vectors(count: int) -> runtime.CompiledModule:
    """A wrapper that only checks this many vectors."""
    return compiled(f"f({', '.join(map(VECTORS.format, range(count)))})")


def compiled(signature: str) -> runtime.CompiledModule:
    """A wrapper that only checks its arguments."""
    distribution = named("torch_mlir")
    context = distribution.ir.Context()
    distribution.load_llvm(context)
    module = distribution.ir.Module.parse("", context)
    attach(module, Signature.parse(signature, device="cpu"), NopCallProvider())
    return runtime.compile(module)


class Case:
    """Arguments, and everything that is called with them."""

    def __init__(
        self,
        args: Sequence[Any],
        keywords: Mapping[str, Any],
        module: runtime.CompiledModule,
        *,
        ours: bool = False,
    ) -> None:
        self.args, self.keywords = args, keywords
        self.runs: dict[str, Callable[[int], float]] = {}
        for name, release in OURS.items():
            self.add(name, _released(module["f"], release))
        for name, release in THEIRS.items() if not ours else ():
            plain = tvm_ffi.Function.__new__(tvm_ffi.Function)
            plain.__move_handle_from__(module["f"])
            # It takes no keywords: what they cost is part of the comparison.
            self.add(name, _released(plain, release), by_position=True)

    def add(self, name: str, function: Callable[..., Any], *, by_position: bool = False) -> None:
        """Call this, too; one call shows that it can be."""
        args = [*self.args, *(self.keywords.values() if by_position else ())]
        keywords: Mapping[str, Any] = {} if by_position else self.keywords
        function(*args, **keywords)
        scope: dict[str, Any] = {"f": function, "clock": time.perf_counter_ns}
        scope |= {f"a{at}": value for at, value in enumerate(args)}
        scope |= {f"k_{key}": value for key, value in keywords.items()}
        words = [f"a{at}" for at in range(len(args))] + [f"{key}=k_{key}" for key in keywords]
        call = f"        f({', '.join(words)})\n" * UNROLLED
        exec(
            f"def run(count):\n    start = clock()\n    for _ in range(count):\n{call}"
            f"    return (clock() - start) / (count * {UNROLLED})\n",
            scope,
        )
        self.runs[name] = scope["run"]


def _released(function: Any, release_gil: bool) -> Any:
    function.release_gil = release_gil
    return function


PROTOTYPE: Final = """
unsigned long long f(const void *data, unsigned long long size, unsigned long long seed);
"""


def _hashes(folder: Path) -> dict[str, Case]:
    """A hash of bytes, whose result is a uint64, and one of a str."""
    library, of = hash_library(folder), "f(data: {}, seed: uint64) -> h: uint64"
    binary, text = (
        wrap(library, of.format(kind), prototype=PROTOTYPE, args=["data", "seed"])
        for kind in ("Bytes", "String")
    )
    values = [bytes([byte]) * 33 for byte in range(97, 123)]
    small = next(value for value in values if binary(value, 0) < 2**63)
    great = next(value for value in values if binary(value, 0) >= 2**63)
    found = {
        name: Case([value, 0], {}, binary)
        for name, value in zip(BYTES, (small, great), strict=True)
    }
    return {**found, "str of 33": Case([small.decode(), 0], {}, text)}


def cases(folder: Path) -> dict[str, Case]:
    """The function that is called."""
    ints, three, eight = compiled("f(a: int32, b: int32, c: int32)"), vectors(3), vectors(8)
    found = {
        "ints": Case([1, 2, 3], {}, ints),
        "keywords": Case([1], {"b": 2, "c": 3}, ints),
        "numpy3": Case([np.ones(5, "float32") for _ in range(3)], {}, three),
        "buffers3": Case([array.array("f", [1] * 5) for _ in range(3)], {}, three, ours=True),
        "int of NumPy": Case([np.int64(1), 2, 3], {}, ints),
        "shape": Case([(3, 4)], {}, compiled(GENERAL["shape"])),
        **_hashes(folder),
        "struct": Case([(1, 2.0)], {}, compiled(GENERAL["struct"])),
    }
    if (torch := _module("torch")) is not None:
        found["torch3"] = Case([torch.ones(5) for _ in range(3)], {}, three)
        found["torch8"] = Case([torch.ones(5) for _ in range(8)], {}, eight)
        with torch.no_grad():
            weights = [torch.nn.Parameter(torch.ones(5)) for _ in range(8)]
            found["parameters8"] = Case(weights, {}, eight)
        x = torch.ones(5)
        found["tuple of tensors"] = Case([(x, x)], {}, compiled(GENERAL["tuple of tensors"]))
        found["result"] = Case([x], {}, compiled(GENERAL["result"]))
    return found


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        return None


def _mode(name: str) -> AbstractContextManager[object]:
    if name != "parameters8":
        return nullcontext()
    no_grad: AbstractContextManager[object] = _module("torch").no_grad()
    return no_grad


def measured(case: Case, rounds: int, count: int) -> dict[str, list[float]]:
    """The ns of a call, for each that is called and each round."""
    times: dict[str, list[float]] = {name: [] for name in case.runs}
    for _ in range(rounds):
        for name in random.sample(list(case.runs), len(case.runs)):
            times[name].append(case.runs[name](count))
    return times


def making() -> float:
    """Return the least time in µs in which an entry of an existing function is made."""
    module = vectors(3)
    module["f"]
    times: list[float] = []
    for _ in range(200):
        start = time.perf_counter_ns()
        module["f"]
        times.append((time.perf_counter_ns() - start) / 1000)
    return min(times)


def main() -> None:
    """Measure, and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--without", nargs="*", default=[], choices=[*PEERS], metavar="PEER")
    given = parser.parse_args()
    if isinstance(found := functions.extension(), available.Reading):
        raise SystemExit(f"Calls are not read in C here: {found.reason}")
    with tempfile.TemporaryDirectory() as folder:
        every = cases(Path(folder))
        for name, build in PEERS.items():
            if name in given.without:
                continue
            try:
                calls = build(Path(folder))
                for case, function in calls.items():
                    if case in every:
                        with _mode(case):
                            every[case].add(name, function)
            except Exception as error:
                print(f"{name}: left out ({type(error).__name__}: {str(error)[:100]})", flush=True)
        rounds, count = (10, 200) if given.quick else (40, 500)
        for name, case in every.items():
            with _mode(name):
                _print(name, measured(case, rounds, count))
    print(f"\nMaking an entry: {making():.1f} µs")


def _print(name: str, times: Mapping[str, Sequence[float]]) -> None:
    base = times.get(BASE, times[next(iter(OURS))])
    goal = f" (to reach: {GOALS[name]})" if name in GOALS else ""
    print(f"\n### {name}{goal}\n\n| | least | median | ratio |\n| --- | ---: | ---: | ---: |")
    for who, own in sorted(times.items(), key=lambda item: min(item[1])):
        ratio = statistics.median(mine / other for mine, other in zip(own, base, strict=True))
        print(
            f"| {who} | {min(own):.1f} | {statistics.median(own):.1f} | {ratio:.3f} |", flush=True
        )


if __name__ == "__main__":
    main()
