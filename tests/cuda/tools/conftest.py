"""Machines with parts of CUDA, or none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ffi_builder.cuda.tools import toolkit


@pytest.fixture
def no_toolkit(monkeypatch: pytest.MonkeyPatch) -> None:
    """No toolkit, no wheel of one, and nothing of it on PATH."""
    monkeypatch.setattr(toolkit, "roots", lambda: iter(()))
    for name in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "")


@pytest.fixture
def no_bindings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No cuda-python."""
    for name in [name for name in sys.modules if name.startswith("cuda.bindings")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty toolkit that CUDA_HOME names."""
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    monkeypatch.setenv("CUDA_PATH", str(tmp_path / "not this one"))
    return tmp_path
