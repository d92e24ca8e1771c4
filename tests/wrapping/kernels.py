"""A kernel in C, as the tests give it to ``wrap``."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, Final

import numpy as np

from tests.runtime.samples import c_object

GEMV: Final = "gemv(A: Tensor([m, n], float32), x: Tensor([n], float32), y: Tensor([m], float32))"
PROTOTYPE: Final = (
    "int gemv(void *ctx, int64_t m, int64_t n, const float *A, const float *x, float *y)"
)
ARGS: Final = [None, "m", "n", "A", "x", "y"]
SOURCE: Final = f"""
{PROTOTYPE} {{
  if (ctx) return 1;
  for (int64_t i = 0; i < m; i++) {{
    y[i] = 0;
    for (int64_t j = 0; j < n; j++) y[i] += A[i * n + j] * x[j];
  }}
  return m > 100 ? 7 : 0;
}}
"""


def wrapped(folder: Path) -> dict[str, Any]:
    """Return the kernel in all forms that a C compiler and binutils make."""
    data = c_object(folder, SOURCE)
    path = folder / "part.o"
    archive, library = folder / "libgemv.a", folder / "libgemv.so"
    subprocess.run(["ar", "rcs", archive, path], check=True)
    subprocess.run(["gcc", "-shared", path, "-o", library], check=True)
    return {
        "bytes": data,
        "a path as text": str(path),
        "a path": path,
        "an archive": archive,
        "the bytes of an archive": archive.read_bytes(),
        "a shared library": str(library),
    }


def check_gemv(compiled: Any) -> None:
    """Call it, and look at the result."""
    a, x, y = (
        np.array([[0, 1, 2], [3, 4, 5]], "float32"),
        np.ones(3, "float32"),
        np.zeros(2, "float32"),
    )
    compiled["gemv"](a, x, y)
    np.testing.assert_array_equal(y, [3, 12])
