"""Recording what the kernels of a module take, before they are lowered."""

from __future__ import annotations

from ffi_builder import protocol
from ffi_builder.ir import Module, of_module


def record_memref_types(module: Module) -> None:
    """Note the types of each ``func.func`` that has memrefs, so that ``attach`` can compare them.

    Lowered to the LLVM dialect, a memref is pointers and integers: its element type, static sizes
    and layout are gone. This keeps them in an attribute of the function,
    ``ffi_builder.memref_types``, which is not translated to LLVM IR. Call it before the passes that
    lower memrefs, and behind those that make or change them, such as one-shot bufferization.
    ``runtime.compile`` and ``runtime.lower`` do so themselves where they are given a ``pipeline=``.

    Args:
        module: an ``ir.Module`` of any MLIR Python distribution; it is changed.

    Raises:
        BuildError: if it is something else.
    """
    protocol.record_memref_types(of_module(module).ir, module)
