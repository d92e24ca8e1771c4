"""Parts of a message: the limits of the device that a launch exceeds.

All limits are queried after a launch has failed. The failure may have broken the driver; a part for
which it does not answer is left out.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import reduce
from typing import Final

from ffi_builder.ir import Value, load_acquire
from ffi_builder.providers.cuda import driver
from ffi_builder.providers.cuda.driver import DeviceAttribute, FunctionAttribute, Result
from ffi_builder.providers.cuda.emitted.steps import (
    HelperBuilder,
    Message,
    Site,
    call_driver,
    cuda_version,
)
from ffi_builder.records import dataclass

_DIMENSIONS: Final = (
    ("grid.x", driver.CONFIG_GRID, DeviceAttribute.MAX_GRID_DIM_X),
    ("grid.y", driver.CONFIG_GRID + 4, DeviceAttribute.MAX_GRID_DIM_Y),
    ("grid.z", driver.CONFIG_GRID + 8, DeviceAttribute.MAX_GRID_DIM_Z),
    ("block.x", driver.CONFIG_BLOCK, DeviceAttribute.MAX_BLOCK_DIM_X),
    ("block.y", driver.CONFIG_BLOCK + 4, DeviceAttribute.MAX_BLOCK_DIM_Y),
    ("block.z", driver.CONFIG_BLOCK + 8, DeviceAttribute.MAX_BLOCK_DIM_Z),
)
"""The name in messages, the offset in a CUlaunchConfig, and the device's limit."""
_CLUSTER: Final = (
    FunctionAttribute.REQUIRED_CLUSTER_WIDTH,
    FunctionAttribute.REQUIRED_CLUSTER_HEIGHT,
    FunctionAttribute.REQUIRED_CLUSTER_DEPTH,
)
_ROW: Final = struct.Struct("<8sii")
_OF_THE_IMAGE: Final = (
    Result.NO_BINARY_FOR_GPU,
    Result.INVALID_PTX,
    Result.UNSUPPORTED_PTX_VERSION,
    Result.NOT_FOUND,
)


@dataclass(frozen=True)
class Launch:
    """The failed launch, and the device on which it was to run."""

    state: Value
    kernel: Value
    config: Value
    device: Value


def add_limits(b: HelperBuilder, message: Message, launch: Launch, code: Value) -> None:
    """Append each limit that is exceeded; ``code`` is the CUresult."""
    _dimensions(b, message, launch)
    _threads(b, message, launch)
    _shared_memory(b, message, launch)
    _clusters(b, message, launch)
    with b.when(b.eq(code, b.i32(Result.COOPERATIVE_LAUNCH_TOO_LARGE))):
        message.append("; all blocks of a cooperative launch have to fit onto the device at once")


def three(b: HelperBuilder, at: Value) -> list[Value]:
    """Load three adjacent i32."""
    return [b.field(b.types.i32, at, 4 * axis) for axis in range(3)]


def _dimensions(b: HelperBuilder, message: Message, launch: Launch) -> None:
    t = b.types
    table = b.words(b"".join(_ROW.pack(n.encode(), *row) for n, *row in _DIMENSIONS))
    with b.loop(b.i64(len(_DIMENSIONS))) as index:
        row = b.element(table, b.mul(index, b.i64(_ROW.size)))
        at = b.zext(b.load(t.i32, b.offset(row, 8), align=1), t.i64)
        value = b.load(t.i32, b.element(launch.config, at))
        asked = b.load(t.i32, b.offset(row, 12), align=1)
        answered, most = _of_device(b, launch, asked)
        with b.when(b.and_(answered, b.ugt(value, most))):
            message.append("; %s is %u, at most %d on this device", row, value, most)


def _threads(b: HelperBuilder, message: Message, launch: Launch) -> None:
    """Check the threads of a block; the kernel may allow fewer of them than the device does."""
    t = b.types
    block = three(b, b.offset(launch.config, driver.CONFIG_BLOCK))
    threads = _product(b, block)
    answered, most = _of_kernel(b, launch, FunctionAttribute.MAX_THREADS_PER_BLOCK)
    with b.when(b.and_(answered, b.ugt(threads, b.zext(most, t.i64)))):
        text = "; the block has %u threads, at most %d for this kernel on this device"
        message.append(text, threads, most)


def _shared_memory(b: HelperBuilder, message: Message, launch: Launch) -> None:
    t = b.types
    dynamic = b.zext(b.field(t.i32, launch.config, driver.CONFIG_SHARED), t.i64)
    most = DeviceAttribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    answered, total = _of_device(b, launch, b.i32(most))
    of_kernel, fixed = _of_kernel(b, launch, FunctionAttribute.SHARED_SIZE_BYTES)
    left = b.sub(b.sext(total, t.i64), b.sext(fixed, t.i64))
    with b.when(b.and_(b.and_(answered, of_kernel), b.sgt(dynamic, left))):
        text = "; dynamic_smem_bytes is %d, at most %d for this kernel on this device"
        message.append(text, dynamic, left)


