"""Libraries in C and Fortran: each example runs with the real one, where it is installed."""

from __future__ import annotations

import re
from ctypes.util import find_library
from importlib.util import find_spec

import pytest

from tests.examples.running import differences, run
from tests.wrapping.libraries import needs_header

pytest.importorskip("clang.native")


def test_lapack() -> None:
    if find_library("lapack") is None and find_spec("scipy") is None:
        pytest.skip("needs LAPACK: `apt-get install liblapack3`, or SciPy")
    printed = run("libraries/lapack.py")
    [difference] = differences(printed)
    assert difference < 1e-12
    assert "LinAlgError: the matrix is singular: U[0, 0] is 0" in printed
    assert "B.shape[0] on argument #1" in printed
    assert "expected 1 (column-major contiguous) but got 3" in printed


def test_sqlite() -> None:
    if find_library("sqlite3") is None:
        pytest.skip("needs SQLite: `apt-get install libsqlite3-0`")
    printed = run("libraries/sqlite.py")
    [difference] = differences(printed)
    assert difference < 1e-12
    assert "column x\n" in printed
    assert "HELLO!\n" in printed
    assert "ValueError: SQLite refuses it when calling: `sqlite3_prepare_v2(" in printed
    assert "expected an open handle but got <Handle made of sqlite3_prepare_v2, closed>" in printed
    assert (
        "expected a pointer to struct sqlite3_stmt but got <Handle db of sqlite3_open>" in printed
    )
    assert re.search("RuntimeError: sqlite3_close failed with status 5", printed)


@needs_header("fftw3.h")
def test_fftw() -> None:
    printed = run("libraries/fftw.py")
    assert max(differences(printed)) < 1e-12
    for words in (
        "expected 10 (n = n) but got 11",
        "Mismatched in.dtype on argument #2",
        "expected 6 (n // 2 + 1 with n = 10 from n) but got 5",
        "expected memory apart from that of in (no_overlap)",
        "expected an open handle but got <Handle plan of fftw_plan_dft_r2c_1d, closed>",
    ):
        assert words in printed


@needs_header("openssl/evp.h")
def test_openssl() -> None:
    printed = run("libraries/openssl.py")
    assert printed.count("the same hash as Python's: True\n") == 3
    for words in (
        "RuntimeError: EVP_Q_digest failed with status 0 when",
        "expected bytes but got str",
        "expected at least 64 (min of size) but got 32",
        "may be NULL) but got type = None",
        "expected a pointer to struct evp_md_ctx_st but got <Handle type of EVP_sha256>",
        "expected a pointer to struct evp_md_st but got <Handle ctx of EVP_MD_CTX_new>",
        "Mismatched d.dtype on argument #1",
        "expected an open handle but got <Handle ctx of EVP_MD_CTX_new, closed>",
    ):
        assert words in printed


@needs_header("zstd.h")
def test_zstd() -> None:
    printed = run("libraries/zstd.py")
    assert printed.count(": True\n") == 2
    for words in (
        "ValueError: zstd: Src size is incorrect",
        "ValueError: zstd: Destination buffer is too small",
        "expected uint8 but got float64",
        "expected a value that fits int32 (-2147483648 to 2147483647) but got 1099511627776",
        "expected 1 (row-major contiguous) but got 2",
        "expected memory apart from that of src (no_overlap)",
    ):
        assert words in printed


@needs_header("gsl/gsl_fit.h")
def test_gsl() -> None:
    printed = run("libraries/gsl.py")
    [difference] = differences(printed)
    assert difference < 1e-12
    for words in (
        "expected 20 (n = x.shape[0]) but got 19",
        "expected at least 0 (min of ystride) but got -3",
        "expected float64 but got float32",
        "expected n == nmax - nmin + 1 with n = 4",
        "ValueError: input domain error when calling: `gsl_sf_bessel_Jn_array(",
    ):
        assert words in printed
