"""Fixtures of the builder's tests."""

from __future__ import annotations

import pytest

from ffi_builder.builder import reuse


@pytest.fixture(params=["torch_mlir", "jaxlib.mlir"])
def distribution(request: pytest.FixtureRequest) -> str:
    """The package of an MLIR distribution; tests that use it run once with each."""
    root: str = request.param
    pytest.importorskip(f"{root}.ir", reason=f"needs the MLIR bindings of {root}")
    return root


@pytest.fixture
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide wrappers that other tests have attached, and those of this test from others."""
    monkeypatch.setattr(reuse, "_KEPT", type(reuse._KEPT)())  # pyright: ignore[reportPrivateUsage]
