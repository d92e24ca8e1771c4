"""Fixtures of the tests of providers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ffi_builder import runtime


@pytest.fixture
def allocator() -> Iterator[None]:
    with runtime.install_allocator():
        yield
