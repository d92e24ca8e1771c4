"""Fixtures of the builder's tests."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["torch_mlir", "jaxlib.mlir"])
def distribution(request: pytest.FixtureRequest) -> str:
    """The package of an MLIR distribution; tests that use it run once with each."""
    root: str = request.param
    pytest.importorskip(f"{root}.ir", reason=f"needs the MLIR bindings of {root}")
    return root
