"""Compile a matmul in MLIR to a function that takes NumPy and PyTorch arrays and checks them.

MLIR's own passes lower a linalg matmul on memrefs. A post-compile hook attaches the function
``__tvm_ffi_matmul`` to the lowered module. LLVM compiles both. ``make demo`` runs this.
"""

import importlib
import importlib.util

import numpy as np

from ffi_builder import attach, explain, providers, runtime, signature_of
from ffi_builder.ir import Module

# An ir.Module of torch-mlir, jaxlib, IREE or your own MLIR works too.
KERNEL = """
func.func @mm(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf32>, memref<?x?xf32>) outs(%C : memref<?x?xf32>)
  return
}
"""

LOWERING = (
    "builtin.module(func.func(convert-linalg-to-loops),expand-strided-metadata,lower-affine,"
    "convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)"
)

# The kernel says dtypes and ranks; it does not say which sizes must be equal.
SIZES = {"A": ["n", "k"], "B": ["k", "m"], "C": ["n", "m"]}
SIGNATURE = signature_of(KERNEL, "mm", name="matmul", symbols=SIZES, device_type="cpu")


def attach_matmul(module: Module) -> None:
    """The hook: it gets the lowered module, in which @mm takes expanded memref descriptors."""
    attach(module, SIGNATURE, providers.MemRefCallProvider("mm"))


def heading(text: str) -> None:
    print(f"\n==== {text}")


def main() -> None:
    compiled = runtime.compile(KERNEL, pipeline=LOWERING, post_compile_hooks=[attach_matmul])
    matmul = compiled["matmul"]

    heading("NumPy")
    rng = np.random.default_rng(0)
    a = rng.random((3, 4), dtype=np.float32)
    b = rng.random((4, 5), dtype=np.float32)
    c = np.zeros((3, 5), dtype=np.float32)
    matmul(a, b, c)
    print(c)
    print(f"largest difference from NumPy's a @ b: {np.abs(c - a @ b).max():.1e}")

    heading("PyTorch")
    if importlib.util.find_spec("torch") is None:
        print("not installed: skipped (`make test-frameworks` installs a CPU build)")
    else:
        torch = importlib.import_module("torch")
        result = torch.zeros(3, 5)
        matmul(torch.from_numpy(a), torch.from_numpy(b), result)
        difference = (result - torch.from_numpy(a @ b)).abs().max().item()
        print(f"largest difference from NumPy's a @ b: {difference:.1e}")

    heading("A mistake: B is 5 by 4, where k is 4")
    try:
        matmul(a, np.zeros((5, 4), np.float32), c)
    except ValueError as error:
        print(f"ValueError: {error}")

    heading("The signature")
    print(SIGNATURE)
    heading("The plan: what is checked, in which order, and what fails how")
    print(explain(SIGNATURE))


if __name__ == "__main__":
    main()
