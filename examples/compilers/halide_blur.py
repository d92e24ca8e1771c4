# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
"""Wrap a pipeline of Halide: an object that takes each array as a halide_buffer_t.

pip install halide
"""

import tempfile
from pathlib import Path

import halide as hl
import numpy as np

from ffi_builder import wrap

x = hl.ImageParam(hl.Float(32), 2, "x")
column, row = hl.Var("column"), hl.Var("row")  # Halide's first dimension is NumPy's last axis
y = hl.Func("y")
y[column, row] = (x[column, row] + x[column + 1, row] + x[column + 2, row]) / 3

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "blur.o")
    y.compile_to_object(str(path), [x], "blur", hl.get_host_target())
    runtime = Path(folder, "runtime.o")
    hl.compile_standalone_runtime(str(runtime), hl.get_host_target())
    compiled = wrap(
        path,
        "blur(x: Tensor([h, w + 2], float32), y: Tensor([h, w], float32))",
        device="cpu",
        link=[runtime],
    )

a = np.random.default_rng(0).standard_normal((4, 12), "float32")
y = np.empty((4, 10), "float32")
compiled["blur"](a, y)
expected = (a[:, :-2] + a[:, 1:-1] + a[:, 2:]) / np.float32(3)
print("largest difference from NumPy:", abs(y - expected).max())
