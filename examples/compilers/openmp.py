# pyright: basic
"""Wrap C with OpenMP, which returns a status: `link=` names the library of OpenMP."""

import subprocess
import tempfile
from pathlib import Path

import numpy as np

from ffi_builder import wrap

SOURCE = """
#include <stdint.h>
int scale(int64_t n, float factor, float *x) {
  if (factor == 0) return 22;
  #pragma omp parallel for
  for (int64_t i = 0; i < n; i++) x[i] *= factor;
  return 0;
}
"""

with tempfile.TemporaryDirectory() as folder:
    Path(folder, "scale.c").write_text(SOURCE)
    command = ["cc", "-O2", "-fPIC", "-fopenmp", "-c", "scale.c", "-o", "scale.o"]
    subprocess.run(command, cwd=folder, check=True)
    compiled = wrap(
        Path(folder, "scale.o"),
        "scale(x: Tensor([n], float32), factor: float32)",
        device="cpu",
        prototype="int scale(int64_t n, float factor, float *x)",
        link=["-lgomp"],
    )

x = np.ones(1000, "float32")
compiled["scale"](x, 2.5)
print("largest difference from NumPy:", abs(x - 2.5).max())
try:
    compiled["scale"](x, 0)
except RuntimeError as error:
    print(error)
