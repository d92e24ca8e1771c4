"""Measure calls of functions of C libraries beside cffi (in API mode) and nanobind.

    python -m benchmarks.libraries [--quick]

The first table has the lines of code of each (benchmarks/calling/libraries.py), and what a call
from Python costs, with arrays of 8 numbers and without garbage collection: medians of the rounds,
of which each calls all in turn, in ns of CPU time, and those of the ratios of ours to theirs. cffi
and ours release the GIL, nanobind does not. The second table makes mistakes, each in a process of
its own. It needs the headers of FFTW, GSL, OpenSSL, zlib and zstd, a C++ compiler and
`ffi_builder[calls,prototype]`.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from benchmarks.calling.libraries import FUNCTIONS, INCLUDES, LIBRARIES
from benchmarks.calling.peers import built, imported
from ffi_builder import runtime, wrap

PEERS: Final = ("ffi_builder", "cffi", "nanobind")
Scope: TypeAlias = dict[str, Any]
"""What the code of a function defines: `call`, and `plan` of FFTW's."""


def ours() -> dict[str, Scope]:
    """Return the functions of ffi_builder."""
    runtime.install_allocator(every_thread=True)
    scopes = {name: {"wrap": wrap} for name in FUNCTIONS}
    for name, texts in FUNCTIONS.items():
        exec(texts.ours, scopes[name])
    return dict(scopes)


def by_cffi(folder: Path) -> dict[str, Scope]:
    """Return those of cffi, compiled as its API mode is."""
    maker: Any = import_module("cffi").FFI()
    maker.cdef("\n".join(texts.cdef for texts in FUNCTIONS.values()))
    maker.set_source("by_cffi", INCLUDES)
    source = folder / "by_cffi.c"
    with redirect_stdout(sys.stderr):  # it says so
        maker.emit_c_code(str(source))
    module = imported("by_cffi", built("by_cffi", [source], folder, *LIBRARIES))
    scopes = {name: {"ffi": module.ffi, "lib": module.lib} for name in FUNCTIONS}
    for name, texts in FUNCTIONS.items():
        exec(texts.cffi, scopes[name])
    return dict(scopes)


def by_nanobind(folder: Path) -> dict[str, Scope]:
    """Return those of nanobind."""
    nanobind: Any = import_module("nanobind")
    root = Path(nanobind.source_dir()).parent
    source = folder / "by_nanobind.cpp"
    bodies = "\n".join(texts.nanobind for texts in FUNCTIONS.values())
    parts = "nanobind", "ndarray", "stl/complex", "stl/tuple"
    heads = "".join(f"#include <nanobind/{part}.h>\n" for part in parts)
    heads += f"#include <vector>\n{INCLUDES}namespace nb = nanobind;\n"
    source.write_text(f"{heads}NB_MODULE(of_libraries, m) {{{bodies}}}")
    includes = f"-I{nanobind.include_dir()}", f"-I{root}/ext/robin_map/include"
    options = "-std=c++17", "-DNDEBUG", "-fvisibility=hidden", *includes, *LIBRARIES
    sources = [root / "src" / "nb_combined.cpp", source]
    made = imported("of_libraries", built("of_libraries", sources, folder, *options))
    scopes: dict[str, Scope] = {name: {"call": getattr(made, name, None)} for name in FUNCTIONS}
    scopes["fftw_execute_dft_r2c"]["plan"] = made.Plan
    return scopes


X: Final = np.arange(8.0)


def arguments(name: str, scope: Scope) -> list[Any]:
    """Return what a function is called with."""
    match name:
        case "hypot":
            return [3.0, 4.0]
        case "crc32":
            return [0, b"sixteen letters."]
        case "ZSTD_getErrorName":
            return [2**64 - 20]
        case "cblas_ddot" | "gsl_fit_linear":
            return [X, X * 2]
        case "fftw_execute_dft_r2c":
            return [scope["plan"](8), 8, X, np.empty(5, "complex128")]
        case _:
            return []


