"""Modules that need no MLIR: plain Python classes with the members of MLIR's bindings.

The package is used as the ``ir`` module of an MLIR distribution.
"""

from __future__ import annotations

from ffi_builder.plain.attributes import (
    ArrayAttr,
    Attribute,
    DenseI32ArrayAttr,
    DenseI64ArrayAttr,
    FlatSymbolRefAttr,
    IntegerAttr,
    StringAttr,
    TypeAttr,
)
from ffi_builder.plain.module import (
    Block,
    Context,
    InsertionPoint,
    Location,
    Module,
    Operation,
    SymbolTable,
    Value,
)
from ffi_builder.plain.types import Type

__all__ = [
    "ArrayAttr",
    "Attribute",
    "Block",
    "Context",
    "DenseI32ArrayAttr",
    "DenseI64ArrayAttr",
    "FlatSymbolRefAttr",
    "InsertionPoint",
    "IntegerAttr",
    "Location",
    "Module",
    "Operation",
    "StringAttr",
    "SymbolTable",
    "Type",
    "TypeAttr",
    "Value",
]
