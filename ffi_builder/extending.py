"""The face of the core for authors of add-ons: what they need beside the users' names.

An add-on imports public names and these, and nothing else of the core. docs/add-ons.md says how to
write one, and what may change between minor versions. A name is loaded when it is first used, and
``extending.pyi`` has its type.
"""

from __future__ import annotations

from typing import Final

from ffi_builder.lazy import homes_of, lazy

_HOMES: Final = homes_of(
    {
        "ffi_builder": "abi addons formats importing",
        "ffi_builder.builder.names": "is_declaration",
        "ffi_builder.builder.sanitize": "GivenTensors",
        "ffi_builder.diagnosis.check": "Checker Scalar check=check_call",
        "ffi_builder.diagnosis.evaluate": "OPERATORS contiguous evaluate fold holds",
        "ffi_builder.errors": "NoKernelError",
        "ffi_builder.formats": "elf",
        "ffi_builder.ir.builder": "Builder load_acquire",
        "ffi_builder.ir.checking": "ERROR_KINDS call_support pass_through run_support",
        "ffi_builder.ir.distribution": "PIP_NAMES named of_module",
        "ffi_builder.ir.kernel": "KernelValue MemRef dtypes_of read_kernel",
        "ffi_builder.ir.operations": "TERMINATORS",
        "ffi_builder.ir.protocols": "Operation",
        "ffi_builder.ir.symbols": (
            "aggregate_members describe function_parts split_at_commas split_function_type"
        ),
        "ffi_builder.ir.types": "LLVM_TYPES PREDICATES",
        "ffi_builder.lazy": "lazy",
        "ffi_builder.packed.anys": "return_failure unless",
        "ffi_builder.plan": "Part Place Plan check_signature make_plan",
        "ffi_builder.plan.messages": "signature_text",
        "ffi_builder.plan.steps": "Bind BindOrEqual Solve Subject",
        "ffi_builder.plan.values": "of_symbols",
        "ffi_builder.protocol": "MEMREF_TYPES PREFIX=MODULE_PREFIX TABLE helped_by helper_doc",
        "ffi_builder.providers.arguments": (
            "Argument CONSTANTS c_arguments convert_items entries flat_item "
            "in_range items plain present scalar_argument shape_arguments shown widened "
            "with_result_tensors"
        ),
        "ffi_builder.providers.by_address": "declared dtype_of split_address split_field",
        "ffi_builder.providers.call": "call check_status pass_on",
        "ffi_builder.providers.context": "path_of",
        "ffi_builder.providers.gil": "HoldGil",
        "ffi_builder.providers.items": "CField CStruct Constant Entry Item",
        "ffi_builder.providers.memref": "mistake_of",
        "ffi_builder.providers.packing": "dynamic_layout",
        "ffi_builder.providers.results": "value_results",
        "ffi_builder.providers.variants.emit": "OfCall",
        "ffi_builder.providers.variants.provider": "signatures_of",
        "ffi_builder.records": "dataclass",
        "ffi_builder.spec.composite": "Plain elements parts_of",
        "ffi_builder.spec.dtypes": "DataType NAMES parse_dtype",
        "ffi_builder.spec.expr": "Condition Expr Name Relation",
        "ffi_builder.spec.functions": "linear variables",
        "ffi_builder.spec.numbers": "FLOAT_DTYPES INT_RANGES RELATIONS",
        "ffi_builder.spec.outlines": "argument_texts",
        "ffi_builder.spec.overlap": "can_overlap is_comparable tensors_of",
        "ffi_builder.spec.params": "Value=ValueParam",
        "ffi_builder.spec.places": "symbols_in",
        "ffi_builder.spec.properties": "Comparable Comparison is_pointer",
        "ffi_builder.spec.results": "Result sizes",
        "ffi_builder.spec.tensors.devices": "ANY",
        "ffi_builder.spec.tensors.tensor": "Data",
        "ffi_builder.suggest": "did_you_mean install",
    }
)
"""The names of each module; ``a=b`` is one that is called b here."""

__all__ = [*_HOMES]  # pyright: ignore[reportUnsupportedDunderAll]

__getattr__, __dir__ = lazy(__name__, _HOMES, __all__)