MISTAKES: Final = (
    ("a str for a number", "hypot", "['3', 4.0]"),
    ("a negative number for an unsigned one", "crc32", "[-1, a[1]]"),
    ("a str for bytes", "crc32", "[0, 'sixteen letters.']"),
    ("float32 for float64", "cblas_ddot", "[a[0].astype('float32'), a[1]]"),
    ("sizes that differ", "cblas_ddot", "[a[0], a[1][:7]]"),
    ("fewer points than it needs", "gsl_fit_linear", "[a[0][:2], a[1][:2]]"),
    ("strides below 0, which it does not take", "gsl_fit_linear", "[a[0], a[1][::-1]]"),
    ("gaps between the elements", "fftw_execute_dft_r2c", "[*a[:2], np.ones(16)[::2], a[3]]"),
    ("an output that is too small", "fftw_execute_dft_r2c", "[*a[:3], a[3][:4].copy()]"),
    ("an output that overlaps", "fftw_execute_dft_r2c", "[*a[:2], a[3].view('float64')[:8], a[3]]"),
    ("a read-only output", "fftw_execute_dft_r2c", "[*a[:3], read_only(a[3])]"),
    ("NULL for a handle", "fftw_execute_dft_r2c", "[null, *a[1:]]"),
    ("an object for a handle", "fftw_execute_dft_r2c", "[object(), *a[1:]]"),
    ("a handle that is closed", "fftw_execute_dft_r2c", "[closed(a[0]), *a[1:]]"),
)
"""The function, and its wrong arguments, made of the right ones, `a`."""


def read_only(array: Any) -> Any:
    """Return an array that nobody may write to."""
    array.flags.writeable = False
    return array


def mistaken(name: str, wrong: str, scope: Scope) -> str:
    """Return what becomes of a call with wrong arguments, in a process of its own."""
    ffi = scope.get("ffi")
    names: dict[str, Any] = {"np": np, "a": arguments(name, scope), "read_only": read_only}
    names["null"] = None if ffi is None else ffi.NULL

    def closed(plan: Any) -> Any:
        plan.close() if ffi is None else ffi.release(plan)
        return plan

    names["closed"] = closed
    if "closed" in wrong and ffi is None and not hasattr(names["a"][0], "close"):
        return "cannot be closed"
    out, into = os.pipe()
    if (child := os.fork()) == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            scope["call"](*eval(wrong, names))
            os.write(into, b"**accepted**")
        except Exception as error:
            os.write(into, type(error).__name__.encode())
        os._exit(0)
    os.close(into)
    _, status = os.waitpid(child, 0)
    with os.fdopen(out) as file:
        said = file.read()
    return said if os.WIFEXITED(status) and said else f"**signal {os.WTERMSIG(status)}**"


def nanoseconds(function: Callable[..., Any], given: Sequence[Any], calls: int) -> float:
    """Return the CPU time of a call."""
    gc.collect()
    gc.disable()
    start = time.thread_time_ns()
    for _ in range(calls):
        function(*given)
    found = (time.thread_time_ns() - start) / calls
    gc.enable()
    return found


def measure(name: str, scopes: Mapping[str, Scope], rounds: int, calls: int) -> str:
    """Return the row of a function."""
    run = {who: (scope["call"], arguments(name, scope)) for who, scope in scopes.items()}
    times: dict[str, list[float]] = {who: [] for who in run}
    for _ in range(rounds):
        for who, (function, given) in run.items():
            times[who].append(nanoseconds(function, given, calls))
    own = times[PEERS[0]]
    ratios = (
        statistics.median(mine / other for other, mine in zip(times[who], own, strict=True))
        for who in PEERS[1:]
    )
    lines = " | ".join(map(str, FUNCTIONS[name].lines()))
    medians = " | ".join(f"{statistics.median(times[who]):.0f}" for who in PEERS)
    return f"| {name} | {lines} | {medians} | {' | '.join(f'{ratio:.2f}' for ratio in ratios)} |"


def main() -> None:
    """Measure, make mistakes, and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    rounds, calls = (5, 500) if parser.parse_args().quick else (41, 1000)
    with tempfile.TemporaryDirectory() as folder:
        made = {
            "ffi_builder": ours(),
            "cffi": by_cffi(Path(folder)),
            "nanobind": by_nanobind(Path(folder)),
        }
        peers = " | ".join(PEERS)
        print(f"| function | lines: {peers} | ns: {peers} | ours: {PEERS[1]} | ours: {PEERS[2]} |")
        print(f"| -- |{' -: |' * 8}")
        for name in FUNCTIONS:
            scopes = {who: scope[name] for who, scope in made.items()}
            print(measure(name, scopes, rounds, calls), flush=True)
        print(f"\n| mistake | function | {peers} |\n| -- | -- | -- | -- | -- |")
        for title, name, wrong in MISTAKES:
            found = " | ".join(mistaken(name, wrong, made[who][name]) for who in PEERS)
            print(f"| {title} | {name} | {found} |", flush=True)


if __name__ == "__main__":
    main()
