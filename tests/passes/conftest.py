"""The distributions of MLIR, as the builder's tests have them."""

from tests.builder.conftest import distribution

__all__ = ["distribution"]
