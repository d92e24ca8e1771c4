"""The canonical text of a signature, which :mod:`ffi_builder.spec.parse` reads back.

The grammar is in docs/signatures.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from typing_extensions import assert_never

from ffi_builder.spec.expr import Dim, Var, variables
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
from ffi_builder.spec.tensor import Tensor


def canonical_text(name: str, params: Sequence[Param], device: str | None) -> str:
    """The whole text; tensors on ``device`` do not say theirs."""
    scalars = set(_scalars(params))
    symbols = dict.fromkeys(var for entry in entries_of(params) for var in variables(entry))
    constraints = [text for var in symbols for text in _constraints(var, var not in scalars)]
    where = f" where {', '.join(constraints)}" if constraints else ""
    return f"{name}({_params_text(params, device)}){where}"


def _params_text(params: Sequence[Param], device: str | None) -> str:
    return ", ".join(f"{param.name}: {_type_text(param, device)}" for param in params)


def _type_text(param: Param, device: str | None) -> str:
    match param:
        case Var():
            return param.dtype
        case Tensor():
            return f"Tensor({', '.join(_tensor_parts(param, device))})"
        case Shape():
            return f"Shape({_entries_text(param.shape)})"
        case TupleParam():
            return f"Tuple({_params_text(param.params, device)})"
        case ConstNone():
            return "None"
        case ConstInt() | ConstBool() | ConstFloat():
            return f"Literal[{param.value!r}]"
        case DataPointer():
            space = param.address_space
            return "DataPointer" if space is None else f"DataPointer(address_space={space})"
        case Stream() | EnvStream():
            return type(param).__name__
        case _:
            assert_never(param)


def _tensor_parts(tensor: Tensor, device: str | None) -> Iterator[str]:
    yield _entries_text(tensor.shape)
    yield tensor.dtype
    if tensor.stride_entries is not None:
        yield f"strides={_entries_text(tensor.stride_entries)}"
    if tensor.device != device:
        yield f"device_type={tensor.device}"
    if tensor.device_id is not None:
        yield f"device_id={_entry_text(tensor.device_id)}"
    for field in ("data_alignment", "storage_dtype", "intent"):
        value = getattr(tensor, field)
        if value is not None:
            yield f"{field}={value}"


def _entries_text(entries: Sequence[Dim | None]) -> str:
    return f"[{', '.join(map(_entry_text, entries))}]"


def _entry_text(entry: Dim | None) -> str:
    # In quotes it is a name, without them it is what stands for nothing.
    return "'None'" if isinstance(entry, Var) and entry.name == "None" else str(entry)


def _constraints(var: Var, tell_dtype: bool) -> Iterator[str]:
    if tell_dtype and var.dtype != "int64":
        yield f"{var.name}: {var.dtype}"
    if var.divisibility is not None:
        yield f"{var.name} % {var.divisibility} == 0"
    least = "" if var.min is None else f"{var.min} <= "
    greatest = "" if var.max is None else f" <= {var.max}"
    if least or greatest:
        yield f"{least}{var.name}{greatest}"


def _scalars(params: Sequence[Param]) -> Iterator[Var]:
    for param in params:
        if isinstance(param, Var):
            yield param
        elif isinstance(param, TupleParam):
            yield from _scalars(param.params)


def entries_of(params: Sequence[Param]) -> Iterator[object]:
    """Everything that may mention a symbol, in order."""
    for param in params:
        match param:
            case Var():
                yield param
            case Tensor():
                yield from (*param.shape, *(param.stride_entries or ()), param.device_id)
            case Shape():
                yield from param.shape
            case TupleParam():
                yield from entries_of(param.params)
            case _:
                pass
