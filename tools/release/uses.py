"""Uses each extra in a clean environment, for what it is meant for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Use:
    """How an extra is used, once it is installed."""

    beside: tuple[str, ...] = ()
    """Extras that users install with it, as the documentation says."""
    commands: tuple[tuple[str, ...], ...] = ()
    """Programs of the environment, with their arguments."""
    pages: tuple[str, ...] = ()
    """Pages whose code is run, all of it."""
    left_out_on: tuple[str, ...] = ()
    """Pythons on which pyproject.toml leaves out a package: code that needs it is not run."""

    @property
    def programs(self) -> list[str]:
        """The commands in short: ``python -m ffi_builder``, ``ruff --version``."""
        return [" ".join(command[:3]) for command in self.commands]


_COMPILE: Final = """
from ffi_builder import runtime
text = "define i32 @__tvm_ffi_f(ptr %self, ptr %args, i32 %n, ptr %result) { ret i32 0 }"
assert runtime.compile(text)["f"]() is None
"""
_PACKAGE: Final = """
import tempfile
from ffi_builder import package, runtime
text = "define i32 @__tvm_ffi_f(ptr %self, ptr %args, i32 %n, ptr %result) { ret i32 0 }"
try:
    package(runtime.lower(text), tempfile.mkdtemp(), project={"name": "f", "version": "1"})
except Exception as error:
    assert "says nothing of its parameters" in str(error), error
"""
_EXPORT: Final = """
import tempfile
from pathlib import Path
from ffi_builder import runtime
text = "define i32 @__tvm_ffi_f(ptr %self, ptr %args, i32 %n, ptr %result) { ret i32 0 }"
path = Path(tempfile.mkdtemp(), "f.so")
runtime.lower(text).export_library(path)
assert runtime.load(path)["f"]() is None
"""
_ATTACH: Final = """
from torch_mlir import ir
from ffi_builder import attach, providers, spec
with ir.Context(), ir.Location.unknown():
    module = ir.Module.parse("")
attach(module, spec.Signature.parse("f(n: int32)"), providers.NopCallProvider())
assert "@__tvm_ffi_f" in str(module)
"""

_EXPLAIN: Final = ("ffi-builder", "explain", "--signature", "f(n: int32)")
_CUDA: Final = Use(beside=("jit", "mlir"), pages=("docs/cuda-tools.md",))

USES: Final = {
    "": Use(commands=(("python", "-m", "ffi_builder", "--help"), _EXPLAIN)),
    "export": Use(commands=(("python", "-W", "error", "-c", _EXPORT),)),
    "package": Use(commands=(("python", "-W", "error", "-c", _PACKAGE),)),
    "jit": Use(commands=(("python", "-W", "error", "-c", _COMPILE),)),
    "mlir": Use(commands=(("python", "-W", "error", "-c", _ATTACH),)),
    "cuda": _CUDA,
    "cuda12": _CUDA,
    "rocm": Use(beside=("jit", "mlir"), pages=("docs/rocm.md",)),
    "testing": Use(beside=("jit", "mlir"), pages=("docs/testing.md",)),
    "cuda-testing": Use(beside=("jit",), pages=("docs/fake-cuda.md",)),
    "demo": Use(commands=(("ffi-builder", "doctor"),), pages=("README.md",)),
    "test": Use(commands=(("pytest", "--version"),)),
    "docs": Use(commands=(("mkdocs", "--version"),)),
    # Types are checked as a user's editor does: with those that the wheel brings.
    "dev": Use(commands=(("ruff", "--version"), ("pyright", "examples"))),
    "release": Use(commands=(("twine", "--version"), ("check-wheel-contents", "--version"))),
    "mutants": Use(commands=(("mutmut", "--version"),)),
    "calls": Use(commands=(("python", "-c", "import nanobind, pybind11, Cython"),)),
    "torch": Use(
        beside=("demo",),
        pages=("docs/torch.md",),
        left_out_on=("python3.15",),
    ),
    "jax": Use(
        beside=("jit", "mlir"),
        pages=("docs/jax.md",),
        left_out_on=("python3.10", "python3.15"),
    ),
    "prototype": Use(beside=("jit", "mlir"), pages=("docs/wrap.md",)),
    "frameworks": Use(
        beside=("demo",),
        pages=("docs/frontends.md",),
        left_out_on=("python3.15",),
    ),
}
