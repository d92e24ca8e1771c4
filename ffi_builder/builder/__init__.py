"""Emits wrappers into MLIR modules. Each name is loaded on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ffi_builder.lazy import lazy

if TYPE_CHECKING:
    from ffi_builder.builder.asserts import return_asserts
    from ffi_builder.builder.calls import PackedCall, call_packed, release_packed
    from ffi_builder.builder.kernel_signature import record_memref_types, signature_of
    from ffi_builder.builder.names import rename_tvm_ffi_function
    from ffi_builder.builder.wrapper import attach, attach_ffi_func

__all__ = [
    "PackedCall",
    "attach",
    "attach_ffi_func",
    "call_packed",
    "record_memref_types",
    "release_packed",
    "rename_tvm_ffi_function",
    "return_asserts",
    "signature_of",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        **dict.fromkeys(("PackedCall", "call_packed", "release_packed"), "calls"),
        **dict.fromkeys(("attach", "attach_ffi_func"), "wrapper"),
        "rename_tvm_ffi_function": "names",
        "return_asserts": "asserts",
        **dict.fromkeys(("record_memref_types", "signature_of"), "kernel_signature"),
    },
    __all__,
)
