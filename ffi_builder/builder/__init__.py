"""Emits wrappers into MLIR modules."""

from ffi_builder.builder.wrapper import attach, attach_ffi_func, rename_tvm_ffi_function

__all__ = ["attach", "attach_ffi_func", "rename_tvm_ffi_function"]