def _clusters(b: HelperBuilder, message: Message, launch: Launch) -> None:
    """Check the requested cluster, or the one for which the kernel was compiled."""
    t = b.types
    cluster = b.alloca(t.i32, len(_CLUSTER))
    for axis, attribute in enumerate(_CLUSTER):
        answered, size = _of_kernel(b, launch, attribute)
        b.store(b.select(answered, size, b.i32(0)), b.offset(cluster, 4 * axis))
    attributes = b.field(t.ptr, launch.config, driver.CONFIG_ATTRIBUTES)
    count = b.zext(b.field(t.i32, launch.config, driver.CONFIG_COUNT), t.i64)
    with b.loop(count) as index:
        at = b.element(attributes, b.mul(index, b.i64(driver.ATTRIBUTE_SIZE)))
        with b.when(b.eq(b.load(t.i32, at), b.i32(driver.CLUSTER_DIMENSION))):
            asked = three(b, b.offset(at, driver.ATTRIBUTE_VALUE))
            for axis, size in enumerate(asked):
                b.store(size, b.offset(cluster, 4 * axis))
    sizes = three(b, cluster)
    with b.when(reduce(b.and_, (b.ne(size, b.i32(0)) for size in sizes))):
        _cluster(b, message, launch, sizes)


def _cluster(b: HelperBuilder, message: Message, launch: Launch, cluster: Sequence[Value]) -> None:
    grid = three(b, b.offset(launch.config, driver.CONFIG_GRID))
    for axis, blocks, size in zip("xyz", grid, cluster, strict=True):
        with b.when(b.ne(b.urem(blocks, size), b.i32(0))):
            message.append(f"; grid.{axis} is %u, no multiple of cluster.{axis}, %u", blocks, size)
    blocks = _product(b, cluster)
    with b.when(b.ugt(blocks, b.i64(driver.MAX_PORTABLE_CLUSTER))):
        text = "; the cluster has %u blocks, and not every device can have more than %d"
        message.append(text, blocks, b.i32(driver.MAX_PORTABLE_CLUSTER))
    answered, able = _of_device(b, launch, b.i32(DeviceAttribute.CLUSTER_LAUNCH))
    with b.when(b.and_(answered, b.eq(able, b.i32(0)))):
        message.append("; this device has no clusters")


def add_architectures(
    b: HelperBuilder, message: Message, state: Value, code: Value, site: Site, device: Value
) -> None:
    """Append the architectures of the image, if it has no code for this device."""
    none = b.null()
    launch = Launch(state, none, none, device)
    concerned = b.i1(False)
    for result in _OF_THE_IMAGE:
        concerned = b.or_(concerned, b.eq(code, b.i32(result)))
    with b.when(concerned):
        message.append("; the image has %s", site.image)
        answered, major = _of_device(b, launch, b.i32(DeviceAttribute.COMPUTE_CAPABILITY_MAJOR))
        _, minor = _of_device(b, launch, b.i32(DeviceAttribute.COMPUTE_CAPABILITY_MINOR))
        with b.when(answered):
            message.append(", and device %d is sm_%d%d", device, major, minor)
    with b.when(b.eq(code, b.i32(Result.UNSUPPORTED_PTX_VERSION))):
        slot = b.alloca(b.types.i32)
        b.store(b.i32(0), slot)
        call_driver(b, state, "cuDriverGetVersion", [slot])
        text = (
            "; its PTX is newer than the driver, which is of CUDA %d.%d: update it, or ship a cubin"
        )
        message.append(text, *cuda_version(b, b.load(b.types.i32, slot)))


def _of_device(b: HelperBuilder, launch: Launch, attribute: Value) -> tuple[Value, Value]:
    """Return whether the driver answered, and its answer."""
    slot = b.alloca(b.types.i32)
    operands = [slot, attribute, launch.device]
    result = call_driver(b, launch.state, "cuDeviceGetAttribute", operands)
    return b.eq(result, b.i32(0)), b.load(b.types.i32, slot)


def _of_kernel(
    b: HelperBuilder, launch: Launch, attribute: FunctionAttribute
) -> tuple[Value, Value]:
    t = b.types
    slot = b.alloca(t.i32)
    handle = load_acquire(b, t.ptr, launch.kernel, size=8)
    operands = [slot, b.i32(attribute), handle, launch.device]
    result = call_driver(b, launch.state, "cuKernelGetAttribute", operands)
    return b.eq(result, b.i32(0)), b.load(t.i32, slot)


def _product(b: HelperBuilder, sizes: Sequence[Value]) -> Value:
    """Multiply three positive i32; a product that does not fit an int64 is its maximum."""
    x, y, z = (b.zext(size, b.types.i64) for size in sizes)
    plane, most = b.mul(x, y), b.i64(2**63 - 1)
    return b.select(b.ugt(plane, b.udiv(most, z)), most, b.mul(plane, z))
