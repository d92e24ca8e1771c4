"""Scalar results of wrappers, taken from what a callee returns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from ffi_builder import abi, spec
from ffi_builder.abi import TypeIndex
from ffi_builder.errors import BuildError
from ffi_builder.ir import CheckingBuilder, Type, Types, Value
from ffi_builder.plan.messages import TYPE_NAMES
from ffi_builder.providers.context import CallContext, OwnedAny
from ffi_builder.providers.globals import store_none, unless


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


def empty_any(context: CallContext) -> Value:
    """Return stack space for the result of a function, a ``TVMFFIAny`` that is None."""
    b = context.builder
    space = b.alloca(b.types.i64, abi.ANY_SIZE // 8)
    store_none(b, space)
    return space


def take_any(provider: str, context: CallContext, came: Value) -> None:
    """Convert what a TVM-FFI function returned to the wrapper's result; objects are released.

    Raises:
        BuildError: if there are several scalar results, since such a function returns one value.
    """
    b = context.builder
    t = b.types
    scalars = value_results(context)
    if len(scalars) > 1:
        raise BuildError(
            f"{provider}: the callee returns one value, but {context.fn_name!r} returns "
            f"{', '.join(scalar.name for scalar in scalars)}"
        )
    index, payload = b.load(t.i32, came), b.offset(came, abi.ANY_PAYLOAD)
    result = scalars[0] if scalars else None
    if result is None or isinstance(result, spec.Var):
        _release(b, index, payload)
        if result is not None:
            context.results = [_converted(context, result, index, payload)]
    else:
        _check_owned(context, result, index, payload)
        context.results = [OwnedAny(came)]


def _release(b: CheckingBuilder, index: Value, payload: Value) -> None:
    """Release the object of a ``TVMFFIAny``, if it has one."""
    t = b.types
    b.symbols.declare("TVMFFIObjectDecRef", t.i32, [t.ptr])
    with b.when(b.sge(index, b.i32(TypeIndex.OBJECT)), cold=True):
        b.call("TVMFFIObjectDecRef", [b.load(t.ptr, payload)], t.i32)


_KINDS: Final[dict[type, tuple[TypeIndex, ...]]] = {
    spec.String: (TypeIndex.STR, TypeIndex.SMALL_STR),
    spec.Bytes: (TypeIndex.BYTES, TypeIndex.SMALL_BYTES),
    spec.Function: (TypeIndex.FUNCTION, TypeIndex.NONE),
    spec.Array: (TypeIndex.ARRAY, TypeIndex.NONE),
    spec.Map: (TypeIndex.MAP, TypeIndex.NONE),
}
"""Type indices of what a function may return for a result. An Object is None, or any object."""


def _check_owned(
    context: CallContext, result: spec.HandedOver, index: Value, payload: Value
) -> None:
    """Raise a TypeError for a value of another kind, which is released."""
    b = context.builder
    kinds = _KINDS.get(type(result), (TypeIndex.NONE,))
    right = b.sge(index, b.i32(TypeIndex.OBJECT)) if isinstance(result, spec.Object) else None
    for kind in kinds:
        fits = b.eq(index, b.i32(kind))
        right = fits if right is None else b.or_(right, fits)
    assert right is not None
    with unless(b, right):
        name = _kind_name(b, index)
        _release(b, index, payload)
        b.fail("TypeError", _another_kind(result), name)


def _converted(context: CallContext, result: spec.Var, index: Value, payload: Value) -> Value:
    """Convert a value to the result's type, after checking its kind and range."""
    b, dtype = context.builder, result.dtype
    t = b.types
    bits = b.load(t.i64, payload)
    is_int = b.eq(index, b.i32(TypeIndex.INT))
    if dtype == "handle":
        is_null = b.eq(index, b.i32(TypeIndex.NONE))
        _check_kind(
            context, result, b.or_(is_null, b.eq(index, b.i32(TypeIndex.OPAQUE_PTR))), index
        )
        return b.to_pointer(b.select(is_null, b.i64(0), bits))
    if dtype == "bool":
        _check_kind(context, result, b.eq(index, b.i32(TypeIndex.BOOL)), index)
        return b.ne(bits, b.i64(0))
    if dtype in spec.FLOAT_DTYPES:
        is_float = b.eq(index, b.i32(TypeIndex.FLOAT))
        _check_kind(context, result, b.or_(is_float, is_int), index)
        wide = b.select(is_float, b.bitcast(bits, t.f64), b.cast("sitofp", bits, t.f64))
        own = t.scalar(dtype)
        return wide if own == t.f64 else b.cast("fptrunc", wide, own)
    _check_kind(context, result, b.or_(is_int, b.eq(index, b.i32(TypeIndex.BOOL))), index)
    low, high = spec.INT_RANGES[dtype]
    high = min(high, (1 << 63) - 1)
    fits = b.and_(b.sge(bits, b.i64(low)), b.sle(bits, b.i64(high)))
    words = f"The value that was returned for {result.name} does not fit {dtype}: {{}}"
    b.check(fits, "ValueError", words, bits)
    own = t.scalar(dtype)
    return bits if own == t.i64 else b.trunc(bits, own)


def _check_kind(context: CallContext, result: spec.Var, right: Value, index: Value) -> None:
    """Raise a TypeError, unless ``right`` says that the kind is one that the result may have."""
    b = context.builder
    with unless(b, right):
        b.fail("TypeError", _another_kind(result), _kind_name(b, index))


def _another_kind(result: spec.HandedOver) -> str:
    kind = spec.outline(result)
    return f"A value of another kind than {kind} was returned for {result.name}: {{}}"


def _kind_name(b: CheckingBuilder, index: Value) -> Value:
    """Return the name of a type index in messages, as a C string."""
    t = b.types
    name = b.alloca(t.ptr)
    b.store(b.text_constant(b"a value of an unknown type\0"), name)
    known, places = _known_names()
    for first, last, place in places:
        with b.when(b.ule(b.sub(index, b.i32(first)), b.i32(last - first))):
            wide = b.zext(b.sub(index, b.i32(first)), t.i64)
            at = b.add(b.mul(wide, b.i64(_WIDTH)), b.i64(place))
            b.store(b.element(b.text_constant(known), at), name)
    with b.when(b.sge(index, b.i32(abi.FIRST_DYNAMIC))):
        b.symbols.declare("TVMFFIGetTypeInfo", t.ptr, [t.i32])
        info = b.call_value("TVMFFIGetTypeInfo", [index], t.ptr)
        # A type key is a string of tvm-ffi's, which ends in NUL.
        key = abi.TYPE_INFO_KEY + abi.BYTE_ARRAY_DATA
        b.store(b.load(t.ptr, b.offset(info, key)), name)
    return b.load(t.ptr, name)


_WIDTH: Final = 32
"""Bytes of one name in the constant, with at least one NUL."""


@cache
def _known_names() -> tuple[bytes, list[tuple[int, int, int]]]:
    """Return the names of static types, and the runs of indices with their offsets in the names."""
    runs: list[tuple[int, int, int]] = []
    data = b""
    for index, name in sorted(TYPE_NAMES.items()):
        if runs and runs[-1][1] == index - 1:
            runs[-1] = (runs[-1][0], index, runs[-1][2])
        else:
            runs.append((index, index, len(data)))
        data += name.encode().ljust(_WIDTH, b"\0")
    return data, runs
