"""Allocates and returns the results of a wrapper.

Each result becomes a ``TVMFFIAny``. A tensor is allocated before the call, by the allocator of the
caller's framework::

    %status = llvm.call @TVMFFIEnvTensorAlloc(%prototype, %object)

From then on the wrapper owns it, so every error branches to a block that releases the results that
exist. After the call a single result is moved to the caller; several become an ``ffi.Array``.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, Final

from ffi_builder import abi, spec
from ffi_builder.abi import TypeIndex
from ffi_builder.builder.fast_path.context import DL, FastPath
from ffi_builder.builder.fast_path.state import TensorValues
from ffi_builder.builder.values import DecodedValues
from ffi_builder.errors import BuildError
from ffi_builder.ir import CheckingBuilder, Value
from ffi_builder.packed.anys import (
    any_head,
    release_any,
    return_failure,
    store_any,
    store_unsigned,
    unless,
)
from ffi_builder.packed.callees import GlobalFunction, call
from ffi_builder.plan import Place
from ffi_builder.plan.results import DEVICE_ID, MOST_DEVICES, SIZE, is_size
from ffi_builder.providers.context import CallContext

ALLOC: Final = "TVMFFIEnvTensorAlloc"
GET_ALLOCATOR: Final = "TVMFFIEnvGetDLPackManagedTensorAllocator"
_MAKE_ARRAY: Final = GlobalFunction("ffi.Array", keep=False)


class Results:
    """The results of one wrapper while it is being emitted."""

    def __init__(
        self, fast: FastPath, b: CheckingBuilder, decoded: DecodedValues, signature: spec.Signature
    ) -> None:
        self.fast, self.b, self.decoded = fast, b, decoded
        self.signature = signature
        self.results = signature.results
        self.scalars = [result for result in self.results if isinstance(result, spec.Var)]
        self.cells: list[Value] = []
        """The addresses of the ``TVMFFIAny``s of the results; empty for a single scalar."""

    @property
    def is_tuple(self) -> bool:
        """Whether an array is returned."""
        return isinstance(self.signature.returns, tuple)

    # ---- before the call

    def allocate(self) -> None:
        """Allocate the tensors; all later errors release them."""
        b = self.b
        if not self.is_tuple and not self.signature.result_tensors:
            return
        space = b.alloca(b.types.i64, len(self.results) * abi.ANY_SIZE // 8)
        self.cells = [b.offset(space, i * abi.ANY_SIZE) for i in range(len(self.results))]
        for result, cell in zip(self.results, self.cells, strict=True):
            if _may_be_object(result):
                b.store(b.i64(0), cell)
        self._emit_cleanup()
        first = len(self.signature.arguments)
        for index, (result, cell) in enumerate(zip(self.results, self.cells, strict=True)):
            if isinstance(result, spec.Tensor):
                self._allocate(result, cell, Place((first + index,), result.name))

    def _emit_cleanup(self) -> None:
        b = self.b
        here, status = b.block, b.new_block(b.types.i32, cold=True)
        b.block = status
        for result, cell in zip(self.results, self.cells, strict=True):
            if _may_be_object(result):
                release_any(b, cell)
        b.ret(status.arguments[0])
        b.block, b.cleanup = here, status

    def _allocate(self, tensor: spec.Tensor, cell: Value, place: Place) -> None:
        b, t, fast = self.b, self.b.types, self.fast
        dims = [self._size(tensor, axis) for axis in range(tensor.ndim)]
        device = self._device(tensor)
        prototype = self._prototype(tensor, dims, device)
        b.symbols.declare(ALLOC, t.i32, [t.ptr, t.ptr])
        status = b.call_value(ALLOC, [prototype, b.offset(cell, abi.ANY_PAYLOAD)], t.i32)
        self._check_allocated(tensor, status)
        b.store(any_head(b, TypeIndex.TENSOR), cell)
        position = place.position
        object_ = b.field(t.ptr, cell, abi.ANY_PAYLOAD)
        loaded = [fast.value(dim) for dim in dims]
        start = b.field(t.ptr, object_, DL + abi.DLTENSOR_DATA)
        moved = b.field(t.i64, object_, DL + abi.DLTENSOR_BYTE_OFFSET)
        data = b.element(start, moved)
        fast.state.records[position] = TensorValues(
            object=object_,
            ndim=tensor.ndim,
            device=device,
            data=data,
            loaded=dict(enumerate(loaded)),
            dims=dict(enumerate(dims)),
        )
        self.decoded.places.append((tensor, place))
        self.decoded.cells[position] = cell
        if tensor.data_alignment is not None and tensor.data_alignment > 1:
            self._check_alignment(tensor, tensor.data_alignment, data)

    def _size(self, tensor: spec.Tensor, axis: int) -> Value | int:
        """Return a dimension as an i64, after a check that it is not negative."""
        b, dim = self.b, tensor.dims[axis]
        assert dim is not None
        if isinstance(dim, int):
            return dim
        if isinstance(dim, spec.Var):
            symbol = self.fast.symbol(dim)
            value, known = symbol.value, is_size(symbol.low, symbol.high)
        else:
            value, known = self.decoded.value(dim), False
        if not known:
            words = SIZE.format(path=f"{tensor.name}.shape[{axis}]", dim=dim)
            b.check(b.sge(value, b.i64(0)), "ValueError", words, value)
        return value

    def _device(self, tensor: spec.Tensor) -> Value:
        """Return device type and id in one i64.

        If the spec gives no id, it is the id of the first tensor on this device type, or 0.
        """
        b, t = self.b, self.b.types
        type_ = abi.DEVICE_TYPES[tensor.device]
        given = tensor.device_id
        if isinstance(given, int):
            return b.i64(type_ | given << 32)
        if isinstance(given, spec.Var):
            number = self.fast.symbol(given).value
            words = DEVICE_ID.format(given=given, name=tensor.name)
            b.check(b.ult(number, b.i64(MOST_DEVICES)), "ValueError", words, number)
            return b.or_(b.shl(number, b.i64(32)), b.i64(type_))
        device: Value = b.i64(type_)
        for param, place in reversed(self.decoded.places):
            if not isinstance(param, spec.Tensor) or param.device not in (tensor.device, spec.ANY):
                continue
            own, counts = self.fast.tensor(place.position).device, self.fast.guard(place.position)
            if param.device == spec.ANY:
                alike = b.eq(b.trunc(own, t.i32), b.i32(type_))
                counts = alike if counts is None else b.and_(alike, counts)
            device = own if counts is None else b.select(counts, own, device)
        return device

    def _prototype(self, tensor: spec.Tensor, dims: Sequence[Value | int], device: Value) -> Value:
        b, t = self.b, self.b.types
        space = b.alloca(t.i64, abi.DLTENSOR_SIZE // 8)
        shape = b.alloca(t.i64, len(dims)) if dims else b.null()
        for axis, dim in enumerate(dims):
            b.store(self.fast.value(dim), b.offset(shape, 8 * axis))
        dtype = spec.parse_dtype(tensor.dtypes[0])
        packed = struct.pack("<iBBH", tensor.ndim, dtype.code, dtype.bits, dtype.lanes)
        fields: list[tuple[int, Value]] = [
            (abi.DLTENSOR_DATA, b.null()),
            (abi.DLTENSOR_DEVICE_TYPE, device),
            (abi.DLTENSOR_NDIM, b.i64(struct.unpack("<q", packed)[0])),
            (abi.DLTENSOR_SHAPE, shape),
            (abi.DLTENSOR_STRIDES, b.null()),
            (abi.DLTENSOR_BYTE_OFFSET, b.i64(0)),
        ]
        for offset, value in fields:
            b.store(value, b.offset(space, offset))
        return space

    def _check_allocated(self, tensor: spec.Tensor, status: Value) -> None:
        """If the allocation failed, raise an error if there is no allocator, else its own error."""
        b, t = self.b, self.b.types
        with unless(b, b.eq(status, b.i32(0))):
            b.symbols.declare(GET_ALLOCATOR, t.ptr, [])
            words = (
                f"There is no allocator for the result {tensor.name} (pass a PyTorch tensor, whose "
                f"allocator then serves"
            )
            if tensor.device_type in ("cpu", spec.ANY):  # install_allocator serves only the CPU
                words += ", or call ffi_builder.runtime.install_allocator() before"
            words += "; C and C++ set one by TVMFFIEnvSetDLPackManagedTensorAllocator)"
            b.check(b.ne(b.call_value(GET_ALLOCATOR, [], t.ptr), b.null()), "RuntimeError", words)
            b.ret(status)

    def _check_alignment(self, tensor: spec.Tensor, alignment: int, data: Value) -> None:
        b = self.b
        rest = b.and_(b.to_int(data), b.i64(alignment - 1))
        words = (
            f"The allocator's memory for the result {tensor.name} is {{}} bytes behind a multiple "
            f"of {alignment}, which the kernel needs"
        )
        b.check(b.eq(rest, b.i64(0)), "RuntimeError", words, rest)

    # ---- after the call

    def store(self, context: CallContext, provider: str) -> None:
        """Move the results to the caller's ``TVMFFIAny``.

        Raises:
            BuildError: if the provider has not set ``context.results`` as the signature requires.
        """
        values = iter(self._values(context, provider))
        if not self.results:
            return
        b, target = self.b, context.raw_result
        if not self.cells:
            self._store_scalar(self.scalars[0], next(values), target)
            return
        for result, cell in zip(self.results, self.cells, strict=True):
            if isinstance(result, spec.Var):
                self._store_scalar(result, next(values), cell)
        if not self.is_tuple:
            b.store(any_head(b, TypeIndex.TENSOR), target)
            b.store(
                b.field(b.types.i64, self.cells[0], abi.ANY_PAYLOAD),
                b.offset(target, abi.ANY_PAYLOAD),
            )
        else:
            count = b.i32(len(self.cells))
            return_failure(b, call(b, _MAKE_ARRAY, self.cells[0], count, target))
            for result, cell in zip(self.results, self.cells, strict=True):
                if _may_be_object(result):
                    release_any(b, cell)
        b.cleanup = None

    def _values(self, context: CallContext, provider: str) -> list[Value]:
        """Return the provider's values, one for each scalar, after checking their types."""
        types = self.b.types
        wanted = [types.scalar(scalar.dtype) for scalar in self.scalars]
        values = list(context.results or ())
        given: list[Any] = [value.type for value in values]
        if given != wanted:
            pairs = zip(self.scalars, wanted, strict=True)
            expected = ", ".join(f"{scalar.name}: {type_}" for scalar, type_ in pairs)
            returns = spec.results_text(self.signature.returns)
            raise BuildError(
                f"{provider}: {self.signature.name!r} returns {returns}, so context.results needs "
                f"a value for each result that is not a tensor ({expected or 'there is none'}), "
                f"but it has {', '.join(map(str, given)) or 'none'}"
            )
        return values

    def _store_scalar(self, result: spec.Var, value: Value, cell: Value) -> None:
        b, t = self.b, self.b.types
        if result.dtype == "bool":
            index, type_, extend = TypeIndex.BOOL, t.i64, "zext"
        elif result.dtype in spec.FLOAT_DTYPES:
            index, type_, extend = TypeIndex.FLOAT, t.f64, "fpext"
        elif result.dtype == "handle":
            index, type_, extend = TypeIndex.OPAQUE_PTR, t.ptr, ""
        else:
            sign = "zext" if result.dtype.startswith("u") else "sext"
            index, type_, extend = TypeIndex.INT, t.i64, sign
        if result.dtype == "uint64":
            store_unsigned(b, value, cell)
            return
        wide = value if value.type == type_ else b.cast(extend, value, type_)
        store_any(b, any_head(b, index), wide, cell)


def _may_be_object(result: spec.Result) -> bool:
    return isinstance(result, spec.Tensor) or result.dtype == "uint64"
