"""Describes a wrapper to Python callers and tools, as JSON.

The text is the LLVM function attribute ``"ffi-builder-metadata"``, which MLIR, LLVM IR and their
texts keep; an exported library returns it from ``__tvm_ffi__metadata_<name>``. ``type_schema`` is
tvm-ffi's own description of a function, for its tools (in a library it is a string that contains
JSON); ``ffi_builder`` has the rest::

    {"type_schema": {"type": "ffi.Function", …}, "ffi_builder": {
        "name": "scale", "format": 1, "doc": "…", "borrows": true,
        "params": [
            {"name": "x", "type": "Tensor([n], float32, device_type=cpu)", "kind": "Tensor",
             "intent": "in"},
            {"name": "factor", "type": "Optional(float32)", "kind": "float32", "optional": true,
             "default": 2.0, "kw_only": true, "doc": "…"},
            {"name": "mode", "type": "Choice({'up': 1})", "kind": "Choice", "choices": ["up"]},
            {"name": "c", "type": "Literal[3]", "kind": "Literal", "value": 3},
            {"name": "p", "type": "Tuple(a: int8)", "kind": "Tuple",
             "elements": [{"name": "a", "kind": "int8"}]},
            {"name": "s", "type": "EnvStream", "kind": "EnvStream", "hidden": true}],
        "returns": {"name": "t", "type": "int64", "kind": "int64"},
        "where": "n % 2 == 0"}}

``type`` is for people; programs use ``kind`` and the fields beside it. ``returns`` is a list if
the function returns a tuple, and absent if it returns nothing. ``borrows`` says that the kernel
uses tensors only during the call. Callers do not pass ``hidden``
parameters. Values that JSON lacks are written as ``{"tuple": […]}``,
``{"dict": [[key, value], …]}``, ``{"float": "inf"}`` and ``{"bytes": "00ff"}``, other defaults as
``{"repr": "…"}``. :mod:`ffi_builder.runtime.metadata` reads it.
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
from ffi_builder.protocol import METADATA_FORMAT
from ffi_builder.spec.canonical import constraints_text

_SCALARS: Final = {"bool": "bool", "handle": "void*", **dict.fromkeys(spec.FLOAT_DTYPES, "float")}
_SCHEMAS: Final[dict[type, str]] = {
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
"""tvm-ffi's names of types; all other kinds are Any."""
_ANY: Final = {"type": "Any"}
_compact: Final = json.JSONEncoder(separators=(",", ":")).encode
_LONGEST: Final = 80
"""The most characters of the repr of a default."""


@dataclass(frozen=True)
class Metadata:
    """The JSON text of a signature, apart from the function's name."""

    schema: str
    own: str
    """The members of ``ffi_builder`` after the name."""

    def of(self, name: str) -> str:
        """Return the text for a function of this name."""
        own = f'{{"name":{_compact(name)},{self.own}}}'
        return f'{{"type_schema":{self.schema},"ffi_builder":{own}}}'


def metadata(signature: spec.Signature, *, borrows: bool = False) -> Metadata:
    """Return the metadata of a signature, for a function of any name.

    ``borrows`` says that the kernel uses tensors only during the call, as the provider promises.
    """
    params = [_schema(param) for param in signature.arguments]
    schema = {
        "type": "ffi.Function",
        "named_args": {"return": [_returned_schema(signature)], "params": params},
    }
    return Metadata(_compact(schema), _compact(dict(_own(signature, borrows)))[1:-1])


def _own(signature: spec.Signature, borrows: bool) -> Iterator[tuple[str, object]]:
    yield "format", METADATA_FORMAT
    if borrows:
        yield "borrows", True
    if signature.doc:
        yield "doc", signature.doc
    yield "params", [_param(param) for param in signature.params]
    if isinstance(signature.returns, tuple):
        yield "returns", [_typed(result) for result in signature.results]
    elif signature.results:
        yield "returns", _typed(signature.results[0])
    where = constraints_text(signature.params)
    if where:
        yield "where", where


def _param(param: spec.Param) -> dict[str, object]:
    described = _typed(param)
    if isinstance(param, spec.HIDDEN):
        described["hidden"] = True
    if param.default is not spec.MISSING:
        described["default"] = _value(param.default, param)
    if param.kw_only:
        described["kw_only"] = True
    if param.doc:
        described["doc"] = param.doc
    return described


def _typed(param: spec.Param) -> dict[str, object]:
    return {"name": param.name, "type": param.type_text(), **_kind(param)}


def _kind(param: spec.Param) -> dict[str, object]:
    """Return the kind of a parameter, with its own fields; a plain kind has none."""
    inner = spec.required(param)
    more: dict[str, object] = {"optional": True} if isinstance(param, spec.Optional) else {}
    match inner:
        case spec.Var(dtype=dtype):
            return {"kind": dtype, **more}
        case spec.TupleParam() | spec.Struct():
            more["elements"] = [{"name": each.name, **_kind(each)} for each in inner.params]
        case spec.ConstNone():
            more["value"] = None
        case spec.ConstInt() | spec.ConstBool() | spec.ConstFloat():
            more["value"] = _value(inner.value)
        case spec.Choice(choices=choices):
            more["choices"] = list(choices)
        case spec.Tensor(intent=str(intent)):
            more["intent"] = intent
        case _:
            pass
    return {"kind": inner.type_name, **more}


def _returned_schema(signature: spec.Signature) -> dict[str, Any]:
    """Return tvm-ffi's type of the results."""
    results = [_schema(result) for result in signature.results]
    if isinstance(signature.returns, tuple):
        return {"type": "Tuple", "args": results}
    return results[0] if results else {"type": "None"}


def _schema(param: spec.Param) -> dict[str, Any]:
    """Return tvm-ffi's type of an argument."""
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
            return {"type": _SCHEMAS.get(type(param), "Any")}


def _value(value: object, param: spec.Param | None = None) -> object:
    """Convert a default to JSON.

    An enumerator becomes its value (its name for a Choice of ints), and a dataclass or NamedTuple
    the tuple that is passed for it.
    """
    match value:
        case enum.Enum():
            by_name = isinstance(_required(param), spec.Choice) and type(value.value) is not str
            return _value(value.name if by_name else value.value)
        case None | bool():
            return value
        case Integral():
            number = int(value)
            # No parameter takes a larger one, and Python refuses to print more than 4300 digits.
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
