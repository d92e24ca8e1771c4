"""Emits wrappers into MLIR modules."""

from ffi_builder.builder.calls import PackedCall, call_packed, release_packed
from ffi_builder.builder.kernel_signature import signature_of
from ffi_builder.builder.recording import record_memref_types
from ffi_builder.builder.wrapper import attach, attach_ffi_func, rename_tvm_ffi_function

__all__ = [
    "PackedCall",
    "attach",
    "attach_ffi_func",
    "call_packed",
    "record_memref_types",
    "release_packed",
    "rename_tvm_ffi_function",
    "signature_of",
]
