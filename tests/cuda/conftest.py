"""The fake driver and its allocator, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cuda.allocating import Allocator, allocating
from tests.fakecuda import FakeDriver
from tests.fakecuda.fixtures import driver

__all__ = ["allocator", "driver"]


@pytest.fixture
def allocator(driver: FakeDriver) -> Iterator[Allocator]:
    """An allocator of memory of the fake's devices."""
    with allocating(driver) as made:
        yield made
