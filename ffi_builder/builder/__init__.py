"""Emits wrappers into MLIR modules. `ffi_builder` itself has the public names."""

from __future__ import annotations

from ffi_builder.lazy import lazy

__getattr__, __dir__ = lazy(__name__, {}, ())
