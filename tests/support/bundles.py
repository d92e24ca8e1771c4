"""Wrappers without the shared libraries of the functions in C that they call."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ffi_builder import BuildError, support
from ffi_builder.runtime.jit import supplied


@pytest.fixture
def no_library(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Take the libraries away, so that the objects are linked."""

    def library(bundle: support.Bundle) -> Path:
        raise BuildError("there is none")

    monkeypatch.setattr(support.Bundle, "library", library)
    supplied._in_library.cache_clear()  # pyright: ignore[reportPrivateUsage]
    yield
    supplied._in_library.cache_clear()  # pyright: ignore[reportPrivateUsage]
