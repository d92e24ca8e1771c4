"""Measure calls with lists beside functions of tvm-ffi's C++ API.

    python benchmarks/lists.py [--quick] [--lengths 10 1000 100000]

Both functions add up what is in a list of ints, strs (of 33 bytes), lists (of 8 ints) or arrays of
NumPy (of 8 floats): ours is a loop in C over what the wrapper passes, such as a pointer and a
length for ``x: List(int64)``, tvm-ffi's a loop over its ``Array<int64_t>``, made with its default
flags. Only ours checks dtypes, shapes and strides. They are called in turn,
round after round, with a list of Python and with an ``Array`` that is made before; the refused list
ends in an element of another type. Printed are medians in nanoseconds, and their ratio to
tvm-ffi's. Needs a C and a C++ compiler, and ninja.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
import tvm_ffi
from tvm_ffi import cpp

from ffi_builder import wrap

LENGTHS: Final = (1, 8, 64, 10_000)
OURS: Final = """
#include <stddef.h>
#include <stdint.h>
struct text { const char *data; size_t size; };
int64_t ints(const int64_t *pages, int64_t n) {
  int64_t sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += pages[i];
  return sum;
}
int64_t strs(const struct text *names, int64_t n) {
  int64_t sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += (int64_t)names[i].size;
  return sum;
}
int64_t lists(const int64_t *const *rows, const int64_t *lengths, int64_t n) {
  int64_t sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += lengths[i];
  return sum;
}
int64_t arrays(float *const *rows, const int64_t *shapes, int64_t n) {
  int64_t sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += shapes[i];
  return sum;
}
"""
SIGNATURES: Final = {
    "ints": ("ints(x: List(int64)) -> sum: int64", "const int64_t *pages, int64_t n"),
    "strs": ("strs(x: List(String)) -> sum: int64", "const struct text *names, int64_t n"),
    "lists": (
        "lists(x: List(List(int64))) -> sum: int64",
        "const int64_t *const *rows, const int64_t *lengths, int64_t n",
    ),
    "arrays": (
        "arrays(x: TensorList(Tensor([m], float32), length=n, each=[m])) -> sum: int64",
        "float *const *rows, const int64_t *shapes, int64_t n",
    ),
}
THEIRS: Final = """
using namespace tvm::ffi;
int64_t ints(Array<int64_t> pages) {
  int64_t sum = 0;
  for (int64_t page : pages) sum += page;
  return sum;
}
int64_t strs(Array<String> names) {
  int64_t sum = 0;
  for (const String &name : names) sum += name.size();
  return sum;
}
int64_t lists(Array<Array<int64_t>> rows) {
  int64_t sum = 0;
  for (const Array<int64_t> &row : rows) sum += row.size();
  return sum;
}
int64_t arrays(Array<Tensor> rows) {
  int64_t sum = 0;
  for (const Tensor &row : rows) sum += row.size(0);
  return sum;
}
"""
MAKERS: Final[dict[str, Callable[[int], list[Any]]]] = {
    "ints": lambda n: [*range(1000, 1000 + n)],
    "strs": lambda n: [f"a text of thirty-three byte{at:7}" for at in range(n)],
    "lists": lambda n: [[*range(at, at + 8)] for at in range(n)],
    "arrays": lambda n: [np.zeros(8, "float32") for _ in range(n)],
}


def functions(folder: Path) -> dict[str, dict[str, Callable[[Any], int]]]:
    """Return both functions for lists of each kind."""
    source = folder / "lists.c"
    source.write_text(OURS)
    built = folder / "lists.o"
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, "-O2", "-fPIC", "-c", source, "-o", built], check=True)
    theirs: Any = cpp.load_inline(
        "lists", cpp_sources=THEIRS, functions=[*SIGNATURES], build_directory=str(folder)
    )
    found: dict[str, dict[str, Callable[[Any], int]]] = {}
    for kind, (signature, params) in SIGNATURES.items():
        prototype = f"struct text {{ const char *data; size_t size; }}; int64_t {kind}({params})"
        args = ["x.pointers", "x.shapes", "n"] if kind == "arrays" else ["x"]
        ours = wrap(built, signature, prototype=prototype, args=args, device="cpu")
        found[kind] = {"ours": ours[kind], "tvm-ffi": getattr(theirs, kind)}
    return found


def seconds(function: Callable[[Any], int], given: object, calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        function(given)
    return (time.perf_counter() - start) / calls


def refused(function: Callable[[Any], int], given: object, calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        with suppress(TypeError):
            function(given)
    return (time.perf_counter() - start) / calls


def cases(
    both: dict[str, dict[str, Callable[[Any], int]]], lengths: Sequence[int]
) -> Iterator[tuple[str, dict[str, Callable[[Any], int]], Any, int, bool]]:
    """Yield the first cells of a row, the functions, what they get, its length; if it is right."""
    for kind, length in itertools.product(both, lengths):
        right = MAKERS[kind](length)
        wrong = [*right[:-1], 0.5]
        ours, theirs = (function(right) for function in both[kind].values())
        assert ours == theirs, (kind, ours, theirs)
        for cls, name in ((list, "list"), (tvm_ffi.Array, "Array")):
            yield f"{kind} | {length} | {name} | accepted", both[kind], cls(right), length, True
            yield f"{kind} | {length} | {name} | refused", both[kind], cls(wrong), length, False


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    options = parser.parse_args()
    rounds = 5 if options.quick else 21
    with tempfile.TemporaryDirectory() as folder:
        print("| of | length | given as | | ours, ns | tvm-ffi, ns | ratio |")
        print("| -- | -: | -- | -- | -: | -: | -: |")
        for label, both, given, length, right in cases(functions(Path(folder)), options.lengths):
            measure = seconds if right else refused
            calls = max(2, 20_000 // length)
            times: dict[str, list[float]] = {name: [] for name in both}
            for _ in range(rounds):
                for name, function in both.items():
                    times[name].append(1e9 * measure(function, given, calls))
            own, other = (statistics.median(found) for found in times.values())
            print(f"| {label} | {own:.0f} | {other:.0f} | {own / other:.2f} |")


if __name__ == "__main__":
    main()
