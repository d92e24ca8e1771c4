"""Compiled, validating TVM-FFI entry points for kernels in MLIR modules.

Public names are loaded on first use, so that importing ``ffi_builder.spec`` loads neither MLIR nor
LLVM.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ffi_builder.errors import BuildError, CompileError, LinkError, SpecError
from ffi_builder.lazy import lazy

if TYPE_CHECKING:
    from ffi_builder import cuda, packed, plan, providers, runtime, spec, support, testing
    from ffi_builder.builder import (
        attach,
        attach_ffi_func,
        call_packed,
        record_memref_types,
        release_packed,
        rename_tvm_ffi_function,
        return_asserts,
        signature_of,
    )
    from ffi_builder.plan import Plan, Sanitize, explain, make_plan

__version__ = "0.1.0"

__all__ = [
    "BuildError",
    "CompileError",
    "LinkError",
    "Plan",
    "Sanitize",
    "SpecError",
    "__version__",
    "attach",
    "attach_ffi_func",
    "call_packed",
    "cuda",
    "explain",
    "make_plan",
    "packed",
    "plan",
    "providers",
    "record_memref_types",
    "release_packed",
    "rename_tvm_ffi_function",
    "return_asserts",
    "runtime",
    "signature_of",
    "spec",
    "support",
    "testing",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        **dict.fromkeys(("Plan", "Sanitize", "explain", "make_plan"), "plan"),
        **dict.fromkeys(("attach", "attach_ffi_func", "rename_tvm_ffi_function"), "builder"),
        **dict.fromkeys(("call_packed", "release_packed"), "builder"),
        **dict.fromkeys(("record_memref_types", "return_asserts", "signature_of"), "builder"),
    },
    __all__,
)
