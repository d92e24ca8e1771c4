"""Helpers for tensors, for the rare branches of the fast path.

They take a tensor by its *object*: the address 24 bytes before the DLTensor, which is where a
Tensor object has its header. Of a ``DLTensor*`` the helpers do not read these 24 bytes. In C::

    void* tensor_object(const TVMFFIAny* any);
    bool is_empty(const void* object);
    bool has_no_data(const void* object);
    bool free_stride(const void* object, int64_t axis);
    int64_t row_major(const void* object, int64_t axis);
    int64_t* row_major_strides(const void* object, int64_t* space);
    bool contiguous(const void* object);
    bool column_major(const void* object);
    bool numel_fits(const void* object);

``tensor_object`` returns the object of a Tensor or ``DLTensor*``, also if it was moved, and NULL if
the value is not a tensor. ``is_empty`` finds a dimension of 0, and ``has_no_data`` a NULL pointer
in a tensor that is empty. ``free_stride`` says that any stride will do on an axis: its dimension is
1, or the tensor is empty. ``row_major`` returns the product of the dimensions after ``axis``, and
``row_major_strides`` fills ``space`` with the products for all axes and returns it. ``numel_fits``
says that no dimension is negative and that their product fits int64.
"""

from __future__ import annotations

from typing import Final

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from ffi_builder.builder.helpers.define import Helper, call_shared
from ffi_builder.ir import Builder, Value

DATA = abi.OBJECT_SIZE + abi.DLTENSOR_DATA
NDIM = abi.OBJECT_SIZE + abi.DLTENSOR_NDIM
SHAPE = abi.OBJECT_SIZE + abi.DLTENSOR_SHAPE
STRIDES = abi.OBJECT_SIZE + abi.DLTENSOR_STRIDES


def _tensor_object(b: Builder, any_: Value) -> None:
    t = b.types
    index = b.load(t.i32, any_)
    payload = b.field(t.ptr, any_, abi.ANY_PAYLOAD)
    with b.when(b.is_null(payload)):
        b.ret(payload)
    with b.when(b.ne(index, b.i32(TypeIndex.OBJECT_RVALUE_REF))):
        with b.when(b.eq(index, b.i32(TypeIndex.TENSOR))):
            b.ret(payload)
        with b.when(b.eq(index, b.i32(TypeIndex.TENSOR))):
            b.ret(payload)
        borrowed = b.eq(index, b.i32(TypeIndex.DL_TENSOR_PTR))
        b.ret(b.select(borrowed, b.offset(payload, -abi.OBJECT_SIZE), b.null()))
    moved = b.load(t.ptr, payload)
    with b.when(b.is_null(moved)):
        b.ret(moved)
    inner = b.field(t.i32, moved, abi.OBJECT_TYPE_INDEX)
    b.ret(b.select(b.eq(inner, b.i32(TypeIndex.TENSOR)), moved, b.null()))


def _ndim(b: Builder, tensor: Value) -> Value:
    return b.sext(b.field(b.types.i32, tensor, NDIM), b.types.i64)


def _entry(b: Builder, array: Value, index: Value) -> Value:
    return b.load(b.types.i64, b.element(array, index, "i64"))


def _is_empty(b: Builder, tensor: Value) -> None:
    shape = b.field(b.types.ptr, tensor, SHAPE)
    with b.loop(_ndim(b, tensor)) as axis, b.when(b.eq(_entry(b, shape, axis), b.i64(0))):
        b.ret(b.i1(True))
    b.ret(b.i1(False))


def _has_no_data(b: Builder, tensor: Value) -> None:
    with b.when(b.ne(b.field(b.types.ptr, tensor, DATA), b.null())):
        b.ret(b.i1(False))
    b.ret(call_shared(b, "is_empty", [tensor], b.types.i1))


def _free_stride(b: Builder, tensor: Value, axis: Value) -> None:
    shape = b.field(b.types.ptr, tensor, SHAPE)
    with b.when(b.eq(_entry(b, shape, axis), b.i64(1))):
        b.ret(b.i1(True))
    b.ret(call_shared(b, "is_empty", [tensor], b.types.i1))


