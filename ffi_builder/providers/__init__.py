"""How the kernel is called: the protocol of call providers, and the ready-made ones."""

from ffi_builder.providers.context import CallContext, CallProvider, ModuleContext
from ffi_builder.providers.simple import NopCallProvider

__all__ = ["CallContext", "CallProvider", "ModuleContext", "NopCallProvider"]
