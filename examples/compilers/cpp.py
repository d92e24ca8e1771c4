# pyright: basic
"""Wrap C++ from a static library. No exception may leave the kernel: it returns a status."""

import subprocess
import tempfile
from pathlib import Path

import numpy as np

from ffi_builder import wrap

SOURCE = """
#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>
extern "C" int median(std::int64_t n, const double *x, double *y) try {
  std::vector<double> sorted(x, x + n);
  std::sort(sorted.begin(), sorted.end());
  *y = sorted.at(n / 2);
  return 0;
} catch (...) {
  return 1;
}
"""

with tempfile.TemporaryDirectory() as folder:
    Path(folder, "median.cc").write_text(SOURCE)
    for command in ("c++ -O2 -fPIC -c median.cc -o median.o", "ar rcs libmedian.a median.o"):
        subprocess.run(command.split(), cwd=folder, check=True)
    compiled = wrap(
        Path(folder, "libmedian.a"),
        "median(x: Tensor([n], float64), y: Tensor([1], float64))",
        device="cpu",
        prototype="int median(int64_t n, const double *x, double *y)",
    )

x, y = np.array([5.0, 1.0, 3.0]), np.empty(1)
compiled["median"](x, y)
print("largest difference from NumPy:", abs(y[0] - np.median(x)))
try:
    compiled["median"](np.empty(0), y)
except RuntimeError as error:
    print(error)
