"""Emits wrappers into MLIR modules."""

from ffi_builder.builder.kernel_signature import signature_of
from ffi_builder.builder.recording import record_memref_types
from ffi_builder.builder.wrapper import attach, attach_ffi_func, rename_tvm_ffi_function

__all__ = [
    "attach",
    "attach_ffi_func",
    "record_memref_types",
    "rename_tvm_ffi_function",
    "signature_of",
]
