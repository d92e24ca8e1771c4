# pyright: basic, reportMissingImports=false
"""Wrap a module of IREE's bindings. They lack passes, so torch-mlir lowers its text.

pip install iree-base-compiler
"""

import numpy as np
from iree.compiler import ir

from ffi_builder import wrap

KERNEL = """
func.func @add(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %n = memref.dim %x, %0 : memref<?xf32>
  scf.for %i = %0 to %n step %1 {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = memref.load %y[%i] : memref<?xf32>
    %sum = arith.addf %a, %b : f32
    memref.store %sum, %z[%i] : memref<?xf32>
  }
  return
}
"""

with ir.Context():
    module = ir.Module.parse(KERNEL)

add = wrap(
    module,
    "add(x: Tensor([n], float32), y: Tensor([n], float32), z: Tensor([n], float32))",
    device="cpu",
)

x, y = np.random.default_rng(0).standard_normal((2, 1000), "float32")
z = np.empty_like(x)
add(x, y, z)
print("largest difference from NumPy:", abs(z - (x + y)).max())
