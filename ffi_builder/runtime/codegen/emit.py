"""LLVM IR to objects and text: in this process where that is safe, else in a child process.

The functions of the same names in `llvm` do the work. All raise CompileError.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from ffi_builder.runtime.codegen import llvm
from ffi_builder.runtime.safety import allowlist_llvm, worker

_Result = TypeVar("_Result")


def emit_object(
    text: str,
    cpu: str,
    level: int,
    *,
    passes: bool = True,
    jit: bool = True,
    triple: str | None = None,
) -> bytes:
    """Compile LLVM IR `text` to an object file."""
    hazard = _hazard(text, cpu, triple)
    return _safely(hazard, llvm.emit_object, text, cpu, level, passes, jit, triple)


def emit_assembly(text: str, cpu: str, level: int) -> str:
    """Compile LLVM IR `text` to assembly."""
    return _safely(_hazard(text, cpu), llvm.emit_assembly, text, cpu, level)


def optimised(text: str, cpu: str, level: int) -> str:
    """Optimise LLVM IR `text`, as is done before code is generated from it."""
    return _safely(_hazard(text, cpu), llvm.optimised, text, cpu, level)


def internalised(text: str, visible: Sequence[str]) -> str:
    """Hide all symbols of LLVM IR `text` from other objects but those in `visible`."""
    return _safely(_hazard(text, "host"), llvm.internalised, text, tuple(visible))


def _hazard(text: str, cpu: str, triple: str | None = None) -> str | None:
    """Return what may end the process, as the words after "LLVM cannot generate code for"."""
    hazard = allowlist_llvm.codegen_hazard(text, llvm.host_cpu(), llvm.host_features())
    if hazard is not None:
        return f"the module, which has `{hazard}`"
    # The allowlists hold for the usual CPUs of this architecture.
    if triple is not None or cpu not in ("host", "baseline"):
        return f"CPU `{cpu}` of `{triple or llvm.host_triple()}`"
    return None


def _safely(hazard: str | None, function: Callable[..., _Result], *arguments: object) -> _Result:
    if hazard is None:
        try:
            return function(*arguments)
        except llvm.TooManyPipelinesError:
            hazard = "the module"
    return worker.generate(function.__name__, hazard, *arguments)
