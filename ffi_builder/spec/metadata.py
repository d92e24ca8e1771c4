"""The JSON that describes a wrapper to Python callers and tools.

The text is the LLVM function attribute ``"ffi-builder-metadata"``, which MLIR and LLVM IR keep, in
memory and as text; an exported library returns it from ``__tvm_ffi__metadata_<name>``.
``type_schema`` is tvm-ffi's own description of a function, for its tools (in a library it is a
string that contains JSON); ``ffi_builder`` has the rest::

    {"type_schema": {"type": "ffi.Function", …}, "ffi_builder": {
        "name": "scale", "format": 1, "doc": "…", "borrows": true,
        "params": [
            {"name": "x", "type": "Tensor([n], float32, device_type=cpu)", "kind": "Tensor",
             "intent": "in"},
            {"name": "factor", "type": "Optional(float32)", "kind": "float32", "optional": true,
             "default": 2.0, "kw_only": true, "doc": "…"},
            {"name": "mode", "type": "Choice({'up': 1})", "kind": "Choice", "choices": ["up"]},
            {"name": "v", "type": "Variant(int64, String)", "kind": "Variant",
             "kinds": ["int64", "String"]},
            {"name": "l", "type": "List(int64, n)", "kind": "List", "dtype": "int64"},
            {"name": "c", "type": "Literal[3]", "kind": "Literal", "value": 3},
            {"name": "p", "type": "Tuple(a: int8)", "kind": "Tuple",
             "elements": [{"name": "a", "kind": "int8"}]},
            {"name": "s", "type": "EnvStream", "kind": "EnvStream", "hidden": true}],
        "returns": {"name": "t", "type": "int64", "kind": "int64"},
        "where": "n % 2 == 0, n <= m, no_overlap(x)"}}

``type`` is for people; programs use ``kind`` and the fields beside it. ``returns`` is a list if the
function returns a tuple, and absent if it returns nothing. ``"destroy": "name"`` of a handle is the
function that destroys what it points to, and ``"pointee": "struct s"`` is what that is in C.
``borrows`` says that the kernel uses tensors only during the call, ``"holds_gil": true`` that the
wrapper takes Python's GIL for it. Callers do not pass ``hidden`` parameters. Values that JSON lacks
are written as ``{"tuple": […]}``, ``{"dict": [[key, value], …]}``, ``{"float": "inf"}`` and
``{"bytes": "00ff"}``, other defaults as ``{"repr": "…"}``. :mod:`ffi_builder.runtime.metadata`
reads the text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, Final, cast

from ffi_builder.protocol import METADATA_FORMAT
from ffi_builder.records import dataclass
from ffi_builder.spec import params as kinds
from ffi_builder.spec.composite import (
    HIDDEN,
    Optional,
    Param,
    Struct,
    TupleParam,
    required,
    takes_more,
)
from ffi_builder.spec.defaults import passed
from ffi_builder.spec.expr import Var
from ffi_builder.spec.lists import List
from ffi_builder.spec.numbers import FLOAT_DTYPES
from ffi_builder.spec.param import MISSING
from ffi_builder.spec.results import Result
from ffi_builder.spec.tensors.tensor import Tensor
from ffi_builder.spec.tensors.tensor_list import TensorList
from ffi_builder.spec.variant import Variant

_SCALARS: Final = {"bool": "bool", "handle": "void*", **dict.fromkeys(FLOAT_DTYPES, "float")}
_SCHEMAS: Final = {
    "Tensor": "ffi.Tensor",
    "Shape": "ffi.Shape",
    "Stream": "void*",
    "DataPointer": "void*",
    "ConstNone": "None",
    "ConstInt": "int",
    "ConstBool": "bool",
    "ConstFloat": "float",
    "Choice": "ffi.String",
    "String": "ffi.String",
    "Bytes": "ffi.Bytes",
    "DType": "DataType",
    "Device": "Device",
    "Function": "ffi.Function",
}
"""tvm-ffi's names of types; all other kinds are Any."""
_ANY: Final = {"type": "Any"}
_compact: Final = json.JSONEncoder(separators=(",", ":")).encode
_LONGEST: Final = 80
"""The most characters of the repr of a default."""


@dataclass(frozen=True)
class MetadataText:
    """The JSON text for a signature, apart from the function's name."""

    schema: str
    own: str
    """The members of ``ffi_builder`` after the name."""

    def of(self, name: str) -> str:
        """Return the text for a function of this name."""
        own = f'{{"name":{_compact(name)},{self.own}}}'
        return f'{{"type_schema":{self.schema},"ffi_builder":{own}}}'


def metadata_text(
    params: Sequence[Param],
    returns: Result | Sequence[Result] | None,
    doc: str,
    constraints: str,
    *,
    borrows_tensors: bool,
    holds_gil: bool = False,
) -> MetadataText:
    """Return the metadata of a signature with these fields; ``constraints`` is a text.

    ``borrows_tensors`` says that the kernel uses tensors only during the call, ``holds_gil`` that
    the wrapper takes Python's GIL for it.
    """
    schema: dict[str, Any] = {"type": "ffi.Function"}
    arguments = [param for param in params if not isinstance(param, HIDDEN)]
    if not takes_more(arguments):  # tvm-ffi's says no more, either
        schema = _schema_of_function(arguments, returns)
    own: dict[str, object] = {"format": METADATA_FORMAT}
    own |= _true(borrows=borrows_tensors, holds_gil=holds_gil, doc=doc)
    own["params"] = [_param(param) for param in params]
    if isinstance(returns, Sequence):
        own["returns"] = [_typed(result) for result in returns]
    elif returns is not None:
        own["returns"] = _typed(returns)
    own |= _true(where=constraints)
    return MetadataText(_compact(schema), _compact(own)[1:-1])


