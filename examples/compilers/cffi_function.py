# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
"""Wrap a function that cffi knows; one of ctypes, or an address, goes the same way.

pip install cffi
"""

import cffi
import numpy as np

from ffi_builder import wrap

DECLARATION = "double fma(double x, double y, double z)"

ffi = cffi.FFI()
ffi.cdef(DECLARATION + ";")
libm = ffi.dlopen("libm.so.6")

compiled = wrap(
    libm.fma,
    "fma(x: float64, y: float64, z: float64) -> r: float64",
    prototype=DECLARATION,
)
print("largest difference from NumPy:", abs(compiled["fma"](2, 3, 4) - np.float64(10)))
