"""Measure what ``no_overlap`` costs where it compares the elements of lists of tensors.

    python benchmarks/overlaps.py [--quick]

The functions take two lists of as many vectors, and one more vector. Each case compares more than
the case ``nothing`` and is called from C with the same arguments: the elements follow one another
in memory, or are in random order. Printed are nanoseconds a call (the median of the rounds, all in
turn in each) and the median of the differences to ``nothing``, an element of a list.

Then a list is accepted, and refused as its last vector is the first one once more, by a wrapper
that is called from C and by ``testing.check``. Beside it is an int32 that is refused as it is a
tensor: what any error costs. Printed are medians, and their ratio. Needs a C compiler.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
from native import Arguments, Native, as_object

from ffi_builder import attach, runtime, spec, testing
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
REFUSED: Final = (10, 1_000, 100_000)
EACH: Final = spec.Signature.parse(
    "each(xs: TensorList(Tensor([n], float32))) where no_overlap(xs)", device="cpu"
)
SCALAR: Final = spec.Signature.parse("scalar(n: int32)")
ORDERS: Final = ("one by one", "in random order")
SIZE: Final = 16


def compiled() -> runtime.CompiledModule:
    signatures = [EACH, SCALAR]
    for number, where in enumerate(CASES.values()):
        text = f"f{number}({PARAMS})" + (f" where {where}" if where else "")
        signatures.append(spec.Signature.parse(text, device="cpu"))
    module = ir.Module.parse("", ir.Context())
    for signature in signatures:
        attach(module, signature, NopCallProvider())
    return runtime.compile(module)


def vectors(count: int, order: str) -> list[Any]:
    """Vectors in one memory."""
    rows = [*np.zeros((count, SIZE), "float32")]
    if order != ORDERS[0]:
        random.Random(1).shuffle(rows)
    return rows


def arguments(length: int, order: str) -> Arguments:
    """Two lists and a vector."""
    rows = vectors(2 * length + 1, order)
    return Arguments([tuple(rows[:length]), tuple(rows[length:-1]), rows[-1]])


def compare(functions: runtime.CompiledModule, native: Native, rounds: int) -> None:
    """Print what comparing takes."""
    addresses = {name: functions.address(f"f{number}") for number, name in enumerate(CASES)}
    print("| elements of each list, in memory | compared | ns a call | more, an element |")
    print("| -- | -- | -: | -: |")
    for length in LENGTHS:
        for order in ORDERS:
            given = arguments(length, order)
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


def refuse(functions: runtime.CompiledModule, native: Native, rounds: int) -> None:
    """Print what refusing takes beside accepting."""
    print("\n| argument, in memory | by | accepted, ns | refused, ns | ratio |")
    print("| -- | -- | -: | -: | -: |")

    def show(signature: spec.Signature, label: str, right: object, wrong: object) -> None:
        address = functions.address(signature.name)
        both = Arguments([right]), Arguments([wrong])

        def call(loop: str, given: Arguments) -> Callable[[int], float]:
            return lambda calls: native.seconds(loop, address, given, calls)

        def check(value: object) -> Callable[[int], float]:
            return lambda calls: seconds_to_check(signature, as_object(value), calls)

        ways = {
            "wrapper": (call("time_calls", both[0]), call("time_errors", both[1])),
            "check": (check(right), check(wrong)),
        }
        for way, (accept, refuse) in ways.items():
            calls = max(1, int(0.002 / accept(1)))
            times = [(accept(calls), refuse(calls)) for _ in range(rounds)]
            medians = [1e9 * statistics.median(some) / calls for some in zip(*times, strict=True)]
            ratio = statistics.median(refused / accepted for accepted, refused in times)
            print(f"| {label} | {way} | {medians[0]:.0f} | {medians[1]:.0f} | {ratio:.1f} |")

    show(SCALAR, "an int32", 1, np.zeros(1, "float32"))
    for length in REFUSED:
        for order in ORDERS:
            rows = vectors(length, order)
            show(EACH, f"{length:,} vectors, {order}", tuple(rows), (*rows[:-1], rows[0]))


def seconds_to_check(signature: spec.Signature, argument: object, calls: int) -> float:
    """Return how long calls of ``testing.check`` take, with or without an error."""
    start = time.perf_counter()
    for _ in range(calls):
        with suppress(TypeError, ValueError):
            testing.check(signature, argument)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds")
    rounds = 9 if parser.parse_args().quick else 101
    functions = compiled()
    with tempfile.TemporaryDirectory() as folder:
        native = Native(Path(folder))
        compare(functions, native, rounds)
        refuse(functions, native, rounds)


if __name__ == "__main__":
    main()