def _true(**members: object) -> dict[str, object]:
    """Return the members that say something."""
    return {name: value for name, value in members.items() if value}


def _param(param: Param) -> dict[str, object]:
    described = _typed(param) | _true(hidden=isinstance(param, HIDDEN))
    if param.default is not MISSING:
        described["default"] = _value(param.default, param)
    return described | _true(kw_only=param.kw_only, doc=param.doc)


def _typed(param: Param) -> dict[str, object]:
    return {"name": param.name, "type": param.type_text(), **_kind(param)}


def _kind(param: Param) -> dict[str, object]:
    """Return the kind of a parameter, and the fields that belong to the kind."""
    inner = required(param)
    more = _true(optional=isinstance(param, Optional))
    match inner:
        case Var(dtype=dtype):
            own = _true(destroy=inner.destroy, pointee=inner.pointee)
            return {"kind": dtype, **more, **own}
        case TupleParam() | Struct():
            more["elements"] = [{"name": each.name, **_kind(each)} for each in inner.params]
        case kinds.ConstNone():
            more["value"] = None
        case kinds.ConstInt() | kinds.ConstBool() | kinds.ConstFloat():
            more["value"] = _value(inner.value)
        case kinds.Choice(choices=choices):
            more["choices"] = list(choices)
        case List(dtype=dtype):
            more["dtype"] = dtype.type_text() if isinstance(dtype, List) else dtype
        case Variant(params=params):
            inside = [_kind(each) for each in params]
            more["kinds"] = [each["kind"] for each in inside]
            for intent in (each["intent"] for each in inside if "intent" in each):
                more["intent"] = intent
        case Tensor(intent=str(intent)) | TensorList(tensor=Tensor(intent=str(intent))):
            more["intent"] = intent
        case _:
            pass
    return {"kind": inner.type_name, **more}


def _returned_schema(returns: Result | Sequence[Result] | None) -> dict[str, Any]:
    """Return tvm-ffi's type of the results."""
    if returns is None:
        return {"type": "None"}
    if isinstance(returns, Sequence):
        return {"type": "Tuple", "args": [_schema(result) for result in returns]}
    return _schema(returns)


def _schema_of_function(
    params: Sequence[Any], returns: Result | Sequence[Result] | None
) -> dict[str, Any]:
    named = {"return": [_returned_schema(returns)], "params": [_schema(each) for each in params]}
    return {"type": "ffi.Function", "named_args": named}


def _schema(given: Any) -> dict[str, Any]:
    """Return tvm-ffi's type of an argument."""
    param: Param = given
    match param:
        case Optional(param=inner):
            return {"type": "Optional", "args": [_schema(inner)]}
        case Var(dtype=dtype):
            return {"type": _SCALARS.get(dtype, "int")}
        case TupleParam() | Struct():
            return {"type": "Tuple", "args": [_schema(element) for element in param.params]}
        case Variant(params=params):
            return {"type": "Variant", "args": [_schema(each) for each in params]}
        case TensorList():
            return {"type": "ffi.Array", "args": [{"type": _SCHEMAS["Tensor"]}]}
        case List(element=element, mutable=mutable):
            return {"type": "ffi.List" if mutable else "ffi.Array", "args": [_schema(element)]}
        case kinds.Array(of=of):
            return {"type": "ffi.Array", "args": [_ANY if of is None else _schema(of)]}
        case kinds.Map(items=items, mutable=mutable):
            both = [_ANY, _ANY] if items is None else [_schema(each) for each in items]
            return {"type": "ffi.Dict" if mutable else "ffi.Map", "args": both}
        case kinds.Function(params=params, returns=returns) if params is not None:
            return _schema_of_function(params, cast("Result | None", returns))
        case kinds.Object(type_key=key):
            return {"type": key or "ffi.Object"}
        case _:
            return {"type": _SCHEMAS.get(type(param).__name__, "Any")}


def _value(value: object, param: Param | None = None) -> object:
    """Convert a default, or the plain value that it stands for, to JSON."""
    inner = None if param is None else required(param)
    value = passed(inner, value)
    match value:
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
            return _values(cast("list[object]", value), inner)
        case tuple():
            return {"tuple": _values(cast("tuple[object, ...]", value), inner)}
        case dict():
            pairs = cast("dict[object, object]", value).items()
            return {"dict": [[_value(key), _value(item)] for key, item in pairs]}
        case _:
            return value if type(value) is str else _unwritable(repr(value))


def _values(values: Sequence[object], param: Param | None) -> list[object]:
    params = param.params if isinstance(param, (Struct, TupleParam)) else ()
    elements = params if len(params) == len(values) else [None] * len(values)
    return [_value(value, element) for value, element in zip(values, elements, strict=True)]


def _unwritable(shown: str) -> object:
    return {"repr": shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"}
