# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
"""Wrap a function that cffi knows; one of ctypes goes the same way once it has `argtypes`.

pip install cffi
"""

import cffi
import numpy as np

from ffi_builder import wrap

ffi = cffi.FFI()
ffi.cdef("double fma(double x, double y, double z);")
libm = ffi.dlopen("libm.so.6")

compiled = wrap(libm.fma, "fma(x: float64, y: float64, z: float64) -> r: float64")
print("largest difference from NumPy:", abs(compiled["fma"](2, 3, 4) - np.float64(10)))
