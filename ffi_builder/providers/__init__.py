"""Call providers emit the call of the kernel: their protocol, and the ready-made ones."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ffi_builder.ir import Block, Module, Value
from ffi_builder.providers import memref, nested, packed, packing, simple, when
from ffi_builder.providers.context import CallContext, ModuleContext, OwnedAny
from ffi_builder.providers.conventions import register
from ffi_builder.providers.memref import MemRefCallProvider
from ffi_builder.providers.nested import NestedTensorCallProvider
from ffi_builder.providers.packed import PackedCallProvider
from ffi_builder.providers.packing import DynamicParamPackCallProvider
from ffi_builder.providers.provider import CallProvider
from ffi_builder.providers.simple import DirectCallProvider, NopCallProvider
from ffi_builder.providers.status import CheckStatus
from ffi_builder.providers.variants.provider import VariantsCallProvider
from ffi_builder.providers.variants.variant import Variant
from ffi_builder.suggest import did_you_mean

if TYPE_CHECKING:
    from ffi_builder.providers.cuda import CudaLaunchCallProvider

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
    "OwnedAny",
    "PackedCallProvider",
    "Value",
    "Variant",
    "VariantsCallProvider",
    "when",
]

register(
    memref.CONVENTION, simple.CONVENTION, nested.CONVENTION, *packing.CONVENTIONS, packed.CONVENTION
)


def __getattr__(name: str) -> object:
    """Load ``CudaLaunchCallProvider`` on first use: importing its package takes time."""
    if name != "CudaLaunchCallProvider":
        meant = did_you_mean(name, __all__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{meant}")
    return import_module(f"{__name__}.cuda").CudaLaunchCallProvider


def __dir__() -> list[str]:
    return __all__
