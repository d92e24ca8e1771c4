"""Checks what a TVM-FFI function returned for a result, and each element of a list in it.

``counts[i]`` stands for each element of ``counts`` in errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Final, cast

from ffi_builder import abi, spec
from ffi_builder.abi import TypeIndex
from ffi_builder.builder.fast_path.context import DL
from ffi_builder.builder.fast_path.lists import CELL
from ffi_builder.builder.fast_path.objects import typed_object
from ffi_builder.ir import CheckingBuilder, Value
from ffi_builder.ir.checking import call_support, run_support
from ffi_builder.packed.anys import check_kind, cleaning, scalar_of
from ffi_builder.providers.arguments import widened
from ffi_builder.providers.context import CallContext
from ffi_builder.spec.dtypes import parse_dtype
from ffi_builder.spec.param import Named
from ffi_builder.spec.tensors.devices import ANY

_KINDS: Final[dict[type, tuple[TypeIndex, ...]]] = {
    spec.Tensor: (TypeIndex.TENSOR,),
    spec.TensorList: (TypeIndex.ARRAY,),
    spec.List: (TypeIndex.ARRAY, TypeIndex.LIST),
    spec.String: (TypeIndex.STR, TypeIndex.SMALL_STR),
    spec.Bytes: (TypeIndex.BYTES, TypeIndex.SMALL_BYTES),
    spec.DType: (TypeIndex.DATA_TYPE,),
    spec.Device: (TypeIndex.DEVICE,),
    spec.Function: (TypeIndex.FUNCTION, TypeIndex.NONE),
    spec.Array: (TypeIndex.ARRAY, TypeIndex.NONE),
    spec.Map: (TypeIndex.MAP, TypeIndex.DICT, TypeIndex.NONE),
}
"""The type indices that may come for a result. For an Object, None or an object may come."""
_NUMBERS: Final = {"int": (TypeIndex.INT,), "bool": (TypeIndex.BOOL,), "float": (TypeIndex.FLOAT,)}
"""The type index of each number of a Variant."""


def check_returned(context: CallContext, result: spec.Param, path: str, any_: Value) -> None:
    """Raise a TypeError or ValueError unless the ``TVMFFIAny`` at ``any_`` fits a result."""
    b, of = context.builder, f"for {path}"
    if isinstance(result, spec.Optional):
        index = b.load(b.types.i32, any_)
        with b.when(b.ne(index, b.i32(TypeIndex.NONE))):
            check_returned(context, result.param, path, any_)
        return
    if isinstance(result, spec.Var):
        scalar_of(b, result.dtype, of, any_)
        return
    if isinstance(result, spec.Any):
        return
    if isinstance(result, spec.Variant):
        _check_variant(context, result, path, any_)
        return
    _check_kind(b, result, of, any_)
    match result:
        case spec.Tensor():
            _check_tensor(context, result, path, any_)
        case spec.List(element=element):
            _check_each(context, element, path, any_)
        case spec.TensorList(tensor=tensor):
            _check_each(context, tensor, path, any_)
        case spec.Array(of=of) if of is not None:
            _check_each(context, cast("spec.Param", of), path, any_)
        case spec.Map(items=items) if items is not None:
            _check_entries(context, items, path, any_)
        case _:
            pass


def _check_kind(b: CheckingBuilder, result: spec.Param, of: str, any_: Value) -> None:
    index = b.load(b.types.i32, any_)
    kinds = _KINDS.get(type(result), (TypeIndex.NONE,))
    if isinstance(result, spec.Map) and result.key is not None:
        kinds = (TypeIndex.MAP, TypeIndex.DICT)
    if isinstance(result, spec.Array) and result.of is not None:
        kinds = (TypeIndex.ARRAY, TypeIndex.LIST)
    fits = _one_of(b, index, kinds)
    if isinstance(result, spec.Object):
        fits = b.or_(fits, _is_object(b, result, index, any_))
    check_kind(b, spec.outline(result), of, fits, index)


def _check_variant(context: CallContext, result: spec.Variant, path: str, any_: Value) -> None:
    """Check the alternative whose type came; a float takes an int, and an int a bool."""
    b = context.builder
    index = b.load(b.types.i32, any_)
    kinds = {
        part: list(_NUMBERS.get(part) or _KINDS[type(each)]) for part, each in result.parts.items()
    }
    for part, other in (("int", TypeIndex.BOOL), ("float", TypeIndex.INT)):
        if part in kinds and all(other not in known for known in kinds.values()):
            kinds[part].append(other)
    known = b.i1(False)
    for part, alternative in result.parts.items():
        fits = _one_of(b, index, kinds[part])
        known = b.or_(known, fits)
        with b.when(fits):
            check_returned(context, alternative, path, any_)
    check_kind(b, spec.outline(result), f"for {path}", known, index)


def _one_of(b: CheckingBuilder, index: Value, kinds: Sequence[TypeIndex]) -> Value:
    return reduce(b.or_, [b.eq(index, b.i32(kind)) for kind in kinds])


def _is_object(b: CheckingBuilder, result: spec.Object, index: Value, any_: Value) -> Value:
    """Return whether a ``TVMFFIAny`` is an object of the result's type or of a derived type."""
    key = result.type_key
    if key is None or key == abi.TYPE_KEYS[TypeIndex.OBJECT]:
        return b.sge(index, b.i32(abi.FIRST_OBJECT))
    return b.ne(typed_object(b, any_, key), b.null())


