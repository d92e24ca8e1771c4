"""Libraries in C and Fortran: each example runs with the real one, where it is installed."""

from __future__ import annotations

import re
from ctypes.util import find_library
from importlib.util import find_spec

import pytest

from tests.examples.running import differences, run

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
    assert "ValueError: the SQL is wrong when calling: `sqlite3_prepare_v2(" in printed
    assert "expected an open handle but got <Handle made of sqlite3_prepare_v2, closed>" in printed
    assert (
        "expected a pointer to struct sqlite3_stmt but got <Handle db of sqlite3_open>" in printed
    )
    assert re.search("RuntimeError: sqlite3_close failed with status 5", printed)
