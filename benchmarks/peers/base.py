"""The interface of every peer. These modules run in environments without ffi_builder, too."""

from __future__ import annotations

import gc
import time
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import tvm_ffi
from arguments import arguments, wrong
from native import Arguments, Native

CASES = ("scalar", "mm", "t8_strided", "nested", "ptrs")

WARMING = 5
"""Calls before the timed ones, one for five: the caches are full of others' data."""


class Unsupported(Exception):
    """This peer cannot do it; the message says why."""


@dataclass
class Callee:
    """A function for C and for Python callers. `owner` keeps the code alive."""

    address: int
    function: Any
    owner: object = None


class Clock:
    """Measures steps in sequence, in milliseconds."""

    def __init__(self) -> None:
        gc.collect()  # so that it does not run during a measurement, for earlier objects
        self.times: dict[str, float] = {}
        self._last = time.perf_counter()

    def step(self, name: str) -> None:
        """Record the time since the last step as `name`."""
        now = time.perf_counter()
        self.times[name] = 1e3 * (now - self._last)
        self._last = time.perf_counter()

    def skip(self) -> None:
        """Drop the time since the last step."""
        self._last = time.perf_counter()


def from_address(address: int, owner: object) -> Any:
    """Return a Python function for a C function."""
    make: Callable[..., Any] = tvm_ffi.core.Function.__from_extern_c__  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
    return make(address, keep_alive_object=owner)


def peak_mb() -> float:
    """Return the peak memory of this process in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


class Peer:
    """A builder of functions. Each public method is a request of the protocol in worker.py."""

    packages: tuple[str, ...] = ()
    import_ms = 0.0
    """The milliseconds that importing its module took, with what it is made of."""

    def __init__(self, native: Native) -> None:
        self.native = native
        self._callees: dict[tuple[str, str], Callee] = {}
        self._arguments: dict[str, Arguments] = {}
        self._timers: dict[tuple[str, str, str], timeit.Timer] = {}

    def make(self, case: str, how: str) -> Callee:
        """Make the function that is called."""
        raise NotImplementedError

    def versions(self) -> str:
        """Return the versions of this peer's packages."""
        return ", ".join(f"{name} {metadata.version(name)}" for name in self.packages)

    def importing(self) -> float:
        """Return the milliseconds that importing this peer took, after NumPy and tvm_ffi."""
        return self.import_ms

    def peak(self) -> float:
        """Return the peak memory so far, in MB."""
        return peak_mb()

    def ready(self, case: str, how: str) -> None:
        """Make the function that is called, so that no measurement includes that."""
        self._callee(case, how)

    def call_c(self, case: str, how: str, calls: int) -> float:
        """Return the nanoseconds per call from a loop in C."""
        callee = self._callee(case, how)
        if case not in self._arguments:
            self._arguments[case] = Arguments(arguments(case, "tvm_ffi"))
        given = callee.address, self._arguments[case]
        self.native.seconds("time_calls", *given, calls // WARMING)
        return 1e9 * self.native.seconds("time_calls", *given, calls) / calls

    def call_python(self, case: str, how: str, tensors: str, calls: int) -> float:
        """Return the nanoseconds per call from Python, including the loop."""
        key = (case, how, tensors)
        if key not in self._timers:
            given = arguments(case, tensors)
            names = {f"x{index}": value for index, value in enumerate(given)}
            function = self._callee(case, how).function
            self._timers[key] = timeit.Timer(
                f"f({', '.join(names)})", globals={"f": function, **names}
            )
        self._timers[key].timeit(calls // WARMING)
        return 1e9 * self._timers[key].timeit(calls) / calls

    def fail(self, calls: int) -> float:
        """Return the microseconds of a matmul call that raises, including catching the error."""
        function, given = self._callee("mm", "nop").function, wrong("tvm_ffi")
        start = time.perf_counter()
        for _ in range(calls):
            try:
                function(*given)
            except Exception:
                continue
            raise AssertionError("the call should have failed")
        return 1e6 * (time.perf_counter() - start) / calls

    def _callee(self, case: str, how: str) -> Callee:
        if (case, how) not in self._callees:
            self._callees[case, how] = self.make(case, how)
        return self._callees[case, how]


def operations(operation: Any) -> int:
    """Return the number of MLIR operations inside."""
    blocks = [block for region in operation.regions for block in region.blocks]
    inner = [op.operation for block in blocks for op in block.operations]
    return len(inner) + sum(map(operations, inner))


_PTR, _SIZE = "!llvm.ptr", "i64"
_STRUCTS = {
    "scalar": "i32",
    "mm": ", ".join(["!llvm.struct<(ptr, i64, i64)>"] * 3),
    "t8_strided": ", ".join([f"!llvm.struct<(ptr, {', '.join(['i64'] * 8)})>"] * 8),
    "nested": "!llvm.struct<(ptr, i64)>, i32, !llvm.struct<(ptr, i64)>",
    "ptrs": "!llvm.struct<(i64, i64)>, !llvm.ptr, !llvm.ptr",
}
_DIRECT = {
    "scalar": ["i32"],
    "mm": [_PTR] * 3 + [_SIZE] * 3,
    "t8_strided": [_PTR] * 8 + [_SIZE] * 36,
    "nested": [_PTR, "i32", _PTR, _SIZE],
    "ptrs": [_SIZE] * 2 + [_PTR] * 2,
}


def declaration(case: str, how: str) -> str:
    """Return a module that declares the kernel, which also loads the LLVM dialect."""
    match how:
        case "structs":
            return f"llvm.func @kernel_{case}_structs({_STRUCTS[case]})"
        case "direct":
            return f"llvm.func @kernel_{case}_direct({', '.join(_DIRECT[case])})"
        case _:
            return "llvm.func @kernel_pointers(!llvm.ptr)"
