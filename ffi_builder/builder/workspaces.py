"""Fills workspaces with zeros: ``memset`` on the CPU, the driver's on CUDA devices."""

from __future__ import annotations

from typing import Final

from ffi_builder import abi, spec
from ffi_builder.builder.allocation import Allocation
from ffi_builder.builder.fast_path.context import DL
from ffi_builder.builder.fast_path.state import Position
from ffi_builder.ir import Value
from ffi_builder.spec import Workspace

_MEMSET: Final = "memset"


def fill_with_zeros(allocation: Allocation, workspace: Workspace, position: Position) -> None:
    """Fill a workspace that was allocated; on a CUDA device on the framework's current stream."""
    b, fast = allocation.b, allocation.fast
    t = b.types
    size, data = _size(allocation, workspace, position), fast.data(position)
    if workspace.device == "cpu":
        b.symbols.declare(_MEMSET, t.ptr, [t.ptr, t.i32, t.i64])
        b.call(_MEMSET, [data, b.i32(0), size], t.ptr)
        return
    # The code for CUDA reads kernel images too, and few signatures need it.
    from ffi_builder.providers.cuda import zeroing

    device = b.trunc(b.lshr(fast.tensor(position).device, b.i64(32)), t.i32)
    zeroing.fill_with_zeros(b, data, size, device, workspace.name)


def _size(allocation: Allocation, workspace: Workspace, position: Position) -> Value:
    """Return the number of bytes. The allocator has refused what does not fit."""
    b, fast = allocation.b, allocation.fast
    t, tensor = b.types, fast.tensor(position)
    if workspace.any_rank:
        count = _product(allocation, tensor.object)
    else:
        dims = [tensor.dims[axis] for axis in range(workspace.ndim)]
        count = fast.value(fast.product(dims))
    if len(workspace.dtypes) == 1:
        bits = b.i64(spec.parse_dtype(workspace.dtypes[0]).total_bits)
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
