"""Allocates tensors for a wrapper: results and workspaces, which may be filled with zeros.

The allocator is that of the caller's framework::

    %status = llvm.call @TVMFFIEnvTensorAlloc(%prototype, %object)

Each tensor becomes a ``TVMFFIAny`` that the wrapper owns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ffi_builder import abi, addons, spec
from ffi_builder.abi import TypeIndex
from ffi_builder.builder.fast_path.context import DL
from ffi_builder.builder.fast_path.state import Position, TensorValues
from ffi_builder.builder.values import DecodedValues
from ffi_builder.errors import BuildError
from ffi_builder.ir import Value
from ffi_builder.ir.builder import call_extern
from ffi_builder.packed.anys import any_head, unless
from ffi_builder.plan import Place
from ffi_builder.plan.results import DEVICE_ID, MOST_DEVICES, SIZE, is_size, noun_of
from ffi_builder.spec import Workspace
from ffi_builder.spec.dtypes import parse_dtype
from ffi_builder.spec.results import Result
from ffi_builder.spec.results import sizes as sizes_of
from ffi_builder.spec.tensors.devices import ANY

ALLOC: Final = "TVMFFIEnvTensorAlloc"
GET_ALLOCATOR: Final = "TVMFFIEnvGetDLPackManagedTensorAllocator"


class Allocation:
    """Emits allocations."""

    def __init__(self, context: DecodedValues) -> None:
        self.context, self.fast, self.b = context, context.fast, context.builder

    def allocate(self, tensor: spec.Tensor, cell: Value, place: Place) -> None:
        """Allocate a tensor into a cell, and record its values at the place for providers."""
        b, t, fast = self.b, self.b.types, self.fast
        dims = self._dims(tensor)
        device = self._device(tensor)
        prototype = self._prototype(tensor, dims, device)
        status = call_extern(b, ALLOC, [prototype, b.offset(cell, abi.ANY_PAYLOAD)], t.i32)
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
            ndim=None if tensor.any_rank else tensor.ndim,
            device=device,
            data=data,
            loaded=dict(enumerate(loaded)),
            dims=dict(enumerate(dims)),
        )
        self.context.placed.append((tensor, place))
        self.context.cells[position] = cell
        if tensor.data_alignment is not None and tensor.data_alignment > 1:
            self._check_alignment(tensor, tensor.data_alignment, data)

    def _source(self, tensor: spec.Tensor, name: str) -> tuple[spec.Tensor, Place] | None:
        """Return the argument that a field is taken from, and its place."""
        path = tensor.references.get(name)
        if path is None:
            return None
        source, place = next((p, at) for p, at in self.context.placed if at.path == path)
        assert isinstance(source, spec.Tensor)
        return source, place

    def _dims(self, tensor: spec.Tensor) -> list[Value | int]:
        """Return the dimensions; an empty list if their number is known only during the call."""
        source = self._source(tensor, "shape")
        if source is None:
            return self.sizes(tensor)
        return [] if tensor.any_rank else list(self.context.shape(source[0], wide=True))

    def sizes(self, result: Result) -> list[Value | int]:
        """Return the sizes as i64, after a check that none is negative."""
        return [self._size(noun_of(result), path, dim) for path, dim in sizes_of(result)]

    def _size(self, noun: str, path: str, dim: spec.Dim | None) -> Value | int:
        assert dim is not None
        b = self.b
        if isinstance(dim, int):
            return dim
        if isinstance(dim, spec.Var):
            symbol = self.fast.symbol(dim)
            value, known = symbol.value, is_size(symbol.low, symbol.high)
        else:
            value, known = self.context.value(dim), False
        if not known:
            words = SIZE.format(path=path, dim=dim, noun=noun)
            b.check(b.sge(value, b.i64(0)), "ValueError", words, value)
        return value

    def _device(self, tensor: spec.Tensor) -> Value:
        """Return device type and id in one i64.

        If the spec gives no id, it is the id of the first tensor on this device type, or 0.
        """
        b, source = self.b, self._source(tensor, "device_type")
        if source is not None:
            return self.fast.tensor(source[1].position).device
        type_ = abi.DEVICE_TYPES[tensor.device]
        given = tensor.device_id
        if isinstance(given, int):
            return b.i64(type_ | given << 32)
        if isinstance(given, spec.Var):
            number = self.fast.symbol(given).value
            words = DEVICE_ID.format(given=given, name=tensor.name, noun=noun_of(tensor))
            b.check(b.ult(number, b.i64(MOST_DEVICES)), "ValueError", words, number)
            return b.or_(b.shl(number, b.i64(32)), b.i64(type_))
        return self.context.first_device(tensor.device)

    def _prototype(self, tensor: spec.Tensor, dims: Sequence[Value | int], device: Value) -> Value:
        b, t = self.b, self.b.types
        space = b.alloca(t.i64, abi.DLTENSOR_SIZE // 8)
        source = self._source(tensor, "shape")
        if source is None:
            shape = b.alloca(t.i64, len(dims)) if dims else b.null()
            for axis, dim in enumerate(dims):
                b.store(self.fast.value(dim), b.offset(shape, 8 * axis))
        else:
            shape = self.fast.shape(source[1].position)
        fields: list[tuple[int, Value]] = [
            (abi.DLTENSOR_DATA, b.null()),
            (abi.DLTENSOR_DEVICE_TYPE, device),
            (abi.DLTENSOR_NDIM, self._ndim_and_dtype(tensor)),
            (abi.DLTENSOR_SHAPE, shape),
            (abi.DLTENSOR_STRIDES, b.null()),
            (abi.DLTENSOR_BYTE_OFFSET, b.i64(0)),
        ]
        for offset, value in fields:
            b.store(value, b.offset(space, offset))
        return space

    def _ndim_and_dtype(self, tensor: spec.Tensor) -> Value:
        """Return the number of dimensions and the dtype in one i64."""
        b, t = self.b, self.b.types
        dtype = parse_dtype(tensor.dtypes[0]).word
        if not tensor.any_rank and len(tensor.dtypes) == 1:
            return b.i64(tensor.ndim | dtype << 32)
        shape, dtype_of = self._source(tensor, "shape"), self._source(tensor, "dtype")
        ndim = b.i32(tensor.ndim)
        if shape is not None and tensor.any_rank:
            ndim = self.context.ndim(shape[0])
        word = b.i32(dtype)
        if dtype_of is not None:
            word = self.context.dtype(dtype_of[0])
        return b.or_(b.shl(b.zext(word, t.i64), b.i64(32)), b.zext(ndim, t.i64))

    def _check_allocated(self, tensor: spec.Tensor, status: Value) -> None:
        """Raise an error if the allocation failed: the allocator's own, or that none is set."""
        b, t = self.b, self.b.types
        with unless(b, b.eq(status, b.i32(0))):
            words = (
                f"There is no allocator for the {noun_of(tensor)} {tensor.name} (pass a PyTorch "
                f"tensor, whose allocator then serves"
            )
            if tensor.device in ("cpu", ANY):  # install_allocator is for the CPU only
                words += ", or call ffi_builder.runtime.install_allocator(every_thread=True) before"
            words += "; C and C++ set one by TVMFFIEnvSetDLPackManagedTensorAllocator)"
            allocator = call_extern(b, GET_ALLOCATOR, [], t.ptr)
            b.check(b.ne(allocator, b.null()), "RuntimeError", words)
            b.ret(status)

    def _check_alignment(self, tensor: spec.Tensor, alignment: int, data: Value) -> None:
        b = self.b
        rest = b.and_(b.to_int(data), b.i64(alignment - 1))
        words = (
            f"The allocator's memory for the {noun_of(tensor)} {tensor.name} is {{}} bytes behind "
            f"a multiple of {alignment}, which the kernel needs"
        )
        b.check(b.eq(rest, b.i64(0)), "RuntimeError", words, rest)


