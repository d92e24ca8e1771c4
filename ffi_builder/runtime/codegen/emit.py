"""LLVM IR to objects and text: in this process where that is safe, else in a child.

The functions are those of `llvm`, which says what they do and raise.
"""

from __future__ import annotations

from collections.abc import Sequence

from ffi_builder.runtime.codegen import llvm
from ffi_builder.runtime.safety import allowlist_llvm, worker


def emit_object(
    text: str,
    cpu: str,
    level: int,
    *,
    passes: bool = True,
    jit: bool = True,
    triple: str | None = None,
) -> bytes:
    """Object file for LLVM IR `text`. Raises CompileError."""
    hazard = _hazard(text, cpu, triple)
    if hazard is None:
        try:
            return llvm.emit_object(text, cpu, level, passes, jit)
        except llvm.TooManyPipelinesError:
            hazard = "the module"
    return worker.emit_object(text, cpu, level, passes, jit, triple, hazard=hazard)


def emit_assembly(text: str, cpu: str, level: int) -> str:
    """Assembly for LLVM IR `text`. Raises CompileError."""
    hazard = _hazard(text, cpu, None)
    if hazard is None:
        try:
            return llvm.emit_assembly(text, cpu, level)
        except llvm.TooManyPipelinesError:
            hazard = "the module"
    return worker.emit_assembly(text, cpu, level, hazard=hazard)


def optimised(text: str, cpu: str, level: int) -> str:
    """LLVM IR `text` as code is generated from it. Raises CompileError."""
    hazard = _hazard(text, cpu, None)
    if hazard is None:
        return llvm.optimised(text, cpu, level)
    return worker.optimised(text, cpu, level, hazard=hazard)


def internalised(text: str, visible: Sequence[str]) -> str:
    """LLVM IR in which only `visible` symbols are seen by other objects. Raises CompileError."""
    hazard = _hazard(text, "host", None)
    if hazard is None:
        return llvm.internalised(text, visible)
    return worker.internalised(text, visible, hazard=hazard)


def _hazard(text: str, cpu: str, triple: str | None) -> str | None:
    """What may end the process, as the words behind "LLVM cannot generate code for"."""
    hazard = allowlist_llvm.codegen_hazard(text, llvm.host_cpu(), llvm.host_features())
    if hazard is not None:
        return f"the module, which has `{hazard}`"
    # What is known to be right is known of this architecture's usual CPUs.
    if triple is not None or cpu not in ("host", "baseline"):
        return f"CPU `{cpu}` of `{triple or llvm.host_triple()}`"
    return None
