"""For a DSL's own tests: check arguments without a kernel, and without MLIR."""

from ffi_builder.testing.check import check, check_raw

__all__ = ["check", "check_raw"]