def _row_major(b: Builder, tensor: Value, axis: Value) -> None:
    t = b.types
    shape = b.field(t.ptr, tensor, SHAPE)
    product = b.alloca(t.i64)
    b.store(b.i64(1), product)
    following = b.add(axis, b.i64(1))
    with b.loop(b.sub(_ndim(b, tensor), following)) as index:
        dim = _entry(b, shape, b.add(following, index))
        b.store(b.mul(b.load(t.i64, product), dim), product)
    b.ret(b.load(t.i64, product))


def _row_major_strides(b: Builder, tensor: Value, space: Value) -> None:
    t = b.types
    shape, ndim = b.field(t.ptr, tensor, SHAPE), _ndim(b, tensor)
    product = b.alloca(t.i64)
    b.store(b.i64(1), product)
    with b.loop(ndim) as index:
        axis = b.sub(b.sub(ndim, b.i64(1)), index)
        value = b.load(t.i64, product)
        b.store(value, b.element(space, axis, "i64"))
        b.store(b.mul(value, _entry(b, shape, axis)), product)
    b.ret(space)


def _contiguous(b: Builder, tensor: Value) -> None:
    t = b.types
    strides, shape = b.field(t.ptr, tensor, STRIDES), b.field(t.ptr, tensor, SHAPE)
    last = b.sub(_ndim(b, tensor), b.i64(1))
    wanted = b.alloca(t.i64)
    b.store(b.i64(1), wanted)
    with b.loop(b.add(last, b.i64(1))) as index:
        axis = b.sub(last, index)
        dim, product = _entry(b, shape, axis), b.load(t.i64, wanted)
        odd = b.ne(_entry(b, strides, axis), product)
        # With no elements, every stride is free.
        with b.when(b.and_(odd, b.ne(dim, b.i64(1)))):
            b.ret(call_shared(b, "is_empty", [tensor], t.i1))
        b.store(b.mul(product, dim), wanted)
    b.ret(b.i1(True))


def _column_major(b: Builder, tensor: Value) -> None:
    t = b.types
    strides, shape = b.field(t.ptr, tensor, STRIDES), b.field(t.ptr, tensor, SHAPE)
    wanted, stride = b.alloca(t.i64), b.alloca(t.i64)
    b.store(b.i64(1), wanted)
    with b.loop(_ndim(b, tensor)) as axis:
        # NULL strides stand for row-major ones.
        with b.when(b.is_null(strides)):
            b.store(call_shared(b, "row_major", [tensor, axis], t.i64), stride)
        with b.when(b.ne(strides, b.null())):
            b.store(_entry(b, strides, axis), stride)
        with b.when(b.ne(b.load(t.i64, stride), b.load(t.i64, wanted))):
            free = call_shared(b, "free_stride", [tensor, axis], t.i1)
            with b.when(b.eq(free, b.i1(False))):
                b.ret(b.i1(False))
        b.store(b.mul(b.load(t.i64, wanted), _entry(b, shape, axis)), wanted)
    b.ret(b.i1(True))


def _numel_fits(b: Builder, tensor: Value) -> None:
    t = b.types
    shape = b.field(t.ptr, tensor, SHAPE)
    product = b.alloca(t.i64)
    b.store(b.i64(1), product)
    with b.loop(_ndim(b, tensor)) as axis:
        dim = _entry(b, shape, axis)
        with b.when(b.slt(dim, b.i64(0))):
            b.ret(b.i1(False))
        # As an unsigned number that stays at the greatest, until a dimension of 0 makes it 0.
        result, wrapped = b.with_overflow("umul", b.load(t.i64, product), dim)
        b.store(b.select(wrapped, b.i64(-1), result), product)
    b.ret(b.sge(b.load(t.i64, product), b.i64(0)))


TENSORS: Final = {
    "tensor_object": Helper("ptr", "ptr", _tensor_object),
    "is_empty": Helper("i1", "ptr", _is_empty),
    "has_no_data": Helper("i1", "ptr", _has_no_data),
    "free_stride": Helper("i1", "ptr i64", _free_stride),
    "row_major": Helper("i64", "ptr i64", _row_major),
    "row_major_strides": Helper("ptr", "ptr ptr", _row_major_strides),
    "contiguous": Helper("i1", "ptr", _contiguous),
    "column_major": Helper("i1", "ptr", _column_major),
    "numel_fits": Helper("i1", "ptr", _numel_fits),
}
