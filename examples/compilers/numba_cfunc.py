# pyright: basic, reportMissingImports=false, reportPrivateImportUsage=false
"""Wrap a @cfunc of Numba: the function keeps Numba's code alive, which no file can contain.

    pip install numba

For kernels to export, wrap LLVM IR: ../numba_kernel.py.
"""

import numpy as np
from numba import carray, cfunc, types

from ffi_builder import wrap


@cfunc(types.void(types.int64, types.float64, types.CPointer(types.float64)))
def scale(n, factor, x):
    values = carray(x, n)
    for i in range(n):
        values[i] *= factor


compiled = wrap(scale, "scale(x: Tensor([n], float64), factor: float64)", device="cpu")

x = np.arange(4.0)
compiled["scale"](x, 2.5)
print("largest difference from NumPy:", abs(x - 2.5 * np.arange(4)).max())
