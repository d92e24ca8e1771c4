"""Tools for the tests of a DSL and its kernels.

Check arguments without a kernel, make some, print a wrapper; verify what a kernel reads and writes,
and compare it with a reference. Only :func:`emit` needs MLIR.
"""

from ffi_builder.testing.check import check, check_raw
from ffi_builder.testing.emit import emit
from ffi_builder.testing.kernels.finding import KernelError
from ffi_builder.testing.kernels.kernel import check_intents, check_kernel
from ffi_builder.testing.make.arguments import make_args

__all__ = [
    "KernelError",
    "check",
    "check_intents",
    "check_kernel",
    "check_raw",
    "emit",
    "make_args",
]
