"""Lowers code for devices to LLVM IR, in torch-mlir."""

from __future__ import annotations

from typing import Any

from ffi_builder.errors import CompileError
from ffi_builder.runtime.codegen import mlir


def device_llvm_ir(module: object, pipeline: str) -> str:
    """Lower MLIR to the LLVM IR of its device code: of its ``gpu.module``, if it has one.

    Args:
        module: a module or a ``gpu.module`` of any bindings, or their text.
        pipeline: passes that leave a module, or one ``gpu.module``, of the LLVM dialect.

    Raises:
        CompileError: the module is refused, or has several ``gpu.module``s.
        TypeError: it is something else.
    """
    lowered = _parsed(module)
    mlir.lowered(lowered, pipeline, ())
    device = [op.operation for op in lowered.body.operations if op.operation.name == "gpu.module"]
    if len(device) > 1:
        names = ", ".join(f"@{str(op.attributes['sym_name'])[1:-1]}" for op in device)
        raise CompileError(
            f"The module has several `gpu.module`s ({names}): pass each of them alone"
        )
    if device:
        lowered = mlir.module_like(lowered.operation, device[0])
    mlir.verify(lowered)
    return mlir.to_llvm_ir(lowered).complete()


def _parsed(module: object) -> Any:
    """Parse or copy the input into a new module of torch-mlir."""
    if isinstance(module, str):
        if not module.strip():
            raise CompileError("Expected MLIR or LLVM IR, but the text is empty")
        return mlir.parse(module)
    if not mlir.is_module(module):
        raise TypeError(
            "Expected a module or `gpu.module` of an MLIR Python distribution, MLIR or LLVM IR "
            f"text, but got {module!r} ({type(module).__name__})"
        )
    operation = module.operation
    if operation.name not in ("builtin.module", "gpu.module"):
        raise CompileError(
            f"Expected a `builtin.module` or a `gpu.module`, but got a `{operation.name}`"
        )
    # The module is passed as text, since the passes run in torch-mlir, in another context.
    return mlir.parse(operation.get_asm(print_generic_op_form=True, enable_debug_info=True))
