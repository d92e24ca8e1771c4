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

Defaults that JSON has no value for stand as ``{"tuple": […]}``, ``{"dict": [[key, value], …]}``,
``{"float": "inf"}``, ``{"bytes": "00ff"}``; what cannot be written as ``{"repr": "…"}``.
"""

from __future__ import annotations

import enum
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from numbers import Integral, Real
from typing import Any, Final, cast

from ffi_builder import spec

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
_LONGEST: Final = 80
"""How much is shown of a default that cannot be written."""


@dataclass(frozen=True)
class Metadata:
    """The JSON text for a function of any name."""

    schema: str
    signature: str
    """Without the name, with which it begins."""
    more: str

    def of(self, name: str) -> str:
        """The text for a function."""
        signature = json.dumps(name + self.signature)
        return (
            f'{{"type_schema":{self.schema},"ffi_builder":{{"signature":{signature},{self.more}}}}}'
        )


def metadata(signature: spec.Signature) -> Metadata:
    """What there is to say of a signature."""
    params = [_schema(param) for param in signature.arguments]
    named = {"return": [_returned(signature)], "params": params}
    more: dict[str, object] = {"doc": signature.doc} if signature.doc else {}
    more["params"] = [dict(_described(param)) for param in signature.arguments]
    schema = {"type": "ffi.Function", "named_args": named}
    text = str(signature).removeprefix(signature.name)
    return Metadata(_compact(schema), text, _compact(more)[1:-1])


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _returned(signature: spec.Signature) -> dict[str, Any]:
    """tvm-ffi's type of what is returned. A provider may return more than None without saying."""
    results = [_schema(result) for result in signature.results]
    if isinstance(signature.returns, tuple):
        return {"type": "Tuple", "args": results}
    return results[0] if results else {"type": "None"}


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
        yield "default", _value(param.default, param)
    if param.kw_only:
        yield "kw_only", True
    if param.doc:
        yield "doc", param.doc


def _value(value: object, param: spec.Param | None = None) -> object:
    """A default as JSON; :func:`ffi_builder.runtime` reads it back.

    An enumerator is what it stands for, a dataclass or NamedTuple the tuple that is passed for it.
    """
    match value:
        case enum.Enum():
            by_name = isinstance(_required(param), spec.Choice) and type(value.value) is not str
            return _value(value.name if by_name else value.value)
        case None | bool():
            return value
        case Integral():
            number = int(value)
            # No parameter takes a larger one, and Python refuses to write those of 4300 digits.
            return number if number.bit_length() <= 64 else _unwritable(hex(number))
        case Real():
            number = float(value)
            return number if math.isfinite(number) else {"float": repr(number)}
        case bytes():
            return {"bytes": value.hex()}
        case list():
            return _values(cast("list[object]", value), param)
        case tuple():
            return {"tuple": _values(cast("tuple[object, ...]", value), param)}
        case dict():
            pairs = cast("dict[object, object]", value).items()
            return {"dict": [[_value(key), _value(item)] for key, item in pairs]}
        case _:
            if type(value) is str:
                return value
            if is_dataclass(value) and not isinstance(value, type):
                items = [getattr(value, item.name) for item in fields(value)]
                return {"tuple": _values(items, param)}
            return _unwritable(repr(value))


def _values(values: Sequence[object], param: spec.Param | None) -> list[object]:
    inner = _required(param)
    params: Sequence[spec.Param | None] = ()
    if isinstance(inner, (spec.Struct, spec.TupleParam)):
        params = inner.params
    if len(params) != len(values):
        params = [None] * len(values)
    return [_value(value, element) for value, element in zip(values, params, strict=True)]


def _required(param: spec.Param | None) -> spec.Param | None:
    return None if param is None else spec.required(param)


def _unwritable(shown: str) -> object:
    return {"repr": shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"}
