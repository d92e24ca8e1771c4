"""LLVM IR to objects and text: in this process where that is safe, else in a child.

The functions are those of `llvm`, which says what they do and raise.
"""

from __future__ import annotations

from ffi_builder.runtime import guard, llvm, screen_llvm
from ffi_builder.runtime.llvm import Cpu


def emit_object(text: str, cpu: Cpu, level: int, *, passes: bool = True, jit: bool = True) -> bytes:
    """Object file for LLVM IR `text`. Raises CompileError."""
    hazard = _hazard(text)
    if hazard is None:
        return llvm.emit_object(text, cpu, level, passes, jit)
    return guard.emit_object(text, cpu, level, passes, jit, hazard=hazard)


def emit_assembly(text: str, cpu: Cpu, level: int) -> str:
    """Assembly for LLVM IR `text`. Raises CompileError."""
    hazard = _hazard(text)
    if hazard is None:
        return llvm.emit_assembly(text, cpu, level)
    return guard.emit_assembly(text, cpu, level, hazard=hazard)


def _hazard(text: str) -> str | None:
    return screen_llvm.codegen_hazard(text, llvm.host_cpu(), llvm.host_features())
