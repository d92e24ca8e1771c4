"""Modules that need no MLIR: plain Python classes with the members of MLIR's bindings.

The package is used as the ``ir`` module of an MLIR distribution.
"""

from __future__ import annotations

from ffi_builder.extending import lazy

_ATTRIBUTES = (
    *("ArrayAttr", "Attribute", "DenseI32ArrayAttr", "DenseI64ArrayAttr"),
    *("FlatSymbolRefAttr", "IntegerAttr", "StringAttr", "TypeAttr"),
)
_MODULE = ("Block", "Context", "InsertionPoint", "Location", "Module", "Operation")
_HOMES = {
    **dict.fromkeys(_ATTRIBUTES, "attributes"),
    **dict.fromkeys((*_MODULE, "SymbolTable", "Value"), "module"),
    "Type": "types",
}
__all__ = [*_HOMES]  # pyright: ignore[reportUnsupportedDunderAll]

__getattr__, __dir__ = lazy(__name__, _HOMES, __all__)
