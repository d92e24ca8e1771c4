"""Fills the runtime's caches before the first test looks for leaks."""

from __future__ import annotations

import pytest

from ffi_builder import runtime


@pytest.fixture(autouse=True, scope="session")
def _warm() -> None:  # pyright: ignore[reportUnusedFunction]
    """The context that MLIR text is parsed in is kept, and replaced from time to time."""
    runtime.compile("module {}")
