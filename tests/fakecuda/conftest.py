"""The fake driver, for the tests of this folder."""

from tests.fakecuda.fixtures import driver

__all__ = ["driver"]
