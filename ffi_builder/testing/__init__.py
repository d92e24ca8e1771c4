"""For a DSL's own tests: check arguments without a kernel, make right ones, print a wrapper.

Only :func:`emit` needs MLIR.
"""

from ffi_builder.testing.arguments import make_args
from ffi_builder.testing.check import check, check_raw
from ffi_builder.testing.emit import emit

__all__ = ["check", "check_raw", "emit", "make_args"]
