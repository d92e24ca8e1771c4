"""The fake driver and its allocator, for every test that asks for them."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from ffi_builder.fakecuda.fake import the_driver
from tests.fakecuda import FakeDriver, missing
from tests.fakecuda.allocating import Allocator, allocating


@pytest.fixture
def driver() -> Iterator[FakeDriver]:
    """The fake driver of this process: two devices, before cuInit.

    Afterwards nothing may be left over: no violation that the test has not looked for and cleared
    with ``clear_log``, and no exception in an emulated kernel.
    """
    if reason := missing():
        pytest.skip(reason)
    found = the_driver()
    found.reset()
    yield found
    # Modules that are garbage give back what they have now, and not in the next test.
    gc.collect()
    violations, errors = found.violations(), list(found.errors)
    found.reset()
    assert not violations, violations
    assert not errors, errors


@pytest.fixture
def allocator(driver: FakeDriver) -> Iterator[Allocator]:
    """An allocator of memory of the fake's devices."""
    with allocating(driver) as made:
        yield made
