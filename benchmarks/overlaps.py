"""Measure what ``no_overlap`` costs where it compares the elements of lists of tensors.

    python benchmarks/overlaps.py [--quick]

The functions take two lists of as many vectors, and one more vector. Each case compares more than
the case ``nothing`` and is called from C with the same arguments: the elements follow one another
in memory, or are in random order. Printed are nanoseconds a call (the median of the rounds, all in
turn in each) and the median of the differences to ``nothing``, an element of a list. Needs a C
compiler.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
from native import Arguments, Native

from ffi_builder import attach, runtime, spec
from ffi_builder.providers import NopCallProvider

ir: Any = import_module("torch_mlir.ir")
NOTHING: Final = "nothing"
PARAMS: Final = (
    "xs: TensorList(Tensor([n], float32)), ys: TensorList(Tensor([m], float32)), "
    "z: Tensor([k], float32)"
)
CASES: Final = {
    NOTHING: "",
    "z with xs and ys": "no_overlap(z)",
    "xs with each other, ys and z": "no_overlap(xs)",
}
LENGTHS: Final = (1, 10, 100, 1000)
SIZE: Final = 16


def compiled() -> runtime.CompiledModule:
    module = ir.Module.parse("", ir.Context())
    for number, where in enumerate(CASES.values()):
        text = f"f{number}({PARAMS})" + (f" where {where}" if where else "")
        attach(module, spec.Signature.parse(text, device="cpu"), NopCallProvider())
    return runtime.compile(module)


def arguments(length: int, *, shuffled: bool) -> Arguments:
    """Two lists and a vector in one memory."""
    rows = [*np.zeros((2 * length + 1, SIZE), "float32")]
    if shuffled:
        random.Random(1).shuffle(rows)
    return Arguments([tuple(rows[:length]), tuple(rows[length:-1]), rows[-1]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds")
    rounds = 9 if parser.parse_args().quick else 101
    functions = compiled()
    addresses = {name: functions.address(f"f{number}") for number, name in enumerate(CASES)}
    print("| elements of each list, in memory | compared | ns a call | more, an element |")
    print("| -- | -- | -: | -: |")
    with tempfile.TemporaryDirectory() as folder:
        native = Native(Path(folder))
        for length in LENGTHS:
            for order in ("one by one", "in random order"):
                given = arguments(length, shuffled=order != "one by one")
                calls = max(20, 20_000 // length)
                times: dict[str, list[float]] = defaultdict(list)
                for turn in range(rounds):
                    names = list(addresses)
                    for name in names[turn % len(names) :] + names[: turn % len(names)]:
                        seconds = native.seconds("time_calls", addresses[name], given, calls)
                        times[name].append(1e9 * seconds / calls)
                for name, found in times.items():
                    more = [a - b for a, b in zip(found, times[NOTHING], strict=True)]
                    figures = statistics.median(found), statistics.median(more) / (2 * length)
                    print(f"| {length}, {order} | {name} | {figures[0]:.0f} | {figures[1]:.1f} |")


if __name__ == "__main__":
    main()
