"""What a wrapper says of itself to Python callers and tools, as JSON.

It travels as an LLVM function attribute, ``"ffi-builder-metadata"``, through MLIR, LLVM IR and
their texts; an exported library answers it as ``__tvm_ffi__metadata_<name>``. ``type_schema`` is
tvm-ffi's own description of a function, which its tools read (as a text within the text: so it is
in the library); ``ffi_builder`` has the rest::

    {"type_schema": {"type": "ffi.Function", …}, "ffi_builder": {
        "signature": "scale(x: Tensor([n], float32, device_type=cpu), factor: float32)",
        "doc": "…",
        "params": [{"name": "x"},
                   {"name": "factor", "default": 2.0, "kw_only": true, "doc": "…"}]}}

Defaults that JSON has no value for stand as ``{"repr": "…"}``; tuples as ``{"tuple": […]}``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, Final, cast

from ffi_builder import spec

ATTRIBUTE: Final = "ffi-builder-metadata"

_SCALARS: Final = {"bool": "bool", "handle": "void*", **dict.fromkeys(spec.FLOAT_DTYPES, "float")}
_PLAIN: Final[dict[type, str]] = {
    spec.Tensor: "ffi.Tensor",
    spec.Shape: "ffi.Shape",
    spec.Stream: "void*",
    spec.DataPointer: "void*",
    spec.ConstNone: "None",
    spec.ConstInt: "int",
    spec.ConstBool: "bool",
    spec.ConstFloat: "float",
    spec.Choice: "ffi.String",
    spec.String: "ffi.String",
    spec.Bytes: "ffi.Bytes",
    spec.DType: "DataType",
    spec.Device: "Device",
    spec.Function: "ffi.Function",
}
_ANY: Final = {"type": "Any"}


def metadata(signature: spec.Signature) -> str:
    """The JSON text."""
    params = [_schema(param) for param in signature.arguments]
    named = {"return": [{"type": "None"}], "params": params}
    own: dict[str, object] = {"signature": str(signature)}
    if signature.doc:
        own["doc"] = signature.doc
    own["params"] = [dict(_described(param)) for param in signature.arguments]
    schema = {"type": "ffi.Function", "named_args": named}
    return json.dumps({"type_schema": schema, "ffi_builder": own}, separators=(",", ":"))


def _schema(param: spec.Param) -> dict[str, Any]:
    """tvm-ffi's type of an argument."""
    match param:
        case spec.Optional(param=inner):
            return {"type": "Optional", "args": [_schema(inner)]}
        case spec.Var(dtype=dtype):
            return {"type": _SCALARS.get(dtype, "int")}
        case spec.TupleParam() | spec.Struct():
            return {"type": "Tuple", "args": [_schema(element) for element in param.params]}
        case spec.Array():
            return {"type": "ffi.Array", "args": [_ANY]}
        case spec.Map():
            return {"type": "ffi.Map", "args": [_ANY, _ANY]}
        case spec.Object(type_key=key):
            return {"type": key or "ffi.Object"}
        case _:
            return {"type": _PLAIN[type(param)]}


def _described(param: spec.Param) -> Iterator[tuple[str, object]]:
    yield "name", param.name
    if param.default is not spec.MISSING:
        yield "default", _value(param.default)
    if param.kw_only:
        yield "kw_only", True
    if param.doc:
        yield "doc", param.doc


def _value(value: object) -> object:
    """A default as JSON; :func:`ffi_builder.runtime` reads it back."""
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float and math.isfinite(value):
        return value
    if type(value) in (tuple, list):
        items = [_value(item) for item in cast("Sequence[object]", value)]
        return {"tuple": items} if isinstance(value, tuple) else items
    if type(value) is float:
        return {"float": repr(value)}
    return {"repr": repr(value)}
