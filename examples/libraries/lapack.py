# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
"""Call LAPACK by Fortran's name: numbers go by address, matrices are column-major.

apt-get install liblapack3, or pip install scipy, which has a LAPACK of its own
"""

import ctypes.util

import numpy as np

from ffi_builder import wrap

SOLVE = """dgesv(A: Tensor([n, n], float64, strides=F, intent=inout),
                 B: Tensor([n, k], float64, strides=F, intent=inout),
                 ipiv: Tensor([n], int32, intent=out)) -> info: int32"""
PROTOTYPE = """void dgesv_(int *n, int *nrhs, double *a, int *lda, int *ipiv, double *b, int *ldb,
                           int *info);"""
# `wrap` passes the address of a copy of each number that LAPACK only reads. LAPACK writes `info`.
ARGS = ["&n", "&k", "A", "&max(n, 1)", "ipiv", "B", "&max(n, 1)", "info"]

library = ctypes.util.find_library("lapack")
if library is not None:
    source = ctypes.CDLL(library).dgesv_
else:
    from scipy.linalg import cython_lapack

    source = cython_lapack.__pyx_capi__["dgesv"]
compiled = wrap(source, SOLVE, prototype=PROTOTYPE, args=ARGS, device="cpu", release_gil=True)


def solve(a, b):
    """Return x with a @ x == b, for one right-hand side or several."""
    factors = np.array(a, "float64", order="F")
    x = np.array(b, "float64", order="F").reshape(len(b), -1, order="F")
    info = compiled["dgesv"](factors, x, np.empty(len(b), "int32"))
    if info:
        raise np.linalg.LinAlgError(f"the matrix is singular: U[{info - 1}, {info - 1}] is 0")
    return x.reshape(np.shape(b), order="F")


a, b = np.array([[3.0, 1, 0], [1, 4, 1], [0, 1, 5]]), np.arange(6.0).reshape(3, 2)
print("largest difference from NumPy:", np.abs(solve(a, b) - np.linalg.solve(a, b)).max())


def refused(call):
    try:
        call()
    except ValueError as error:  # as LinAlgError is
        print(f"{type(error).__name__}: {error}")


refused(lambda: solve(np.zeros((2, 2)), b[:2]))
refused(lambda: solve(a, b[:2]))
refused(lambda: compiled["dgesv"](a, b, np.empty(3, "int32")))
