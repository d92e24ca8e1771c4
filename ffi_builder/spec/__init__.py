"""Specifications of the parameters and results of functions.

They are frozen dataclasses, validated when they are made. Importing this loads neither MLIR nor
LLVM.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ffi_builder.lazy import lazy
from ffi_builder.spec.canonical import outline, results_text
from ffi_builder.spec.composite import (
    HIDDEN,
    PARAM_TYPES,
    Field,
    Optional,
    Param,
    Plain,
    Struct,
    TupleParam,
    elements,
    parts_of,
    required,
    with_paths,
)
from ffi_builder.spec.data import Data
from ffi_builder.spec.devices import ANY, DefaultConfig
from ffi_builder.spec.dtypes import DataType, parse_dtype
from ffi_builder.spec.expr import Dim, Expr, Relation, Var
from ffi_builder.spec.functions import (
    ceildiv,
    dims,
    equal,
    linear,
    maximum,
    minimum,
    not_equal,
    one_of,
    variables,
)
from ffi_builder.spec.numbers import FLOAT_DTYPES, INT_RANGES
from ffi_builder.spec.overlap import can_overlap, is_comparable, tensors_of
from ffi_builder.spec.param import MISSING
from ffi_builder.spec.params import (
    Array,
    Bytes,
    Choice,
    ConstBool,
    ConstFloat,
    ConstInt,
    ConstNone,
    DataPointer,
    Device,
    DType,
    EnvStream,
    Function,
    Map,
    Object,
    Shape,
    Stream,
    String,
)
from ffi_builder.spec.places import device_tensors, occurrences, symbols_of_elements
from ffi_builder.spec.results import HandedOver, Result, sizes
from ffi_builder.spec.short_text import argument_texts, short_text, signature
from ffi_builder.spec.signature import Signature
from ffi_builder.spec.tensor import MOST_DIMENSIONS, Tensor, create_map_tensor_dtype_f4x2_to_f4_spec
from ffi_builder.spec.tensor_list import MOST_ELEMENTS, TensorList
from ffi_builder.spec.workspace import Workspace

if TYPE_CHECKING:
    from ffi_builder.spec.parse_dims import expression

__all__ = [
    "ANY",
    "FLOAT_DTYPES",
    "HIDDEN",
    "INT_RANGES",
    "MISSING",
    "MOST_DIMENSIONS",
    "MOST_ELEMENTS",
    "PARAM_TYPES",
    "Array",
    "Bytes",
    "Choice",
    "ConstBool",
    "ConstFloat",
    "ConstInt",
    "ConstNone",
    "DType",
    "Data",
    "DataPointer",
    "DataType",
    "DefaultConfig",
    "Device",
    "Dim",
    "EnvStream",
    "Expr",
    "Field",
    "Function",
    "HandedOver",
    "Map",
    "Object",
    "Optional",
    "Param",
    "Plain",
    "Relation",
    "Result",
    "Shape",
    "Signature",
    "Stream",
    "String",
    "Struct",
    "Tensor",
    "TensorList",
    "TupleParam",
    "Var",
    "Workspace",
    "argument_texts",
    "can_overlap",
    "ceildiv",
    "create_map_tensor_dtype_f4x2_to_f4_spec",
    "device_tensors",
    "dims",
    "elements",
    "equal",
    "expression",
    "is_comparable",
    "linear",
    "maximum",
    "minimum",
    "not_equal",
    "occurrences",
    "one_of",
    "outline",
    "parse_dtype",
    "parts_of",
    "required",
    "results_text",
    "short_text",
    "signature",
    "sizes",
    "symbols_of_elements",
    "tensors_of",
    "variables",
    "with_paths",
]

__getattr__, __dir__ = lazy(__name__, {"expression": "parse_dims"}, __all__)
