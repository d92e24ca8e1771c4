"""Emits wrappers into MLIR modules. The public names are in `ffi_builder` itself."""

from __future__ import annotations

from ffi_builder.lazy import lazy

__getattr__, __dir__ = lazy(__name__, {}, [])
