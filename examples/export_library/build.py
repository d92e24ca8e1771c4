"""Export a kernel as a shared library with a header and a stub; call it from C, C++ and Python.

    python examples/export_library/build.py [output folder]

The programs need the library and libtvm_ffi, which is in the apache-tvm-ffi wheel. Building them
needs a C and a C++ compiler: $CC and $CXX, or cc and c++.
"""

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from tvm_ffi import libinfo

from ffi_builder import attach, providers, runtime, spec
from ffi_builder.ir import Module

HERE = Path(__file__).parent

KERNEL = """
func.func @scale_kernel(%x: memref<?xf32>, %factor: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = memref.dim %x, %zero : memref<?xf32>
  scf.for %i = %zero to %n step %one {
    %old = memref.load %x[%i] : memref<?xf32>
    %new = arith.mulf %old, %factor : f32
    memref.store %new, %x[%i] : memref<?xf32>
  }
  return
}
"""
LOWERING = "builtin.module(convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)"


def attach_scale(module: Module) -> None:
    x = spec.Tensor("x", [spec.Var("n", "int64")], "float32", device_type="cpu")
    factor = spec.Var("factor", "float32", default=2.0, doc="what x is multiplied by")
    signature = spec.Signature("scale", [x, factor], doc="Multiply x in place.")
    attach(module, signature, providers.MemRefCallProvider("scale_kernel"))


def export(folder: Path) -> None:
    """Write the library ``kernels.so``, ``kernels.h`` and ``kernels.pyi``."""
    compiled = runtime.compile(KERNEL, pipeline=LOWERING, post_compile_hooks=[attach_scale])
    compiled.export_library(
        folder / "kernels.so", header=folder / "kernels.h", stub=folder / "kernels.pyi"
    )


def build(compiler: str, source: str, folder: Path) -> Path:
    """Make a program in ``folder``, next to the library."""
    tvm_ffi = Path(libinfo.find_libtvm_ffi())
    program = folder / source.replace(".", "_")
    command = [
        *shlex.split(compiler),
        *("-Wall", "-Wextra", "-O2", f"-I{folder}"),
        *(f"-I{path}" for path in dict.fromkeys(libinfo.include_paths())),
        *(str(HERE / source), str(folder / "kernels.so"), str(tvm_ffi)),
        *(f"-Wl,-rpath,$ORIGIN:{tvm_ffi.parent}", "-o", str(program)),
    ]
    subprocess.run(command, check=True)
    return program


def main(folder: Path) -> None:
    export(folder)
    for language, compiler, source in (
        ("C", os.environ.get("CC") or "cc", "main.c"),
        ("C++", f"{os.environ.get('CXX') or 'c++'} -std=c++17", "main.cpp"),
    ):
        print(f"==== {language}", flush=True)
        subprocess.run([build(compiler, source, folder)], check=True)

    print("==== Python")
    scale = runtime.load(folder / "kernels.so").callable("scale")
    x = np.array([1, 2, 3], "float32")
    scale(x, factor=10)
    scale(x)
    print(x)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]).absolute())
    else:
        with tempfile.TemporaryDirectory() as made:
            main(Path(made))