def fill_with_zeros(allocation: Allocation, workspace: Workspace, position: Position) -> None:
    """Fill an allocated workspace; a CUDA device does this on the framework's current stream."""
    b, fast = allocation.b, allocation.fast
    t = b.types
    size, data = _size(allocation, workspace, position), fast.data(position)
    if workspace.device == "cpu":
        call_extern(b, "memset", [data, b.i32(0), size], t.ptr)
        return
    fill = addons.find("zeros", workspace.device)
    if fill is None:
        why = addons.lacking("zeros", workspace.device)
        raise BuildError(f"{workspace.label}: zero: what fills {workspace.device} memory {why}")
    device = b.trunc(b.lshr(fast.tensor(position).device, b.i64(32)), t.i32)
    fill(b, data, size, device, workspace.name)


def _size(allocation: Allocation, workspace: Workspace, position: Position) -> Value:
    """Return the number of bytes. It fits int64, or the allocator would have failed."""
    b, fast = allocation.b, allocation.fast
    t, tensor = b.types, fast.tensor(position)
    if workspace.any_rank:
        count = _product(allocation, tensor.object)
    else:
        dims = [tensor.dims[axis] for axis in range(workspace.ndim)]
        count = fast.value(fast.product(dims))
    if len(workspace.dtypes) == 1:
        bits = b.i64(parse_dtype(workspace.dtypes[0]).total_bits)
    else:
        word = b.field(t.i32, tensor.object, DL + abi.DLTENSOR_DTYPE)
        width = b.and_(b.lshr(word, b.i32(8)), b.i32(0xFF))
        bits = b.zext(b.mul(width, b.lshr(word, b.i32(16))), t.i64)
    return b.udiv(b.add(b.mul(count, bits), b.i64(7)), b.i64(8))


def _product(allocation: Allocation, object_: Value) -> Value:
    """Multiply the dimensions of a tensor of any rank."""
    b = allocation.b
    t = b.types
    product = b.alloca(t.i64)
    b.store(b.i64(1), product)
    shape = b.field(t.ptr, object_, DL + abi.DLTENSOR_SHAPE)
    ndim = b.zext(b.field(t.i32, object_, DL + abi.DLTENSOR_NDIM), t.i64)
    with b.loop(ndim) as axis:
        dim = b.load(t.i64, b.element(shape, axis, "i64"))
        b.store(b.mul(b.load(t.i64, product), dim), product)
    return b.load(t.i64, product)
