"""Scalar results of wrappers, taken from what a callee returns."""

from __future__ import annotations

from collections.abc import Sequence

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.ir import Type, Types, Value
from ffi_builder.packed.anys import release_any
from ffi_builder.packed.results import check_owned, take_scalar
from ffi_builder.providers.context import CallContext, OwnedAny


def value_results(context: CallContext) -> list[spec.HandedOver]:
    """Return the results that the provider hands over, in order: all but tensors and shapes."""
    made = (spec.Tensor, spec.Shape)
    return [result for result in context.signature.results if not isinstance(result, made)]


def value_type(t: Types, result: spec.HandedOver) -> Type:
    """Return the type of a result's value: of a str or bytes, a struct of pointer and length."""
    match result:
        case spec.Var(dtype=dtype):
            return t.scalar(dtype)
        case spec.String() | spec.Bytes():
            return t.struct([t.ptr, t.i64])
        case _:
            return t.ptr


def result_type(
    provider: str, context: CallContext, callee: str, scalars: Sequence[spec.HandedOver]
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
            f"status; DynamicParamPackCallProvider passes pointers to write results to"
        )
    if len(types) == 1:
        return types[0]
    if callee not in context.symbols:
        # LLVM chooses the registers of a returned struct itself, not as the C ABI does.
        raise BuildError(
            f"{provider}: the callee @{callee} is not in the module, and C functions return "
            f"structs in another way than LLVM does, so it cannot return {names}; "
            f"DynamicParamPackCallProvider passes pointers to write results to"
        )
    return t.struct(types)


def take_results(
    provider: str,
    context: CallContext,
    callee: str,
    value: Value | None,
    scalars: Sequence[spec.HandedOver],
    wanted: Type,
) -> None:
    """Set the context's results to what the callee returned.

    Raises:
        BuildError: if it is not of the type ``wanted``, which :func:`result_type` returns.
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
        context.results = [value]
    else:
        types = [value_type(b.types, scalar) for scalar in scalars]
        context.results = [b.extract(value, i, type_) for i, type_ in enumerate(types)]


def take_any(provider: str, context: CallContext, came: Value) -> None:
    """Convert what a TVM-FFI function returned to the wrapper's result; objects are released.

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
    of = f"for {result.name}"
    if isinstance(result, spec.Var):
        context.results = [take_scalar(b, result.dtype, of, came)]
    else:
        check_owned(b, result, of, came)
        context.results = [OwnedAny(came)]
