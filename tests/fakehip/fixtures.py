"""The fake HIP library and an allocator of its memory, for every test that asks for them."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from ffi_builder.fakehip.build import missing
from ffi_builder.fakehip.driver import FakeHipDriver
from ffi_builder.fakehip.fake import the_driver


@pytest.fixture
def hip() -> Iterator[FakeHipDriver]:
    """The fake HIP library of this process: two devices, gfx942.

    Afterwards nothing may be left over, as of the fake driver of CUDA.
    """
    if reason := missing():
        pytest.skip(str(reason))
    found = the_driver()
    found.reset()
    for device in range(2):
        found.set_target("gfx942", device)
    yield found
    gc.collect()
    violations, errors = found.violations(), list(found.errors)
    found.reset()
    assert not violations, violations
    assert not errors, errors
