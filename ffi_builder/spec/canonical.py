"""Signatures as text: the canonical one, and the outline that errors show.

:mod:`ffi_builder.spec.parse` reads both back. The grammar is in docs/signatures.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from typing_extensions import assert_never

from ffi_builder.spec.composite import Optional, Param, Struct, TupleParam, required, with_paths
from ffi_builder.spec.expr import Dim, Var, variables
from ffi_builder.spec.params import (
    ConstBool,
    ConstFloat,
    ConstInt,
    ConstNone,
    DataPointer,
    EnvStream,
    Shape,
    Stream,
)
from ffi_builder.spec.results import Result
from ffi_builder.spec.tensor import Tensor, show_entries
from ffi_builder.spec.values import (
    Array,
    Bytes,
    Choice,
    Device,
    DType,
    Function,
    Map,
    Object,
    String,
)


def canonical_text(
    name: str,
    params: Sequence[Param],
    returns: Result | Sequence[Result] | None,
    device: str | None,
) -> str:
    """The whole text; tensors on ``device`` do not say theirs."""

    def show(param: Param) -> str:
        return type_text(param, device)

    constraints = constraints_text(params)
    where = f" where {constraints}" if constraints else ""
    return f"{name}({_params_text(params, show)}){_results_text(returns, show)}{where}"


def type_text(param: Param, device: str | None = None) -> str:
    """The canonical text of a parameter's type; tensors on ``device`` do not say theirs."""
    return _type_text(
        param,
        lambda inner: type_text(inner, device),
        lambda tensor: _tensor_parts(tensor, device),
    )


def constraints_text(params: Sequence[Param]) -> str:
    """What is required of symbols: ``n % 2 == 0, m <= 8``; empty if nothing is."""
    scalars = {item for _, param in with_paths(params) if isinstance(item := required(param), Var)}
    symbols = dict.fromkeys(var for entry in entries_of(params) for var in variables(entry))
    return ", ".join(text for var in symbols for text in _constraints(var, var not in scalars))


def outline(param: Param) -> str:
    """The type that errors show: of a tensor its shape, dtype and given strides alone."""
    if isinstance(param, DataPointer):
        return "DataPointer"
    return _type_text(param, outline, _tensor_outline)


def _results_text(returns: Result | Sequence[Result] | None, show: Callable[[Param], str]) -> str:
    if returns is None:
        return ""
    if isinstance(returns, (Var, Tensor)):
        return f" -> {_params_text([returns], show)}"
    return f" -> ({_params_text(returns, show)})"


def results_text(returns: Result | Sequence[Result] | None) -> str:
    """What is returned, as errors show it: ``t: int32`` or ``(y: Tensor([n], float32), …)``."""
    return _results_text(returns, outline).removeprefix(" -> ") or "None"


def _params_text(params: Sequence[Param], show: Callable[[Param], str]) -> str:
    return ", ".join(f"{param.name}: {show(param)}" for param in params)


def _type_text(
    param: Param, show: Callable[[Param], str], tensor_parts: Callable[[Tensor], Iterator[str]]
) -> str:
    """``show`` gives the text of what is inside."""
    match param:
        case Var():
            return param.dtype
        case Tensor():
            return f"Tensor({', '.join(tensor_parts(param))})"
        case Shape():
            return f"Shape({_entries_text(param.shape)})"
        case TupleParam() | Struct():
            kind = "Tuple" if isinstance(param, TupleParam) else "Struct"
            return f"{kind}({_params_text(param.params, show)})"
        case Optional():
            return f"Optional({show(param.param)})"
        case ConstNone():
            return "None"
        case ConstInt() | ConstBool() | ConstFloat():
            return f"Literal[{param.value!r}]"
        case DataPointer():
            space = param.address_space
            return "DataPointer" if space is None else f"DataPointer(address_space={space})"
        case Choice():
            choices = ", ".join(f"'{choice}': {value}" for choice, value in param.choices.items())
            dtype = "" if param.dtype == "int32" else f", {param.dtype}"
            return f"Choice({{{choices}}}{dtype})"
        case Object():
            return "Object" if param.type_key is None else f"Object('{param.type_key}')"
        case (
            Stream() | EnvStream() | String() | Bytes() | DType() | Device() | Function() | Array()
        ) | Map():
            return type(param).__name__
        case _:
            assert_never(param)


def _tensor_parts(tensor: Tensor, device: str | None) -> Iterator[str]:
    yield "..." if tensor.any_rank else _entries_text(tensor.dims)
    yield " | ".join(tensor.dtypes)
    if isinstance(tensor.strides, str):
        yield f"strides={tensor.strides}"
    elif tensor.stride_entries is not None:
        yield f"strides={_entries_text(tensor.stride_entries)}"
    if tensor.device != device:
        yield f"device_type={tensor.device}"
    if tensor.device_id is not None:
        yield f"device_id={_entry_text(tensor.device_id)}"
    for field in ("data_alignment", "storage_dtype", "intent"):
        value = getattr(tensor, field)
        if value is not None:
            yield f"{field}={value}"


def _tensor_outline(tensor: Tensor) -> Iterator[str]:
    yield "..." if tensor.any_rank else show_entries(tensor.dims)
    yield " | ".join(tensor.dtypes)
    if isinstance(tensor.strides, str):
        yield f"strides={tensor.strides}"
    elif tensor.stride_entries is not None:
        yield f"strides={show_entries(tensor.stride_entries)}"


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


def entries_of(params: Sequence[Param]) -> Iterator[object]:
    """Everything that may mention a symbol, in order."""
    for _, param in with_paths(params):
        match required(param):
            case Var() as var:
                yield var
            case Tensor() as tensor:
                yield from (*tensor.dims, *(tensor.stride_entries or ()), tensor.device_id)
            case Shape(shape=shape):
                yield from shape
            case _:
                pass
