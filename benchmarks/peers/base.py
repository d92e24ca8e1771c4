"""What every peer answers. These modules run in environments that may have no ffi_builder."""

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
"""One fifth more calls go before those that are timed: the caches are full of others' data."""


class Unsupported(Exception):
    """What this peer cannot do; the words say why."""


@dataclass
class Callee:
    """A function, as C and as Python call it. `owner` keeps the code alive."""

    address: int
    function: Any
    owner: object = None


class Clock:
    """Measures one step after the other, in milliseconds."""

    def __init__(self) -> None:
        gc.collect()  # so that it is not at work in between, on what was made before
        self.times: dict[str, float] = {}
        self._last = time.perf_counter()

    def step(self, name: str) -> None:
        """What has been done since the last step was `name`."""
        now = time.perf_counter()
        self.times[name] = 1e3 * (now - self._last)
        self._last = time.perf_counter()

    def skip(self) -> None:
        """What has been done since the last step is not measured."""
        self._last = time.perf_counter()


def from_address(address: int, owner: object) -> Any:
    """The Python function of a C function."""
    make: Callable[..., Any] = tvm_ffi.core.Function.__from_extern_c__  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
    return make(address, keep_alive_object=owner)


def peak_mb() -> float:
    """The most memory that this process has had, in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


class Peer:
    """One way to get functions. Each public method is a request of the protocol in worker.py."""

    packages: tuple[str, ...] = ()

    def __init__(self, native: Native) -> None:
        self.native = native
        self._callees: dict[tuple[str, str], Callee] = {}
        self._arguments: dict[str, Arguments] = {}
        self._timers: dict[tuple[str, str, str], timeit.Timer] = {}

    def make(self, case: str, how: str) -> Callee:
        """The function that is called."""
        raise NotImplementedError

    def versions(self) -> str:
        """The packages that this peer is."""
        return ", ".join(f"{name} {metadata.version(name)}" for name in self.packages)

    def peak(self) -> float:
        """The most memory so far, in MB."""
        return peak_mb()

    def ready(self, case: str, how: str) -> None:
        """Have the function that is called, so that making it is no part of a measurement."""
        self._callee(case, how)

    def call_c(self, case: str, how: str, calls: int) -> float:
        """Nanoseconds a call from a loop in C."""
        callee = self._callee(case, how)
        if case not in self._arguments:
            self._arguments[case] = Arguments(arguments(case, "tvm_ffi"))
        given = callee.address, self._arguments[case]
        self.native.seconds("time_calls", *given, calls // WARMING)
        return 1e9 * self.native.seconds("time_calls", *given, calls) / calls

    def call_python(self, case: str, how: str, tensors: str, calls: int) -> float:
        """Nanoseconds a call from Python, the loop's own included."""
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
        """Microseconds for a call of the matmul that raises, with catching it."""
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
    """How many MLIR operations are inside."""
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
    """A module that declares the kernel; so the LLVM dialect is loaded, as it is at that point."""
    match how:
        case "structs":
            return f"llvm.func @kernel_{case}_structs({_STRUCTS[case]})"
        case "direct":
            return f"llvm.func @kernel_{case}_direct({', '.join(_DIRECT[case])})"
        case _:
            return "llvm.func @kernel_pointers(!llvm.ptr)"
