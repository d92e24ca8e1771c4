"""Export a kernel as matmul.o, link it with main.c, and run the program.

    python examples/stable_abi/build.py [output folder]

The program needs libtvm_ffi, which is in the apache-tvm-ffi wheel, but no Python. Building it needs
a C compiler: $CC, or cc.
"""

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from tvm_ffi import libinfo

from ffi_builder import attach_ffi_func, providers, runtime, spec
from ffi_builder.ir import Module

HERE = Path(__file__).parent

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


def attach_matmul(module: Module) -> None:
    n, k, m = spec.dims("n k m")
    with spec.DefaultConfig(device_type="cpu"):
        params = [
            spec.Tensor("A", [n, k], "float32"),
            spec.Tensor("B", [k, m], "float32"),
            spec.Tensor("C", [n, m], "float32"),
        ]
    attach_ffi_func(module, "matmul", params, providers.MemRefCallProvider("mm"))


def build(folder: Path) -> Path:
    """Make the program in ``folder``."""
    compiled = runtime.compile(KERNEL, pipeline=LOWERING, post_compile_hooks=[attach_matmul])
    compiled.export_object(folder / "matmul.o")
    library = Path(libinfo.find_libtvm_ffi())
    program = folder / "main"
    command = [
        *shlex.split(os.environ.get("CC", "cc")),
        *("-std=c11", "-Wall", "-Wextra", "-O2"),
        *(f"-I{path}" for path in dict.fromkeys(libinfo.include_paths())),
        *(str(HERE / "main.c"), str(folder / "matmul.o"), str(library)),
        *(f"-Wl,-rpath,{library.parent}", "-o", str(program)),
    ]
    subprocess.run(command, check=True)
    return program


if __name__ == "__main__":
    if len(sys.argv) > 1:
        subprocess.run([build(Path(sys.argv[1]))], check=True)
    else:
        with tempfile.TemporaryDirectory() as made:
            subprocess.run([build(Path(made))], check=True)
