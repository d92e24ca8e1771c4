"""ffi_builder, used as its documentation shows."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections import OrderedDict
from collections.abc import Generator
from importlib import import_module
from typing import Any

from peers import base
from signatures import MAKERS, MATMUL

from ffi_builder import __version__, attach_ffi_func, runtime
from ffi_builder.builder import reuse
from ffi_builder.runtime.sources import wrappers

ir: Any = import_module("torch_mlir.ir")
import_module("torch_mlir.dialects.llvm")  # MLIR imports it with the first operation of it
os.environ.pop("FFI_BUILDER_CACHE_DIR", None)


def own(compiled: runtime.CompiledModule) -> int:
    """Return the bytes compiled for a module, without the code that a process shares."""
    return sum(map(len, compiled._objects))  # pyright: ignore[reportPrivateUsage]


@contextlib.contextmanager
def forgotten() -> Generator[None]:
    """Hide the caches of this process, as if it had made no wrapper yet."""
    places: list[OrderedDict[Any, Any]] = [reuse._KEPT, wrappers._kept]  # pyright: ignore[reportPrivateUsage]
    kept = [place.copy() for place in places]
    for place in places:
        place.clear()
    try:
        yield
    finally:
        for place, before in zip(places, kept, strict=True):
            place.clear()
            place.update(before)


class Peer(base.Peer):
    """Builds wrappers, compiled by `ffi_builder.runtime`."""

    packages = ("apache-tvm-ffi", "llvmlite", "apache-tvm-ffi-orcjit", "torch-mlir")

    def __init__(self, native: Any) -> None:
        super().__init__(native)
        self._numbers = itertools.count(1000)

    def versions(self) -> str:
        """Return the versions, with ffi_builder's even if it is not installed."""
        return f"ffi_builder {__version__}, {super().versions()}"

    def build(self, case: str, how: str, again: bool) -> dict[str, float]:
        """Return the milliseconds to a callable, for a new signature or a known one (`again`).

        The name is always new.
        """
        with contextlib.nullcontext() if again else forgotten():
            return self._build(case, how, f"{case}_{next(self._numbers)}")

    def _build(self, case: str, how: str, name: str) -> dict[str, float]:
        module = ir.Module.parse(base.declaration(case, how), ir.Context())
        before = base.operations(module.operation)
        clock = base.Clock()
        made = MAKERS[case]()
        clock.step("describe")
        attach_ffi_func(module, name, made.params, made.calling(how))
        clock.step("attach")
        ops = base.operations(module.operation) - before
        clock.skip()
        compiled = runtime.compile(module)
        function = compiled[name]
        clock.step("compile")
        del function
        entry = ir.SymbolTable(module.operation)[f"__tvm_ffi_{name}"]
        sizes = {"ops": ops, "entry_ops": base.operations(entry.operation)}
        return {**clock.times, **sizes, "bytes": len(compiled.object), "jit_bytes": own(compiled)}

    def build_many(self, count: int) -> dict[str, float]:
        """Do the same for many matmul wrappers in one module, each with its own name."""
        with forgotten():
            return self._build_many(count)

    def _build_many(self, count: int) -> dict[str, float]:
        module = ir.Module.parse(base.declaration("mm", "pointers"), ir.Context())
        names = [f"mm_{next(self._numbers)}" for _ in range(count)]
        clock = base.Clock()
        for name in names:
            attach_ffi_func(module, name, MATMUL.params, MATMUL.calling("pointers"))
        clock.step("attach")
        compiled = runtime.compile(module)
        _ = [compiled[name] for name in names]
        clock.step("compile")
        return {**clock.times, "bytes": len(compiled.object), "jit_bytes": own(compiled)}

    def make(self, case: str, how: str) -> base.Callee:
        """Make a function as `build` does."""
        made = MAKERS[case]()
        module = ir.Module.parse(base.declaration(case, how), ir.Context())
        attach_ffi_func(module, case, made.params, made.calling(how))
        compiled = runtime.compile(module)
        return base.Callee(compiled.address(case), compiled[case], compiled)