def _check_each(context: CallContext, element: spec.Param, path: str, any_: Value) -> None:
    b, t = context.builder, context.builder.types
    array = b.field(t.ptr, any_, abi.ANY_PAYLOAD)
    items = b.field(t.ptr, array, abi.CELL_DATA)
    with b.loop(b.field(t.i64, array, abi.CELL_SIZE)) as index:
        item = b.element(items, index, CELL)
        check_returned(context, element, f"{path}[i]", item)


def _check_entries(context: CallContext, kinds: Sequence[Named], path: str, any_: Value) -> None:
    """Check the keys of a Map, then its values."""
    b, t = context.builder, context.builder.types
    items = call_support(b, "map_items", [b.field(t.ptr, any_, abi.ANY_PAYLOAD)])
    b.check(b.ne(items, b.null()), "MemoryError", f"There is no memory for the result {path}")
    both = b.field(t.ptr, items, abi.CELL_DATA)
    with cleaning(b, lambda: run_support(b, "free_map_items", [items])):
        for index, (part, kind) in enumerate(zip(("keys", "values"), kinds, strict=True)):
            lists = b.offset(both, index * abi.ANY_SIZE)
            _check_each(context, cast("spec.Param", kind), f"{path}.{part}", lists)
    run_support(b, "free_map_items", [items])


def _check_tensor(context: CallContext, tensor: spec.Tensor, path: str, any_: Value) -> None:
    """Compare dtype, device type, rank, sizes and strides of a tensor."""
    b, t = context.builder, context.builder.types
    object_ = b.field(t.ptr, any_, abi.ANY_PAYLOAD)

    def compare(what: str, expected: str, fits: Value, *got: Value) -> None:
        shown = ", but is {}" if got else ""
        words = f"The tensor that was returned for {path} needs {what} {expected}{shown}"
        b.check(fits, "ValueError", words, *got)

    def in_tensor(offset: int) -> Value:
        return b.field(t.i32, object_, DL + offset)

    dtype = in_tensor(abi.DLTENSOR_DTYPE)
    known = [b.eq(dtype, b.i32(parse_dtype(each).word)) for each in tensor.dtypes]
    compare("the dtype", " or ".join(tensor.dtypes), reduce(b.or_, known))
    if tensor.device != ANY:
        number = abi.DEVICE_TYPES[tensor.device]
        device = in_tensor(abi.DLTENSOR_DEVICE_TYPE)
        compare("a device of type", tensor.device, b.eq(device, b.i32(number)))
    ndim = in_tensor(abi.DLTENSOR_NDIM)
    wide = b.sext(ndim, t.i64)
    compare("an ndim of", str(tensor.ndim), b.eq(ndim, b.i32(tensor.ndim)), wide)
    shape = b.field(t.ptr, object_, DL + abi.DLTENSOR_SHAPE)
    for axis, dim in enumerate(tensor.dims):
        if dim is not None:
            got = b.field(t.i64, shape, 8 * axis)
            compare(f"shape[{axis}] =", str(dim), b.eq(got, widened(context, dim)), got)
    strides = b.field(t.ptr, object_, DL + abi.DLTENSOR_STRIDES)
    null = b.eq(strides, b.null())
    with b.when(b.xor(null, b.i1(True))):
        compare("contiguous", "strides", call_support(b, "contiguous", [object_]))
