"""Scalar results of wrappers, taken from what a callee returns."""

from __future__ import annotations

from collections.abc import Sequence

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.ir import Type, Value
from ffi_builder.packed.anys import release_any
from ffi_builder.packed.results import take_scalar
from ffi_builder.providers.context import CallContext


def scalar_results(context: CallContext) -> list[spec.Var]:
    """Return the results that are not tensors, in order."""
    return [result for result in context.signature.results if isinstance(result, spec.Var)]


def result_type(
    provider: str, context: CallContext, callee: str, scalars: Sequence[spec.Var]
) -> Type:
    """Return the callee's result type: the type of one scalar, or a struct of several.

    Raises:
        BuildError: if a status is wanted, or if a C function would have to return the struct.
    """
    t = context.builder.types
    types = [t.scalar(scalar.dtype) for scalar in scalars]
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
    scalars: Sequence[spec.Var],
    wanted: Type,
) -> None:
    """Set the context's results to what the callee returned.

    Raises:
        BuildError: if it is not of the type ``wanted``, which :func:`result_type` returns.
    """
    b = context.builder
    if value is None or value.type != wanted:
        given = "nothing" if value is None else str(value.type)
        shown = ", ".join(f"{scalar.name}: {scalar.dtype}" for scalar in scalars)
        raise BuildError(
            f"{provider}: the callee @{callee} returns {given}, but {context.fn_name!r} returns "
            f"{shown}, for which it must return {wanted}"
        )
    if len(scalars) == 1:
        context.results = [value]
    else:
        types = [b.types.scalar(scalar.dtype) for scalar in scalars]
        context.results = [b.extract(value, i, type_) for i, type_ in enumerate(types)]


def take_any(provider: str, context: CallContext, came: Value) -> None:
    """Convert what a TVM-FFI function returned to the wrapper's result; objects are released.

    Raises:
        BuildError: if there are several scalar results, since such a function returns one value.
    """
    scalars = scalar_results(context)
    if len(scalars) > 1:
        raise BuildError(
            f"{provider}: the callee returns one value, but {context.fn_name!r} returns "
            f"{', '.join(scalar.name for scalar in scalars)}"
        )
    b = context.builder
    if scalars:
        context.results = [take_scalar(b, scalars[0].dtype, f"for {scalars[0].name}", came)]
    else:
        release_any(b, came)
