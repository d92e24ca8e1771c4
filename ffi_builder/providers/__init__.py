"""Call providers emit the call of the kernel: their protocol, and the ready-made ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ffi_builder.lazy import lazy

if TYPE_CHECKING:
    from ffi_builder.addons import CudaLaunchCallProvider as CudaLaunchCallProvider
    from ffi_builder.addons import HalideCallProvider as HalideCallProvider
    from ffi_builder.addons import RocmLaunchCallProvider as RocmLaunchCallProvider
    from ffi_builder.providers import when
    from ffi_builder.providers.context import CallContext, ModuleContext, OwnedAny
    from ffi_builder.providers.memref import MemRefCallProvider
    from ffi_builder.providers.packed import PackedCallProvider
    from ffi_builder.providers.packing import DynamicParamPackCallProvider, NestedTensorCallProvider
    from ffi_builder.providers.provider import CallProvider
    from ffi_builder.providers.simple import DirectCallProvider, NopCallProvider
    from ffi_builder.providers.status import CheckStatus
    from ffi_builder.providers.variants.provider import VariantsCallProvider
    from ffi_builder.providers.variants.variant import Variant

__all__ = [
    "CallContext",
    "CallProvider",
    "CheckStatus",
    "DirectCallProvider",
    "DynamicParamPackCallProvider",
    "MemRefCallProvider",
    "ModuleContext",
    "NestedTensorCallProvider",
    "NopCallProvider",
    "OwnedAny",
    "PackedCallProvider",
    "Variant",
    "VariantsCallProvider",
    "when",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        **dict.fromkeys(("CallContext", "ModuleContext", "OwnedAny"), "context"),
        **dict.fromkeys(("DirectCallProvider", "NopCallProvider"), "simple"),
        "CallProvider": "provider",
        "CheckStatus": "status",
        "DynamicParamPackCallProvider": "packing",
        "MemRefCallProvider": "memref",
        "NestedTensorCallProvider": "packing",
        "PackedCallProvider": "packed",
        "Variant": "variants.variant",
        "VariantsCallProvider": "variants.provider",
    },
    __all__,
)
