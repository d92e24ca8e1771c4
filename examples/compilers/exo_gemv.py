# pyright: basic, reportMissingImports=false, reportUndefinedVariable=false, reportInvalidTypeForm=false
"""Wrap a kernel of Exo: C with a header, whose first parameter is a context.

pip install exo-lang
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import numpy as np
from exo import DRAM, compile_procs_to_strings, proc

from ffi_builder import wrap


@proc
def gemv(
    m: size,  # noqa: F821  (Exo reads the annotations)
    n: size,  # noqa: F821
    A: f32[m, n] @ DRAM,  # noqa: F821
    x: f32[n] @ DRAM,  # noqa: F821
    y: f32[m] @ DRAM,  # noqa: F821
):
    for i in seq(0, m):  # noqa: F821
        y[i] = 0.0
        for j in seq(0, n):  # noqa: F821
            y[i] += A[i, j] * x[j]


with tempfile.TemporaryDirectory() as made:
    folder = Path(made)
    source, header = compile_procs_to_strings([gemv], "gemv.h")
    (folder / "gemv.c").write_text(source)
    (folder / "gemv.h").write_text(header)
    command = ["cc", "-O2", "-fPIC", "-c", "gemv.c", "-o", "gemv.o"]
    subprocess.run(command, cwd=folder, check=True)

    compiled = wrap(
        folder / "gemv.o",
        "gemv(A: Tensor([m, n], float32), x: Tensor([n], float32), y: Tensor([m], float32))",
        device="cpu",
        prototype=folder / "gemv.h",
        args=[None, "m", "n", "A", "x", "y"],  # Exo's context is NULL
    )

a, x = np.ones((3, 4), "float32"), np.arange(4, dtype="float32")
y = np.empty(3, "float32")
compiled["gemv"](a, x, y)
print("largest difference from NumPy:", abs(y - a @ x).max())
