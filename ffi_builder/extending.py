"""The face of the core for authors of add-ons: what they need beside the users' names.

An add-on imports public names and these, and nothing else of the core. docs/add-ons.md says how to
write one, and what may change between minor versions. Names are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ffi_builder.lazy import homes_of, lazy

if TYPE_CHECKING:
    from ffi_builder import abi, addons, elf, formats, importing
    from ffi_builder.builder.sanitize import (
        GivenTensors,
    )
    from ffi_builder.diagnosis.check import (
        Checker,
        Scalar,
    )
    from ffi_builder.diagnosis.check import (
        check as check_call,
    )
    from ffi_builder.diagnosis.evaluate import (
        OPERATORS,
        contiguous,
        evaluate,
        fold,
        holds,
    )
    from ffi_builder.dlpack import (
        DLTensor,
    )
    from ffi_builder.errors import (
        NoKernelError,
    )
    from ffi_builder.ir.builder import (
        Builder,
        load_acquire,
    )
    from ffi_builder.ir.checking import (
        call_support,
        mark_trusted,
        run_support,
    )
    from ffi_builder.ir.distribution import (
        PIP_NAMES,
        named,
    )
    from ffi_builder.ir.operations import (
        TERMINATORS,
    )
    from ffi_builder.ir.symbols import (
        aggregate_members,
        function_parts,
        split_at_commas,
        split_function_type,
    )
    from ffi_builder.ir.types import (
        LLVM_TYPES,
        PREDICATES,
    )
    from ffi_builder.lazy import (
        lazy,
    )
    from ffi_builder.packed.anys import (
        return_failure,
        unless,
    )
    from ffi_builder.plan import (
        Part,
        Place,
        Plan,
        check_signature,
        make_plan,
    )
    from ffi_builder.plan.messages import (
        signature_text,
    )
    from ffi_builder.plan.steps import (
        Bind,
        BindOrEqual,
        Solve,
        Subject,
    )
    from ffi_builder.plan.values import (
        of_symbols,
    )
    from ffi_builder.protocol import (
        MEMREF_TYPES,
        TABLE,
        helped_by,
    )
    from ffi_builder.protocol import (
        PREFIX as MODULE_PREFIX,
    )
    from ffi_builder.providers.arguments import (
        CONSTANTS,
        LIST_PARTS,
        Entry,
        Item,
        entries,
        flat_item,
        in_range,
        items,
        path_of,
        plain,
        scalar_argument,
        shape_arguments,
        shown,
        widened,
        with_result_tensors,
    )
    from ffi_builder.providers.gil import (
        HoldGil,
    )
    from ffi_builder.providers.packing import (
        dynamic_layout,
    )
    from ffi_builder.providers.results import (
        value_results,
    )
    from ffi_builder.providers.variants.emit import (
        OfCall,
    )
    from ffi_builder.records import (
        dataclass,
    )
    from ffi_builder.spec.composite import (
        Plain,
        elements,
        parts_of,
    )
    from ffi_builder.spec.dtypes import (
        NAMES,
        DataType,
        parse_dtype,
    )
    from ffi_builder.spec.expr import (
        Condition,
        Expr,
        Name,
        Relation,
    )
    from ffi_builder.spec.functions import (
        linear,
        variables,
    )
    from ffi_builder.spec.numbers import (
        FLOAT_DTYPES,
        INT_RANGES,
        RELATIONS,
    )
    from ffi_builder.spec.outlines import (
        argument_texts,
    )
    from ffi_builder.spec.overlap import (
        can_overlap,
        is_comparable,
        tensors_of,
    )
    from ffi_builder.spec.params import (
        Value as ValueParam,
    )
    from ffi_builder.spec.places import (
        occurrences,
    )
    from ffi_builder.spec.properties import (
        Comparable,
        Comparison,
        is_pointer,
    )
    from ffi_builder.spec.results import (
        Result,
        sizes,
    )
    from ffi_builder.spec.tensors.devices import (
        ANY,
    )
    from ffi_builder.spec.tensors.tensor import (
        Data,
    )
    from ffi_builder.suggest import (
        did_you_mean,
        install,
    )

__all__ = [
    "ANY",
    "CONSTANTS",
    "FLOAT_DTYPES",
    "INT_RANGES",
    "LIST_PARTS",
    "LLVM_TYPES",
    "MEMREF_TYPES",
    "MODULE_PREFIX",
    "NAMES",
    "OPERATORS",
    "PIP_NAMES",
    "PREDICATES",
    "RELATIONS",
    "TABLE",
    "TERMINATORS",
    "Bind",
    "BindOrEqual",
    "Builder",
    "Checker",
    "Comparable",
    "Comparison",
    "Condition",
    "DLTensor",
    "Data",
    "DataType",
    "Entry",
    "Expr",
    "GivenTensors",
    "HoldGil",
    "Item",
    "Name",
    "NoKernelError",
    "OfCall",
    "Part",
    "Place",
    "Plain",
    "Plan",
    "Relation",
    "Result",
    "Scalar",
    "Solve",
    "Subject",
    "ValueParam",
    "abi",
    "addons",
    "aggregate_members",
    "argument_texts",
    "call_support",
    "can_overlap",
    "check_call",
    "check_signature",
    "contiguous",
    "dataclass",
    "did_you_mean",
    "dynamic_layout",
    "elements",
    "elf",
    "entries",
    "evaluate",
    "flat_item",
    "fold",
    "formats",
    "function_parts",
    "helped_by",
    "holds",
    "importing",
    "in_range",
    "install",
    "is_comparable",
    "is_pointer",
    "items",
    "lazy",
    "linear",
    "load_acquire",
    "make_plan",
    "mark_trusted",
    "named",
    "occurrences",
    "of_symbols",
    "parse_dtype",
    "parts_of",
    "path_of",
    "plain",
    "return_failure",
    "run_support",
    "scalar_argument",
    "shape_arguments",
    "shown",
    "signature_text",
    "sizes",
    "split_at_commas",
    "split_function_type",
    "tensors_of",
    "unless",
    "value_results",
    "variables",
    "widened",
    "with_result_tensors",
]

_HOMES = {
    "ffi_builder.builder.sanitize": "GivenTensors",
    "ffi_builder.diagnosis.check": "Checker Scalar check=check_call",
    "ffi_builder.diagnosis.evaluate": "OPERATORS contiguous evaluate fold holds",
    "ffi_builder.dlpack": "DLTensor",
    "ffi_builder.errors": "NoKernelError",
    "ffi_builder.ir.builder": "Builder load_acquire",
    "ffi_builder.ir.checking": "call_support mark_trusted run_support",
    "ffi_builder.ir.distribution": "PIP_NAMES named",
    "ffi_builder.ir.operations": "TERMINATORS",
    "ffi_builder.ir.symbols": "aggregate_members function_parts split_at_commas "
    "split_function_type",
    "ffi_builder.ir.types": "LLVM_TYPES PREDICATES",
    "ffi_builder.lazy": "lazy",
    "ffi_builder.packed.anys": "return_failure unless",
    "ffi_builder.plan": "Part Place Plan check_signature make_plan",
    "ffi_builder.plan.messages": "signature_text",
    "ffi_builder.plan.steps": "Bind BindOrEqual Solve Subject",
    "ffi_builder.plan.values": "of_symbols",
    "ffi_builder.protocol": "MEMREF_TYPES PREFIX=MODULE_PREFIX TABLE helped_by",
    "ffi_builder.providers.arguments": "CONSTANTS Entry Item LIST_PARTS entries flat_item "
    "in_range items path_of plain scalar_argument "
    "shape_arguments shown widened with_result_tensors",
    "ffi_builder.providers.gil": "HoldGil",
    "ffi_builder.providers.packing": "dynamic_layout",
    "ffi_builder.providers.results": "value_results",
    "ffi_builder.providers.variants.emit": "OfCall",
    "ffi_builder.records": "dataclass",
    "ffi_builder.spec.composite": "Plain elements parts_of",
    "ffi_builder.spec.dtypes": "DataType NAMES parse_dtype",
    "ffi_builder.spec.expr": "Condition Expr Name Relation",
    "ffi_builder.spec.functions": "linear variables",
    "ffi_builder.spec.numbers": "FLOAT_DTYPES INT_RANGES RELATIONS",
    "ffi_builder.spec.outlines": "argument_texts",
    "ffi_builder.spec.overlap": "can_overlap is_comparable tensors_of",
    "ffi_builder.spec.params": "Value=ValueParam",
    "ffi_builder.spec.places": "occurrences",
    "ffi_builder.spec.properties": "Comparable Comparison is_pointer",
    "ffi_builder.spec.results": "Result sizes",
    "ffi_builder.spec.tensors.devices": "ANY",
    "ffi_builder.spec.tensors.tensor": "Data",
    "ffi_builder.suggest": "did_you_mean install",
    "ffi_builder": "abi addons elf formats importing",
}
"""The names of each module; ``a=b`` is one that is called b here."""

__getattr__, __dir__ = lazy(__name__, homes_of(_HOMES), __all__)
