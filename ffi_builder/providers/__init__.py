"""How the kernel is called: the protocol of call providers, and the ready-made ones."""

from ffi_builder.ir import Block, Module, Value
from ffi_builder.providers.context import CallContext, CallProvider, ModuleContext
from ffi_builder.providers.cuda import CudaLaunchCallProvider
from ffi_builder.providers.memref import MemRefCallProvider
from ffi_builder.providers.nested import NestedTensorCallProvider
from ffi_builder.providers.packed import PackedCallProvider
from ffi_builder.providers.packing import DynamicParamPackCallProvider
from ffi_builder.providers.simple import DirectCallProvider, NopCallProvider
from ffi_builder.providers.status import CheckStatus

__all__ = [
    "Block",
    "CallContext",
    "CallProvider",
    "CheckStatus",
    "CudaLaunchCallProvider",
    "DirectCallProvider",
    "DynamicParamPackCallProvider",
    "MemRefCallProvider",
    "Module",
    "ModuleContext",
    "NestedTensorCallProvider",
    "NopCallProvider",
    "PackedCallProvider",
    "Value",
]
