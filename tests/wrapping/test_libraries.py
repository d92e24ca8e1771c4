"""Functions of real libraries that take or write something by address, where they are installed."""

from __future__ import annotations

import zlib
from ctypes.util import find_library
from importlib import import_module
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import wrap

pytest.importorskip("clang.native")

COMPRESS: Final = """
int compress(unsigned char *dest, unsigned long *destLen, const unsigned char *source,
             unsigned long sourceLen);
"""
UMFPACK: Final = """
int umfpack_di_symbolic(int n_row, int n_col, const int Ap[], const int Ai[], const double Ax[],
                        void **Symbolic, const double Control[], double Info[]);
void umfpack_di_free_symbolic(void **Symbolic);
"""


def needs(name: str) -> None:
    if find_library(name) is None:
        pytest.skip(f"needs lib{name}")


def test_zlib() -> None:
    """`destLen` is the room, and then the size of what was written."""
    needs("z")
    compress = wrap(
        "-lz",
        "compress(dest: Tensor([room], uint8), source: Tensor([n], uint8)) -> size: uint64",
        prototype=COMPRESS,
        args={"destLen": "&room -> size", "sourceLen": "n"},
        errors={-5: ("ValueError", "there is no room")},
        device="cpu",
    )
    dest, source = np.empty(100, "uint8"), np.arange(200, dtype="uint8").repeat(4)
    with pytest.raises(ValueError, match="there is no room"):
        compress(dest[:9], source)
    dest = np.empty(1000, "uint8")
    assert zlib.decompress(dest[: compress(dest, source)].tobytes()) == source.tobytes()


def test_posix_memalign() -> None:
    aligned = wrap(
        "-lc",
        "posix_memalign(alignment: uint64, size: uint64) -> memory: handle",
        prototype="""
            int posix_memalign(void **memory, unsigned long alignment, unsigned long size);
            void free(void *memory);
        """,
        destroy="free",
    )
    with aligned(4096, 100) as memory:
        assert memory.value % 4096 == 0
    with pytest.raises(RuntimeError, match="posix_memalign failed with status 22"):
        aligned(3, 100)


def test_umfpack() -> None:
    """Its destroyer takes the address of the handle."""
    needs("umfpack")
    symbolic = wrap(
        "-lumfpack",
        """umfpack_di_symbolic(Ap: Tensor([m], int32), Ai: Tensor([nz], int32),
                               Ax: Tensor([nz], float64)) -> Symbolic: handle where m >= 1""",
        prototype=UMFPACK,
        args={"n_row": "m - 1", "n_col": "m - 1", "Control": None, "Info": None},
        destroy="umfpack_di_free_symbolic",
        device="cpu",
    )
    rows, columns = np.arange(3, dtype="int32"), np.arange(2, dtype="int32")
    with symbolic(rows, columns, np.ones(2)) as made:
        assert made.value


def test_cython_blas() -> None:
    """A capsule, whose numbers go by pointers that are not const."""
    pytest.importorskip("scipy")
    capsules: Any = import_module("scipy.linalg.cython_blas").__pyx_capi__
    ddot = wrap(
        capsules["ddot"],
        """ddot(x: Tensor([n], float64, strides=[dx]), y: Tensor([n], float64, strides=[dy]))
           -> r: float64 where n <= 1 or dx >= 1, n <= 1 or dy >= 1""",
        prototype="double ddot(int *n, double *x, int *incx, double *y, int *incy)",
        args=["&n", "x", "&dx", "y", "&dy"],
        device="cpu",
        release_gil=True,
    )
    x = np.arange(10.0)
    assert ddot(x, x) == x @ x
    assert ddot(x[::2], x[:5]) == x[::2] @ x[:5]
    with pytest.raises(ValueError, match=r"Mismatched y\.shape"):
        ddot(x, x[:5])
    with pytest.raises(ValueError, match="expected n <= 1 or dx"):
        ddot(x[::-1], x)
