"""Calling a function that is in the module or linked with it."""

from __future__ import annotations

from collections.abc import Sequence

from ffi_builder.errors import BuildError
from ffi_builder.ir import Attribute, Operation, Type, Value, describe, function_parts
from ffi_builder.packed.callees import check_name
from ffi_builder.providers.arguments import Argument
from ffi_builder.providers.context import CallContext
from ffi_builder.providers.mismatch import describe_mismatch
from ffi_builder.providers.results import result_type, take_results, value_results


def call(
    provider: str,
    context: CallContext,
    callee: str,
    arguments: Sequence[Argument],
    result: Type | None = None,
    *,
    results: bool = True,
) -> Value | None:
    """Call the callee, and set ``context.returned`` or ``context.results`` to what it returns.

    A callee that the module does not have is declared to return ``result``. If that is left out, it
    is void, or an i32 if ``context.status_wanted`` is set. If the signature returns scalars, the
    callee returns those instead of a status, unless ``results`` is False.

    Returns:
        The callee's status, or None if it returns none.

    Raises:
        BuildError: if the callee does not take these arguments or return these results; the message
            has both types.
    """
    check_name(provider, callee)
    scalars = value_results(context) if results else []
    if not scalars:
        context.returned = _call(provider, context, callee, arguments, result)
        return context.returned
    wanted = result_type(provider, context, callee, scalars)
    value = _call(provider, context, callee, arguments, wanted)
    take_results(provider, context, callee, value, scalars, wanted)
    return None


def _call(
    provider: str,
    context: CallContext,
    callee: str,
    arguments: Sequence[Argument],
    result: Type | None,
) -> Value | None:
    b = context.builder
    values = [argument.value for argument in arguments]
    attributes = _extensions(context, arguments)
    operation = context.symbols.find(callee)
    if operation is None:
        result = result or (b.types.i32 if context.status_wanted else b.types.void)
        types = [value.type for value in values]
        context.symbols.declare(callee, result, types, attributes)
        return b.call(callee, values, result, attributes)
    result = _check_callee(provider, context, callee, operation, arguments)
    if "CConv" in operation.attributes:
        attributes["CConv"] = operation.attributes["CConv"]
    return b.call(callee, values, result, attributes)


def _extensions(context: CallContext, arguments: Sequence[Argument]) -> dict[str, Attribute]:
    if not any(argument.extension for argument in arguments):
        return {}
    entries = ", ".join(f"{{{argument.extension}}}" for argument in arguments)
    return {"arg_attrs": context.builder.types.attribute(f"[{entries}]")}


def _check_callee(
    provider: str,
    context: CallContext,
    callee: str,
    operation: Operation,
    arguments: Sequence[Argument],
) -> Type:
    """Compare the callee's parameters with the arguments; return its result type."""
    if operation.name != "llvm.func":
        raise BuildError(
            f"{provider}: the callee @{callee} is {describe(operation)}; it must be an llvm.func, "
            f"so lower the module to the LLVM dialect before attaching; runtime.compile does with "
            f"pipeline=, and calls its hooks with the lowered module"
        )
    result, parameters = function_parts(operation)
    if tuple(str(argument.value.type) for argument in arguments) != parameters:
        raise describe_mismatch(provider, context, callee, arguments, parameters)
    return context.builder.types.parse(result)


def check_status(context: CallContext, callee: str, status: Value | None) -> None:
    """Emit a check that raises an error if the callee returns an i32 other than 0.

    Emits nothing if the callee returns nothing, or if ``context.status_wanted`` is set.

    Raises:
        BuildError: if the callee returns another type.
    """
    if status is None or context.status_wanted:
        return
    b = context.builder
    if status.type != b.types.i32:
        raise BuildError(
            f"the callee @{callee} returns {status.type}; expected nothing or a status of type i32"
        )
    b.check(b.eq(status, b.i32(0)), "RuntimeError", f"{callee} failed with status {{}}", status)
