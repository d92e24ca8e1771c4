"""Records the types of kernels before they are lowered."""

from __future__ import annotations

from ffi_builder import protocol
from ffi_builder.ir import Module, of_module


def record_memref_types(module: Module) -> None:
    """Note the types of each ``func.func`` that has memrefs, so that ``attach`` can compare them.

    Lowering turns a memref into pointers and integers, so that its element type, static sizes and
    layout are lost. This keeps them in the function attribute ``ffi_builder.memref_types``, which
    does not reach LLVM IR. Call it before the passes that lower memrefs, and after those that make
    or change memrefs, such as one-shot bufferization. ``runtime.compile`` and ``runtime.lower`` do
    so themselves if they get a ``pipeline=``, also between its passes if functions have tensors.

    Args:
        module: an ``ir.Module`` of any MLIR Python distribution; it is changed.

    Raises:
        BuildError: if ``module`` is not such a module.

    Examples:
        >>> from torch_mlir import ir
        >>> from torch_mlir.passmanager import PassManager
        >>> from ffi_builder import record_memref_types, signature_of
        >>> KERNEL = "func.func @relu(%x: memref<?x4xf32>) { return }"
        >>> module = ir.Module.parse(KERNEL, ir.Context())
        >>> record_memref_types(module)
        >>> passes = "builtin.module(convert-to-llvm,reconcile-unrealized-casts)"
        >>> PassManager.parse(passes, module.context).run(module.operation)
        >>> print(signature_of(module, "relu", names=["x"], device_type="cpu"))
        relu(x: Tensor([x_0, 4], float32, device_type=cpu))
    """
    protocol.record_memref_types(of_module(module).ir, module)
