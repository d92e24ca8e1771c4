"""Scalar results of wrappers, taken from what a callee returns or has written."""

from __future__ import annotations

from collections.abc import Sequence

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.ir import Types, Value
from ffi_builder.ir.protocols import Type
from ffi_builder.packed.anys import release_any, take_scalar
from ffi_builder.providers.context import CallContext, OwnedAny
from ffi_builder.spec.results import HandedOver


def value_results(context: CallContext) -> list[HandedOver]:
    """Return the results that the provider hands over, in order: all but tensors and shapes."""
    made = (spec.Tensor, spec.Shape)
    return [result for result in context.signature.results if not isinstance(result, made)]


def value_type(t: Types, result: HandedOver) -> Type:
    """Return the type of a result's value; a str or bytes is a struct of pointer and length."""
    match result:
        case spec.Var(dtype=dtype):
            return t.scalar(dtype)
        case spec.String() | spec.Bytes():
            return t.struct([t.ptr, t.i64])
        case spec.DType():  # a DLDataType, of four bytes
            return t.i32
        case spec.Device():  # a DLDevice, of eight
            return t.i64
        case _:
            return t.ptr


def _storage(t: Types, result: HandedOver) -> Type:
    """Return the type of a result in memory, where a bool is a byte."""
    is_bool = isinstance(result, spec.Var) and result.dtype == "bool"
    return t.i8 if is_bool else value_type(t, result)


def result_pointer(context: CallContext, result: HandedOver, start: Value | None = None) -> Value:
    """Return the address of ``start`` on the stack, or zeros, which the callee overwrites."""
    found = context.places.get(result.name)
    if found is None:
        b = context.builder
        type_ = _storage(b.types, result)
        first = b.zero(type_) if start is None else start
        context.places[result.name] = found = b.alloca(type_)
        b.store(b.zext(first, type_) if first.type != type_ else first, found)
    return found


def set_results(context: CallContext, returned: Sequence[Value] = ()) -> None:
    """Set the context's results to the values that the callee has written or returned."""
    b, rest = context.builder, iter(returned)
    values: list[Value] = []
    for result in value_results(context):
        place = context.places.get(result.name)
        if place is None:
            values.append(next(rest))
            continue
        type_ = _storage(b.types, result)
        value = b.load(type_, place)
        values.append(value if type_ == value_type(b.types, result) else b.ne(value, b.zero(type_)))
    context.results = values or None


def result_type(
    provider: str, context: CallContext, callee: str, scalars: Sequence[HandedOver]
) -> Type:
    """Return the callee's result type: the type of one scalar, or a struct of several.

    Raises:
        BuildError: if a status is wanted, or if a C function would have to return the struct.
    """
    t = context.builder.types
    types = [value_type(t, scalar) for scalar in scalars]
    names = ", ".join(scalar.name for scalar in scalars)
    if context.status_wanted:
        raise BuildError(
            f"CheckStatus: the callee @{callee} returns the result {names}, so it cannot return a "
            f"status; with {names} in args=, it gets a pointer to write each result to"
        )
    if len(types) == 1:
        return types[0]
    if callee not in context.symbols:
        # LLVM and the C ABI return structs in different registers.
        raise BuildError(
            f"{provider}: the callee @{callee} is not in the module, and C functions return "
            f"structs in another way than LLVM does, so it cannot return {names}; with {names} in "
            f"args=, it gets a pointer to write each result to"
        )
    return t.struct(types)


def take_results(
    provider: str,
    context: CallContext,
    callee: str,
    value: Value | None,
    scalars: Sequence[HandedOver],
    wanted: Type,
) -> list[Value]:
    """Return the results that the callee returned.

    Raises:
        BuildError: if ``value`` is not of the type ``wanted``, which :func:`result_type` returns.
    """
    b = context.builder
    if value is None or value.type != wanted:
        given = "nothing" if value is None else str(value.type)
        shown = ", ".join(f"{scalar.name}: {spec.outline(scalar)}" for scalar in scalars)
        raise BuildError(
            f"{provider}: the callee @{callee} returns {given}, but {context.fn_name!r} returns "
            f"{shown}, for which it must return {wanted}"
        )
    if len(scalars) == 1:
        return [value]
    types = [value_type(b.types, scalar) for scalar in scalars]
    return [b.extract(value, i, type_) for i, type_ in enumerate(types)]


def take_any(provider: str, context: CallContext, came: Value) -> None:
    """Convert the result of a TVM-FFI function to the wrapper's result.

    Raises:
        BuildError: if there are several scalar results, since such a function returns one value.
    """
    scalars = value_results(context)
    if len(scalars) > 1:
        raise BuildError(
            f"{provider}: the callee returns one value, but {context.fn_name!r} returns "
            f"{', '.join(scalar.name for scalar in scalars)}"
        )
    b = context.builder
    if not scalars:
        release_any(b, came)
        return
    result = scalars[0]
    if isinstance(result, spec.Var):
        context.results = [take_scalar(b, result.dtype, f"for {result.name}", came)]
    else:
        context.results = [OwnedAny(came)]
