"""Tools for the tests of a DSL and its kernels.

They check arguments without a kernel, make arguments, print a wrapper, verify what a kernel reads
and writes, compare a kernel with a reference, and launch CUDA kernels without a GPU. Only
:func:`emit` needs MLIR. Tools that need NumPy are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ffi_builder.extending import check_call as check
from ffi_builder.extending import lazy
from ffi_builder.testing.emit import emit

if TYPE_CHECKING:
    from ffi_builder.addons import FakeCuda as FakeCuda
    from ffi_builder.addons import FakeHip as FakeHip
    from ffi_builder.testing.kernels.finding import KernelError
    from ffi_builder.testing.kernels.kernel import check_intents, check_kernel
    from ffi_builder.testing.make.arguments import make_args
    from ffi_builder.testing.make.arrays import FakeArray

__all__ = [
    "FakeArray",
    "KernelError",
    "check",
    "check_intents",
    "check_kernel",
    "emit",
    "make_args",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        **dict.fromkeys(("check_intents", "check_kernel"), "kernels.kernel"),
        "FakeArray": "make.arrays",
        "KernelError": "kernels.finding",
        "make_args": "make.arguments",
    },
    __all__,
)
