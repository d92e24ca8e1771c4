"""A call provider for a custom calling convention.

The kernels of this invented compiler take a pointer to a descriptor for each matrix, and then the
number of launches so far::

    struct Matrix { float* data; int32_t rows, cols; };
    void kernel(Matrix*..., int64_t launches);
"""

from dataclasses import dataclass

import numpy as np

from ffi_builder import BuildError, attach_ffi_func, providers, runtime, spec
from ffi_builder.ir import Block, Module, Value

# Stands for the compiler's output: sets every element to the number of launches.
KERNEL = """
func.func @fill(%matrix: !llvm.ptr, %launches: i64) {
  %rows_at = llvm.getelementptr %matrix[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %cols_at = llvm.getelementptr %matrix[12] : (!llvm.ptr) -> !llvm.ptr, i8
  %data = llvm.load %matrix : !llvm.ptr -> !llvm.ptr
  %rows = llvm.load %rows_at : !llvm.ptr -> i32
  %cols = llvm.load %cols_at : !llvm.ptr -> i32
  %value = arith.sitofp %launches : i64 to f32
  %size = arith.muli %rows, %cols : i32
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %size step %one : i32 {
    %at = llvm.getelementptr %data[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    llvm.store %value, %at : f32, !llvm.ptr
  }
  return
}
"""
LOWERING = "builtin.module(convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)"


@dataclass(frozen=True)
class MatrixCallProvider:
    """Calls ``callee`` with a ``Matrix*`` per tensor and the number of launches."""

    callee: str

    def prepare(self, context: providers.ModuleContext) -> None:
        """Refuse parameters without a descriptor, and add the counter to the module.

        This runs before the wrapper is emitted. If it raises, the module is left unchanged.
        """
        for param in context.signature.params:
            if not isinstance(param, spec.Tensor) or param.ndim != 2:
                raise BuildError(f"@{self.callee} takes matrices, but {param.name!r} is not one")
        if self._counter not in context.symbols:
            context.symbols.variable(self._counter, bytes(8), align=8)

    def __call__(self, current_block: Block, context: providers.CallContext) -> Block:
        """Emit the call, at a point where all checks have passed."""
        b = context.builder
        t = b.types
        matrices = [self._matrix(context, x) for x in context.params if isinstance(x, spec.Tensor)]
        counter = b.address_of(self._counter)
        launches = b.load(t.i64, counter)
        b.store(b.add(launches, b.i64(1)), counter)
        context.symbols.declare(self.callee, t.void, [*(t.ptr for _ in matrices), t.i64])
        b.call(self.callee, [*matrices, launches], t.void)
        return b.block

    def _matrix(self, context: providers.CallContext, x: spec.Tensor) -> Value:
        """Store a descriptor. Symbols have their own type, which must be int32 here."""
        b = context.builder
        rows, cols = context.shape(x)
        for value in (rows, cols):
            if value.type != b.types.i32:
                raise BuildError(f"{x.name}: dimensions must be int32 symbols: dims(…, 'int32')")
        struct = b.types.struct([b.types.ptr, b.types.i32, b.types.i32])
        matrix = b.alloca(struct)
        b.store(b.pack([context.data(x), rows, cols]), matrix)
        return matrix

    @property
    def _counter(self) -> str:
        return f"launches_of_{self.callee}"


def attach_fill(module: Module) -> None:
    x = spec.Tensor("x", spec.dims("rows cols", "int32"), "float32", device_type="cpu")
    attach_ffi_func(module, "fill", [x], MatrixCallProvider("fill"))


if __name__ == "__main__":
    fill = runtime.compile(KERNEL, pipeline=LOWERING, post_compile_hooks=[attach_fill])["fill"]
    array = np.empty((2, 3), np.float32)
    for _ in range(3):
        fill(array)
        print(array.tolist())
