"""What compilers and lowering passes make is compiled in this process."""

from __future__ import annotations

import platform

import pytest

from ffi_builder.runtime.codegen import allowlist_llvm, floats, mlir
from ffi_builder.runtime.isolate import worker
from tests.ordinary.corpus import is_llvm_ir, modules
from tests.ordinary.kernels import LOWERING, TRITON, XDSL

MODULES = modules()
FEATURES = (
    "+avx,+avx2,+bmi,+bmi2,+cmov,+crc32,+cx16,+cx8,+f16c,+fma,+fxsr,+lzcnt,+mmx,+movbe,+popcnt,"
    "+sahf,+sse,+sse2,+sse3,+sse4.1,+sse4.2,+ssse3,+xsave,-avx512f"
)
"""Of an x86-64-v3. The modules in LLVM IR were made for x86-64."""


def test_there_are_enough() -> None:
    makers = {name.partition(" ")[0] for name in MODULES}
    assert makers == {"C", "numba", "torch-mlir", "Triton", "xDSL"}
    assert len(MODULES) >= 80


@pytest.fixture(autouse=True)
def without_children(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise AssertionError(arguments)

    monkeypatch.setattr(worker, "_request", refuse)


@pytest.mark.parametrize("name", MODULES)
def test_an_ordinary_module_needs_no_child(name: str) -> None:
    if is_llvm_ir(name) and platform.machine() != "x86_64":
        pytest.skip("is LLVM IR for x86-64")
    text = MODULES[name]
    text = floats.readable(text) if is_llvm_ir(name) else mlir.to_llvm_ir(mlir.parse(text)).text
    assert allowlist_llvm.codegen_hazard(text, "x86-64-v3", FEATURES) is None


@pytest.mark.parametrize("text", [*TRITON.values(), *XDSL.values()], ids=[*TRITON, *XDSL])
def test_what_passes_make_needs_no_child(text: str) -> None:
    """Those of the torch-mlir that is installed."""
    ir = mlir.to_llvm_ir(mlir.lowered(mlir.parse(text), LOWERING, ())).text
    assert allowlist_llvm.codegen_hazard(ir, "x86-64-v3", FEATURES) is None
