"""A test that crashes, which tests/test_project.py runs by name. tvm-ffi is loaded, as in others."""

from __future__ import annotations

import ctypes


def test_that_crashes() -> None:
    import tvm_ffi  # noqa: F401 # pyright: ignore[reportUnusedImport]

    ctypes.string_at(0)
