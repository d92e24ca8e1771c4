"""Measure calls with a list of ints beside a function of tvm-ffi's C++ API.

    python benchmarks/lists.py [--quick]

Both functions return the sum of the ints: ours is a loop in C over the pointer and the length that
the wrapper passes for ``pages: List(int64)``, tvm-ffi's a loop over its ``Array<int64_t>``, made
with its default flags. They are called in turn, round after round, with a list of Python and with
an ``Array`` that is made before; the refused list ends in a str. Printed are medians in
nanoseconds, and their ratio to tvm-ffi's. Needs a C and a C++ compiler, and ninja.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import tvm_ffi
from tvm_ffi import cpp

from ffi_builder import wrap

LENGTHS: Final = (1, 8, 64, 10_000)
OURS: Final = """
#include <stdint.h>
int64_t total(const int64_t *pages, int64_t n) {
  int64_t sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += pages[i];
  return sum;
}
"""
THEIRS: Final = """
int64_t total(tvm::ffi::Array<int64_t> pages) {
  int64_t sum = 0;
  for (int64_t page : pages) sum += page;
  return sum;
}
"""


def functions(folder: Path) -> dict[str, Callable[[Any], int]]:
    source = folder / "total.c"
    source.write_text(OURS)
    built = folder / "total.o"
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, "-O2", "-fPIC", "-c", source, "-o", built], check=True)
    ours = wrap(
        built,
        "total(pages: List(int64, n)) -> sum: int64",
        prototype="int64_t total(const int64_t *pages, int64_t n)",
    )
    theirs: Any = cpp.load_inline(
        "lists", cpp_sources=THEIRS, functions="total", build_directory=str(folder)
    )
    return {"ours": ours["total"], "tvm-ffi": theirs.total}


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


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    rounds = 5 if parser.parse_args().quick else 21
    with tempfile.TemporaryDirectory() as folder:
        both = functions(Path(folder))
        print("| ints | given as | | ours, ns | tvm-ffi, ns | ratio |")
        print("| -: | -- | -- | -: | -: | -: |")
        for length in LENGTHS:
            ints = [*range(1000, 1000 + length)]
            assert all(each(ints) == sum(ints) for each in both.values())
            wrong = [*ints[:-1], "a str"]
            calls = max(10, 20_000 // length)
            for given, label, measure in (
                (ints, "list | accepted", seconds),
                (wrong, "list | refused", refused),
                (tvm_ffi.Array(ints), "Array | accepted", seconds),
                (tvm_ffi.Array(wrong), "Array | refused", refused),
            ):
                times: dict[str, list[float]] = {name: [] for name in both}
                for _ in range(rounds):
                    for name, function in both.items():
                        times[name].append(1e9 * measure(function, given, calls))
                own, other = (statistics.median(found) for found in times.values())
                print(f"| {length} | {label} | {own:.0f} | {other:.0f} | {own / other:.2f} |")


if __name__ == "__main__":
    main()
