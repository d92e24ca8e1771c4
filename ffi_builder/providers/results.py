"""Scalar results of wrappers, taken from what a callee returns or has written."""

from __future__ import annotations

from collections.abc import Sequence

from ffi_builder import abi, spec
from ffi_builder.abi import TypeIndex
from ffi_builder.errors import BuildError
from ffi_builder.ir import CheckingBuilder, Types, Value
from ffi_builder.ir.builder import Builder, call_extern
from ffi_builder.ir.protocols import Type
from ffi_builder.packed import anys
from ffi_builder.packed.callees import check_name
from ffi_builder.providers.context import CallContext, OwnedAny
from ffi_builder.spec.results import HandedOver


def value_results(context: CallContext) -> list[HandedOver]:
    """Return the results that the provider hands over, in order: all but tensors and shapes."""
    made = (spec.Tensor, spec.Shape)
    return [result for result in context.signature.results if not isinstance(result, made)]


def value_type(t: Types, result: spec.Param) -> Type:
    """Return the type of a result's value.

    A str, bytes or list is a struct of pointer and length. A number that may be None is a pointer
    to it, or NULL.
    """
    match result:
        case spec.Var(dtype=dtype):
            return t.scalar(dtype)
        case spec.String() | spec.Bytes() | spec.List():
            return t.struct([t.ptr, t.i64])
        case spec.Optional(param=spec.String() | spec.Bytes() | spec.List()):
            return t.struct([t.ptr, t.i64])
        case spec.Any() | spec.Variant():  # a TVMFFIAny
            return t.struct([t.i64, t.i64])
        case spec.DType():  # a DLDataType, of four bytes
            return t.i32
        case spec.Device():  # a DLDevice, of eight
            return t.i64
        case _:
            return t.ptr


def loaded(b: Builder, result: spec.Param, place: Value) -> Value:
    """Load the value of a result from memory, where a bool is a byte."""
    type_, wanted = storage(b.types, result), value_type(b.types, result)
    value = b.load(type_, place)
    return value if type_ == wanted else b.ne(value, b.zero(type_))


def storage(t: Types, result: spec.Param) -> Type:
    """Return the type of a result in memory, where a bool is a byte."""
    is_bool = isinstance(result, spec.Var) and result.dtype == "bool"
    return t.i8 if is_bool else value_type(t, result)


def result_pointer(context: CallContext, result: HandedOver, start: Value | None = None) -> Value:
    """Return the address of ``start`` on the stack, or zeros, which the callee overwrites."""
    pointer = context.places.get(result.name)
    if pointer is None:
        b = context.builder
        type_ = storage(b.types, result)
        first = b.zero(type_) if start is None else start
        context.places[result.name] = pointer = b.alloca(type_)
        b.store(b.zext(first, type_) if first.type != type_ else first, pointer)
    return pointer


def set_results(context: CallContext, returned: Sequence[Value | OwnedAny] = ()) -> None:
    """Set the context's results to the values that the callee has written or returned."""
    b, rest = context.builder, iter(returned)
    values: list[Value | OwnedAny] = []
    for result in value_results(context):
        place = context.places.get(result.name)
        values.append(next(rest) if place is None else loaded(b, result, place))
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
    free: str | None = None,
) -> list[Value | OwnedAny]:
    """Return the results that the callee returned.

    A pointer for a str or bytes is to text that ends in a NUL, which the function ``free`` frees.

    Raises:
        BuildError: if ``value`` is not of the type ``wanted``, which :func:`result_type` returns.
    """
    b = context.builder
    text = isinstance(spec.required(scalars[0]), (spec.String, spec.Bytes))
    is_text = text and len(scalars) == 1
    if is_text and value is not None and value.type == b.types.ptr:
        return [_take_text(b, callee, scalars[0], value, free)]
    if free is not None:
        raise BuildError(
            f"{provider}: free={free!r} goes with one result, a String or Bytes for which the "
            f"callee @{callee} returns a pointer"
        )
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


def _take_text(
    b: CheckingBuilder, callee: str, result: HandedOver, text: Value, free: str | None
) -> OwnedAny:
    """Copy text that ends in a NUL before anything else frees or overwrites it."""
    cell, there = anys.empty_any(b), b.ne(text, b.null())
    if isinstance(result, spec.Optional):
        with b.when(there):
            _copy_text(b, result.param, text, cell, free)
    else:
        b.check(there, "ValueError", f"{callee} returned NULL for {result.name}")
        _copy_text(b, result, text, cell, free)
    return OwnedAny(cell)


def _copy_text(
    b: CheckingBuilder, result: spec.Param, text: Value, cell: Value, free: str | None
) -> None:
    binary, length = isinstance(result, spec.Bytes), call_extern(b, "strlen", [text], b.types.i64)
    status = anys.store_text(b, text, length, cell, binary=binary)
    if free is not None:
        call_extern(b, check_name("free", free), [text], b.types.void)
    anys.return_failure(b, status)


def take_any(provider: str, context: CallContext, any_: Value) -> None:
    """Convert the result of a TVM-FFI function to the wrapper's results.

    Several results are the elements of an Array that the function returned.
    """
    b, scalars = context.builder, value_results(context)
    if not scalars:
        anys.release_any(b, any_)
    elif len(scalars) == 1:
        result = scalars[0]
        context.results = [
            anys.take_scalar(b, result.dtype, f"for {result.name}", any_)
            if isinstance(result, spec.Var)
            else OwnedAny(any_)
        ]
    else:
        with anys.cleaning(b, lambda: anys.release_any(b, any_)):
            context.results = _elements(context, scalars, any_)
        anys.release_any(b, any_)


def _elements(
    context: CallContext, scalars: Sequence[HandedOver], any_: Value
) -> list[Value | OwnedAny]:
    """Return the elements of a returned Array; those that are objects gain a reference."""
    b, t = context.builder, context.builder.types
    index, names = b.load(t.i32, any_), ", ".join(result.name for result in scalars)
    anys.check_kind(b, "Array", f"for {names}", b.eq(index, b.i32(TypeIndex.ARRAY)), index)
    array = b.field(t.ptr, any_, abi.ANY_PAYLOAD)
    length = b.field(t.i64, array, abi.CELL_SIZE)
    words = f"An Array of another length than {len(scalars)} was returned for {names}: {{}}"
    b.check(b.eq(length, b.i64(len(scalars))), "ValueError", words, length)
    items = b.field(t.ptr, array, abi.CELL_DATA)
    values: list[Value | OwnedAny] = []
    for place, result in enumerate(scalars):
        item = b.offset(items, place * abi.ANY_SIZE)
        if isinstance(result, spec.Var):
            values.append(anys.scalar_of(b, result.dtype, f"for {result.name}", item))
        else:
            values.append(OwnedAny(anys.copy_of(b, item)))
    for value in values:
        if isinstance(value, OwnedAny):
            anys.hold_any(b, value.address)
    return values
