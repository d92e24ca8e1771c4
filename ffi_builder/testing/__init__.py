"""Tools for the tests of a DSL: check arguments without a kernel, make some, print a wrapper.

Only :func:`emit` needs MLIR.
"""

from ffi_builder.testing.check import check, check_raw
from ffi_builder.testing.emit import emit
from ffi_builder.testing.make.arguments import make_args

__all__ = ["check", "check_raw", "emit", "make_args"]
