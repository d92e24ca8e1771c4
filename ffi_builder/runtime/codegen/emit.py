"""Compiles LLVM IR to objects and text, in this process if that is safe, else in a child process.

The functions of the same names in `llvm` do the work. All raise CompileError.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TypeAlias, TypeVar

from ffi_builder.errors import CompileError
from ffi_builder.runtime.codegen import allowlist_llvm, llvm
from ffi_builder.runtime.codegen.constants import LlvmIr
from ffi_builder.runtime.codegen.progress import told
from ffi_builder.runtime.files import object_files
from ffi_builder.runtime.isolate import worker

_Result = TypeVar("_Result")

Steps: TypeAlias = Generator[LlvmIr, bytes, _Result]
"""Work that yields LLVM IR, for this CPU, where it needs its object.

`run` generates the code on the spot, and `runtime.many` does so in child processes.
"""


def run(steps: Steps[_Result], level: int) -> _Result:
    """Run `steps` to their end, and compile what they yield one after the other."""
    try:
        ir = next(steps)
        while True:
            ir = _next_step(steps, ir, level)
    except StopIteration as end:
        return end.value
    finally:
        steps.close()


def _next_step(steps: Steps[_Result], ir: LlvmIr, level: int) -> LlvmIr:
    try:
        data = emit_object(ir, "host", level)
    except CompileError as error:
        return steps.throw(error)
    return steps.send(data)


def emit_object(
    ir: LlvmIr,
    cpu: str,
    level: int,
    *,
    passes: bool = True,
    jit: bool = True,
    triple: str | None = None,
) -> bytes:
    """Compile LLVM IR to an object file."""
    hazard = _hazard(ir, cpu, triple)
    data = _safely(hazard, llvm.emit_object, ir.text, cpu, level, passes, jit, triple)
    return _with_constants(data, ir, triple)


def request(ir: LlvmIr, level: int) -> tuple[object, ...]:
    """Return the request to a child that compiles LLVM IR to an object for this CPU."""
    return (llvm.emit_object.__name__, ir.text, "host", level)


def answered(ir: LlvmIr, data: bytes) -> bytes:
    """Return the object that `emit_object` would make, from the answer to its `request`."""
    return _with_constants(data, ir)


def refused(ir: LlvmIr, words: str, *, ended: bool) -> CompileError:
    """Return the error that `emit_object` would raise, from the words of a child.

    `ended` says that the child ended, or was ended, before it answered.
    """
    hazard = _hazard(ir, "host") or ("the module" if ended else None)
    return CompileError(words if hazard is None else worker.cannot_generate(hazard, words))


def _with_constants(data: bytes, ir: LlvmIr, triple: str | None = None) -> bytes:
    if not ir.constants:
        return data
    machine = llvm.architecture(triple or llvm.host_triple())
    return object_files.with_constants(data, ir.constants, machine)


def emit_assembly(ir: LlvmIr, cpu: str, level: int) -> str:
    """Compile LLVM IR to assembly."""
    return ir.in_assembly(_safely(_hazard(ir, cpu), llvm.emit_assembly, ir.text, cpu, level))


def optimised(ir: LlvmIr, cpu: str, level: int) -> LlvmIr:
    """Optimise LLVM IR with the passes that precede code generation."""
    text = _safely(_hazard(ir, cpu), llvm.optimised, ir.text, cpu, level)
    return ir._replace(text=text)


def internalised(ir: LlvmIr, visible: Sequence[str]) -> LlvmIr:
    """Hide all symbols of LLVM IR from other objects, except those in `visible`."""
    hazard = _hazard(ir, "host")
    text = _safely(hazard, llvm.internalised, ir.text, tuple(visible))
    return ir.only_visible(text, frozenset(visible))


def headers(ir: LlvmIr) -> dict[str, str]:
    """Return the first line of each function that LLVM IR defines, by its name."""
    return _safely(_hazard(ir, "host"), llvm.headers, ir.text)


def function_types(ir: LlvmIr) -> dict[str, str]:
    """Return the type of each function that LLVM IR defines or declares, by its name."""
    return _safely(_hazard(ir, "host"), llvm.function_types, ir.text)


def _hazard(ir: LlvmIr, cpu: str, triple: str | None = None) -> str | None:
    """Return what may end the process, to be put after "LLVM cannot generate code for"; or None."""
    hazard = allowlist_llvm.codegen_hazard(ir.text, llvm.host_cpu(), llvm.host_features())
    if hazard is not None:
        return f"the module, which has `{hazard}`"
    # The allowlists hold for the usual CPUs of this architecture.
    if triple is not None or cpu not in ("host", "baseline"):
        return f"CPU `{cpu}` of `{triple or llvm.host_triple()}`"
    return None


def _safely(hazard: str | None, function: Callable[..., _Result], *arguments: object) -> _Result:
    with told(f"LLVM ({function.__name__}; a lower opt_level takes less)"):
        if hazard is None:
            try:
                return function(*arguments)
            except llvm.TooManyPipelinesError:
                hazard = "the module"
        return worker.generate(function.__name__, hazard, *arguments)
