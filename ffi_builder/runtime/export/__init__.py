"""Compiled modules to files: objects, libraries, headers and stubs.

Its modules are loaded when something is exported, since most modules are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ffi_builder.lazy import lazy

if TYPE_CHECKING:
    from ffi_builder.runtime.export import files

__all__ = ["files"]

__getattr__, __dir__ = lazy(__name__, {}, __all__)
