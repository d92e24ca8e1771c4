"""Specifications of the parameters and results of functions.

They are frozen dataclasses, validated when they are made. Importing this loads neither MLIR nor
LLVM.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ffi_builder.lazy import lazy
from ffi_builder.spec.composite import (
    Field,
    Optional,
    Param,
    Struct,
    TupleParam,
    required,
    with_paths,
)
from ffi_builder.spec.expr import Dim, Var
from ffi_builder.spec.functions import ceildiv, dims, equal, maximum, minimum, not_equal, one_of
from ffi_builder.spec.lists import List
from ffi_builder.spec.outlines import outline, signature
from ffi_builder.spec.param import MISSING
from ffi_builder.spec.params import (
    Any,
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
    VarArgs,
)
from ffi_builder.spec.signature import Signature
from ffi_builder.spec.tensors.devices import DefaultConfig
from ffi_builder.spec.tensors.tensor import Tensor, create_map_tensor_dtype_f4x2_to_f4_spec
from ffi_builder.spec.tensors.tensor_list import TensorList
from ffi_builder.spec.tensors.workspace import Workspace
from ffi_builder.spec.variant import Variant

if TYPE_CHECKING:
    from ffi_builder.spec.parsing.parse_dims import expression

__all__ = [
    "MISSING",
    "Any",
    "Array",
    "Bytes",
    "Choice",
    "ConstBool",
    "ConstFloat",
    "ConstInt",
    "ConstNone",
    "DType",
    "DataPointer",
    "DefaultConfig",
    "Device",
    "Dim",
    "EnvStream",
    "Field",
    "Function",
    "List",
    "Map",
    "Object",
    "Optional",
    "Param",
    "Shape",
    "Signature",
    "Stream",
    "String",
    "Struct",
    "Tensor",
    "TensorList",
    "TupleParam",
    "Var",
    "VarArgs",
    "Variant",
    "Workspace",
    "ceildiv",
    "create_map_tensor_dtype_f4x2_to_f4_spec",
    "dims",
    "equal",
    "expression",
    "maximum",
    "minimum",
    "not_equal",
    "one_of",
    "outline",
    "required",
    "signature",
    "with_paths",
]

__getattr__, __dir__ = lazy(__name__, {"expression": "parsing.parse_dims"}, __all__)
