"""Helpers that prepare a kernel on a device.

In C::

    int32_t prepare(State *, Kernel *, int32_t device, void *stream, int32_t needs);
    int32_t launch_again(State *, Kernel *, CUlaunchConfig *, void **params, int32_t device,
                         int32_t needs, int32_t status);
    int32_t load_on(State *, Kernel *, int32_t device, int32_t needs);

``prepare`` sets the attributes that a launch with more than 48 KiB of shared memory, or with a
cluster of more than 8 blocks, requires. It sets both to the device's maximum. So wrappers of one
kernel with different launches, or with sizes known only at run time, do not lower the limits of
each other.

A launch runs on the device of its stream, even if the tensors are on another one. Asking for the
stream's device takes four calls. So if there is a tensor, and the kernel is prepared on its device,
a wrapper assumes that the stream has the same device. If it does not, the driver refuses the
launch; ``launch_again`` then prepares the kernel on the stream's device, and launches a second
time. ``load_on`` is called by :mod:`~ffi_builder.providers.cuda.emitted.control`.
"""

from __future__ import annotations

from ffi_builder.ir import Value, load_acquire, store_release
from ffi_builder.providers.cuda import driver
from ffi_builder.providers.cuda.driver import DeviceAttribute, FunctionAttribute
from ffi_builder.providers.cuda.emitted.steps import (
    HelperBuilder,
    call_checked,
    call_driver,
    call_helper,
    helper_name,
    relaxed_capture,
    return_failure,
    status_of,
)


def prepare(
    b: HelperBuilder, state: Value, kernel: Value, device: Value, stream: Value, needs: Value
) -> None:
    """Set the attributes once per device, also while another thread captures a stream."""
    t = b.types
    known = call_helper(b, "device_of", [state, stream, device])
    slot = _prepared(b, kernel, known)
    before = b.zext(load_acquire(b, t.i8, slot, size=1), t.i32)
    with b.when(b.eq(b.and_(before, needs), needs)):
        b.ret(b.i32(0))
    handle = load_acquire(b, t.ptr, kernel, size=8)
    with relaxed_capture(b, state):
        status = call_helper(b, "set_attributes", [state, handle, known, needs])
    return_failure(b, status)
    # The last byte, for all devices without one of their own, stays 0.
    with b.when(b.ult(known, b.i32(driver.DEVICES - 1))):
        # Another thread may have set another bit meanwhile, which is lost and set again later.
        store_release(b, b.trunc(b.or_(before, needs), t.i8), slot, size=1)
    b.ret(b.i32(0))


def launch_again(
    b: HelperBuilder,
    state: Value,
    kernel: Value,
    config: Value,
    params: Value,
    device: Value,
    needs: Value,
    status: Value,
) -> None:
    """Launch again if the stream's device is not prepared; return that status or the first one."""
    t = b.types
    stream = b.field(t.ptr, config, driver.CONFIG_STREAM)
    found = call_helper(b, "device_of", [state, stream, device])
    # The launch has the function number 0, so its statuses are below the bits of that number.
    is_launch = b.ult(status, b.i32(1 << driver.CODE_BITS))
    elsewhere = b.and_(b.ne(found, device), b.sge(device, b.i32(0)))
    has = b.zext(load_acquire(b, t.i8, _prepared(b, kernel, found), size=1), t.i32)
    unready = b.ne(b.and_(has, needs), needs)
    with b.when(b.xor(b.and_(is_launch, b.and_(elsewhere, unready)), b.i1(True))):
        b.ret(status)
    return_failure(b, call_helper(b, "prepare", [state, kernel, found, stream, needs]))
    handle = load_acquire(b, t.ptr, kernel, size=8)
    b.ret(call_driver(b, state, "cuLaunchKernelEx", [config, handle, params, b.null()]))


def _prepared(b: HelperBuilder, kernel: Value, device: Value) -> Value:
    """Return the address of a device's byte in the kernel's state."""
    t = b.types
    last = b.i32(driver.DEVICES - 1)
    index = b.select(b.ult(device, last), device, last)
    return b.element(b.offset(kernel, driver.KERNEL_PREPARED), b.zext(index, t.i64))


def set_attributes(
    b: HelperBuilder, state: Value, handle: Value, device: Value, needs: Value
) -> None:
    """Set the kernel attributes whose bits are in ``needs``."""
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
    """Do everything that a first launch does before it launches, which a capture would forbid."""
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
