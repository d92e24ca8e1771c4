"""Helpers that make a kernel ready on a device.

In C::

    int32_t prepare(State *, Kernel *, int32_t device, void *stream, int32_t needs);
    int32_t load_on(State *, Kernel *, int32_t device, int32_t needs);

``prepare`` sets the attributes without which a launch with more than 48 KiB of shared memory, or
with a cluster of more than 8 blocks, is refused. Both are set to what the device has at most, so
that wrappers of one kernel with different launches, and launches whose size is known only then, do
not take each other's leave. ``load_on`` is for :mod:`~ffi_builder.providers.cuda.control`.
"""

from __future__ import annotations

from ffi_builder.ir import Value
from ffi_builder.providers.cuda import driver
from ffi_builder.providers.cuda.driver import DeviceAttribute, FunctionAttribute
from ffi_builder.providers.cuda.emit import (
    HelperBuilder,
    call_checked,
    call_driver,
    call_helper,
    helper_name,
    load_acquire,
    relaxed_capture,
    return_failure,
    status_of,
    store_release,
)


def prepare(
    b: HelperBuilder, state: Value, kernel: Value, device: Value, stream: Value, needs: Value
) -> None:
    """Once for a device, while nothing that is captured elsewhere forbids it."""
    t = b.types
    number = b.alloca(t.i32)
    b.store(device, number)
    with b.when(b.slt(device, b.i32(0))):
        b.store(call_helper(b, "device_of", [state, stream]), number)
    known = b.load(t.i32, number)
    handle = load_acquire(b, t.ptr, kernel, size=8)
    with relaxed_capture(b, state):
        status = call_helper(b, "set_attributes", [state, handle, known, needs])
    return_failure(b, status)
    # The last byte stands for what is not known beforehand, and is asked for each time.
    with b.when(b.ult(device, b.i32(driver.DEVICES - 1))):
        bytes_ = b.offset(kernel, driver.KERNEL_PREPARED)
        slot = b.element(bytes_, b.zext(device, t.i64))
        before = load_acquire(b, t.i8, slot, size=1)
        store_release(b, b.or_(before, b.trunc(needs, t.i8)), slot, size=1)
    b.ret(b.i32(0))


def set_attributes(
    b: HelperBuilder, state: Value, handle: Value, device: Value, needs: Value
) -> None:
    """As ``needs`` has bits for."""
    t = b.types
    total, fixed = b.alloca(t.i32), b.alloca(t.i32)
    with b.when(_has(b, needs, driver.PREPARED_SHARED)):
        most = DeviceAttribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
        call_checked(b, state, "cuDeviceGetAttribute", [total, b.i32(most), device])
        own = b.i32(FunctionAttribute.SHARED_SIZE_BYTES)
        call_checked(b, state, "cuKernelGetAttribute", [fixed, own, handle, device])
        value = b.sub(b.load(t.i32, total), b.load(t.i32, fixed))
        name = b.i32(FunctionAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES)
        call_checked(b, state, "cuKernelSetAttribute", [name, value, handle, device])
    with b.when(_has(b, needs, driver.PREPARED_CLUSTER)):
        name = b.i32(FunctionAttribute.NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
        call_checked(b, state, "cuKernelSetAttribute", [name, b.i32(1), handle, device])
    b.ret(b.i32(0))


def load_on(b: HelperBuilder, state: Value, kernel: Value, device: Value, needs: Value) -> None:
    """All that a first launch would do on the device, and have done into a capture."""
    t = b.types
    pushed, slot = b.alloca(t.i32), b.alloca(t.ptr)
    status = call_helper(b, "enter", [state, device, pushed])
    return_failure(b, status)
    handle = load_acquire(b, t.ptr, kernel, size=8)
    with relaxed_capture(b, state):
        result = call_driver(b, state, "cuKernelGetFunction", [slot, handle])
    b.call(helper_name("leave"), [state, b.load(t.i32, pushed)], t.void)
    with b.when(b.ne(result, b.i32(0))):
        b.ret(status_of(b, "cuKernelGetFunction", result))
    with b.when(b.eq(needs, b.i32(0))):
        b.ret(b.i32(0))
    b.ret(call_helper(b, "prepare", [state, kernel, device, b.null(), needs]))


def _has(b: HelperBuilder, needs: Value, bit: int) -> Value:
    return b.ne(b.and_(needs, b.i32(bit)), b.i32(0))
