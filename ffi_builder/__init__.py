"""Compiled, validating TVM-FFI entry points for kernels in MLIR modules.

Public names are loaded on first use, so that importing ``ffi_builder.spec`` loads neither MLIR nor
LLVM.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ffi_builder.errors import BuildError, CompileError, LinkError, SpecError
from ffi_builder.lazy import lazy

if TYPE_CHECKING:
    from ffi_builder import ir, packed, providers, runtime, spec, support
    from ffi_builder.addons import Launch as Launch
    from ffi_builder.addons import Sanitize as Sanitize
    from ffi_builder.addons import cuda as cuda
    from ffi_builder.addons import package as package
    from ffi_builder.addons import return_asserts as return_asserts
    from ffi_builder.addons import signature_of as signature_of
    from ffi_builder.addons import testing as testing
    from ffi_builder.addons import wrap as wrap
    from ffi_builder.builder.calls import call_packed, release_packed
    from ffi_builder.builder.names import record_memref_types, rename_tvm_ffi_function
    from ffi_builder.builder.wrapper import attach, attach_ffi_func
    from ffi_builder.plan import explain

__version__ = "0.3.0"

__all__ = [
    "BuildError",
    "CompileError",
    "LinkError",
    "SpecError",
    "attach",
    "attach_ffi_func",
    "call_packed",
    "explain",
    "ir",
    "packed",
    "providers",
    "record_memref_types",
    "release_packed",
    "rename_tvm_ffi_function",
    "runtime",
    "spec",
    "support",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "explain": "plan",
        **dict.fromkeys(("attach", "attach_ffi_func"), "builder.wrapper"),
        **dict.fromkeys(("call_packed", "release_packed"), "builder.calls"),
        **dict.fromkeys(("record_memref_types", "rename_tvm_ffi_function"), "builder.names"),
    },
    __all__,
)
