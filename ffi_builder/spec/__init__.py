"""What a function accepts: frozen dataclasses, validated when they are made.

Importing this loads neither MLIR nor LLVM.
"""

from ffi_builder.spec.config import DefaultConfig
from ffi_builder.spec.dtypes import DataType, parse_dtype
from ffi_builder.spec.expr import (
    FLOAT_DTYPES,
    INT_RANGES,
    Dim,
    Expr,
    Var,
    ceildiv,
    dims,
    linear,
    variables,
)
from ffi_builder.spec.param import MISSING
from ffi_builder.spec.params import (
    ConstBool,
    ConstFloat,
    ConstInt,
    ConstNone,
    DataPointer,
    EnvStream,
    Param,
    Shape,
    Stream,
    TupleParam,
)
from ffi_builder.spec.signature import (
    Signature,
    argument_texts,
    first_device_tensor,
    occurrences,
    short_text,
    signature,
)
from ffi_builder.spec.tensor import Data, Tensor, create_map_tensor_dtype_f4x2_to_f4_spec

__all__ = [
    "FLOAT_DTYPES",
    "INT_RANGES",
    "MISSING",
    "ConstBool",
    "ConstFloat",
    "ConstInt",
    "ConstNone",
    "Data",
    "DataPointer",
    "DataType",
    "DefaultConfig",
    "Dim",
    "EnvStream",
    "Expr",
    "Param",
    "Shape",
    "Signature",
    "Stream",
    "Tensor",
    "TupleParam",
    "Var",
    "argument_texts",
    "ceildiv",
    "create_map_tensor_dtype_f4x2_to_f4_spec",
    "dims",
    "first_device_tensor",
    "linear",
    "occurrences",
    "parse_dtype",
    "short_text",
    "signature",
    "variables",
]
