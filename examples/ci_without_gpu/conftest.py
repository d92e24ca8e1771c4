"""Fixtures of both tests."""

import pytest

from ffi_builder import testing


@pytest.fixture
def gpu():
    """A GPU that is not there. It is as an H100 or H200; FakeCuda("sm_80") is another one."""
    with testing.FakeCuda("sm_90", execute=True) as fake:
        yield fake
