"""Modules that need no MLIR: plain Python classes with the members of MLIR's bindings.

The package is used as the ``ir`` module of an MLIR distribution.
"""

from __future__ import annotations

from ffi_builder.extending import lazy

_NAMES = {
    "attributes": (
        *("ArrayAttr", "Attribute", "DenseI32ArrayAttr", "DenseI64ArrayAttr"),
        *("FlatSymbolRefAttr", "IntegerAttr", "StringAttr", "TypeAttr"),
    ),
    "module": (
        *("Block", "Context", "InsertionPoint", "Location", "Module", "Operation"),
        *("SymbolTable", "Value"),
    ),
    "types": ("Type",),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}

__getattr__, __dir__ = lazy(__name__, _HOMES, [*_HOMES])
