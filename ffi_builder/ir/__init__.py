"""A small IR builder for any MLIR Python distribution. No other package here imports MLIR."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ffi_builder.ir.builder import Builder, exchange_null, load_acquire, store_release
from ffi_builder.ir.checking import (
    ERROR_KINDS,
    CheckingBuilder,
    call_support,
    declare_support,
    mark_trusted,
    pass_through,
    run_support,
)
from ffi_builder.ir.distribution import (
    OPERATIONS,
    Distribution,
    bytecode,
    named,
    of_module,
    root_of,
)
from ffi_builder.ir.protocols import Attribute, Block, Module, Operation, Type, Value
from ffi_builder.ir.symbols import Symbols, aggregate_members, describe, function_parts
from ffi_builder.ir.types import LLVM_TYPES, Types
from ffi_builder.lazy import lazy

if TYPE_CHECKING:
    from ffi_builder.ir.contained import contain_support
    from ffi_builder.ir.kernel import (
        FunctionTypes,
        Kernel,
        KernelType,
        KernelValue,
        MemRef,
        dtypes_of,
        lowered,
        lowered_words,
        read_function,
        read_kernel,
        read_type,
        recorded_types,
    )

__all__ = [
    "ERROR_KINDS",
    "LLVM_TYPES",
    "OPERATIONS",
    "Attribute",
    "Block",
    "Builder",
    "CheckingBuilder",
    "Distribution",
    "FunctionTypes",
    "Kernel",
    "KernelType",
    "KernelValue",
    "MemRef",
    "Module",
    "Operation",
    "Symbols",
    "Type",
    "Types",
    "Value",
    "aggregate_members",
    "bytecode",
    "call_support",
    "contain_support",
    "declare_support",
    "describe",
    "dtypes_of",
    "exchange_null",
    "function_parts",
    "load_acquire",
    "lowered",
    "lowered_words",
    "mark_trusted",
    "named",
    "of_module",
    "pass_through",
    "read_function",
    "read_kernel",
    "read_type",
    "recorded_types",
    "root_of",
    "run_support",
    "store_release",
]

_OF_KERNELS: Final = (
    "FunctionTypes",
    "Kernel",
    "KernelType",
    "KernelValue",
    "MemRef",
    "dtypes_of",
    "lowered",
    "lowered_words",
    "read_function",
    "read_kernel",
    "read_type",
    "recorded_types",
)
"""Names that read the types of kernels; few wrappers need them, so they are loaded on first use."""

__getattr__, __dir__ = lazy(
    __name__, {**dict.fromkeys(_OF_KERNELS, "kernel"), "contain_support": "contained"}, __all__
)
