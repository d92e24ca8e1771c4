"""The helper that reports a failure of the driver, with its likely cause.

In C::

    int32_t fail(State *, Kernel *, CUlaunchConfig *, int32_t device, int32_t status,
                 const char *log, …site);

It sets a RuntimeError, and returns the status for the wrapper to return. If the failure is not of a
launch, kernel and configuration are NULL. The device's limits are queried only here, after a
failure; limits for which the driver does not answer are left out.

    cuLaunchKernelEx failed: CUDA_ERROR_INVALID_VALUE (1: invalid argument) for kernel 'saxpy':
    grid=(1, 1, 1), block=(2048, 1, 1), dynamic_smem_bytes=0, device 0, stream 0x0;
    block.x is 2048, at most 1024 on this device when calling: `…`
"""

from __future__ import annotations

from ffi_builder.ir import Value
from ffi_builder.providers.cuda import driver
from ffi_builder.providers.cuda.emitted.limits import Launch, add_architectures, add_limits, three
from ffi_builder.providers.cuda.emitted.steps import (
    HelperBuilder,
    Message,
    Site,
    call_driver,
    call_helper,
    driver_function,
    relaxed_capture,
)


def fail(
    b: HelperBuilder,
    state: Value,
    kernel: Value,
    config: Value,
    device: Value,
    status: Value,
    log: Value,
    *values: Value,
) -> None:
    """Compose the message: the failure, the launch, the exceeded limits, the signature."""
    t = b.types
    site, message = Site(values), Message(b)
    number = b.alloca(t.i32)
    b.store(b.select(b.slt(device, b.i32(0)), b.i32(0), device), number)
    code = b.and_(status, b.i32((1 << driver.CODE_BITS) - 1))
    add_failure(b, message, state, status, code)
    message.append(" for kernel '%s'", site.kernel)
    has_launch = b.ne(config, b.null())
    with b.when(has_launch):
        stream = b.field(t.ptr, config, driver.CONFIG_STREAM)
        b.store(call_helper(b, "device_of", [state, stream, device]), number)
    where = b.load(t.i32, number)
    with b.when(has_launch):
        _figures(b, message, config, where)
        # A query about a kernel may load it, which would invalidate a capture.
        with relaxed_capture(b, state):
            add_limits(b, message, Launch(state, kernel, config, where), code)
    add_architectures(b, message, state, code, site, where)
    with b.when(b.ne(b.load(t.i8, log), b.i8(0))):
        message.append("; the driver says: %.512s", log)
    b.ret(message.raise_("RuntimeError", site))


def add_failure(
    b: HelperBuilder, message: Message, state: Value, status: Value, code: Value
) -> None:
    """Append the function that failed, and the driver's name and text for the result."""
    t = b.types
    number = b.zext(b.lshr(status, b.i32(driver.CODE_BITS)), t.i64)
    function = driver_function(b, number)
    found: list[Value] = []
    for ask in ("cuGetErrorName", "cuGetErrorString"):
        slot = b.alloca(t.ptr)
        b.store(b.null(), slot)
        call_driver(b, state, ask, [code, slot])
        answer = b.load(t.ptr, slot)
        found.append(b.select(b.is_null(answer), b.words(b"an error without a name"), answer))
    message.append("%s failed: %s (%d: %s)", function, found[0], code, found[1])


def _figures(b: HelperBuilder, message: Message, config: Value, device: Value) -> None:
    t = b.types
    sizes = [b.field(t.i32, config, 4 * index) for index in range(7)]
    message.append(": grid=(%u, %u, %u), block=(%u, %u, %u)", *sizes[:6])
    attributes = b.field(t.ptr, config, driver.CONFIG_ATTRIBUTES)
    count = b.zext(b.field(t.i32, config, driver.CONFIG_COUNT), t.i64)
    with b.loop(count) as index:
        at = b.element(attributes, b.mul(index, b.i64(driver.ATTRIBUTE_SIZE)))
        kind = b.load(t.i32, at)
        with b.when(b.eq(kind, b.i32(driver.CLUSTER_DIMENSION))):
            message.append(
                ", cluster=(%u, %u, %u)", *three(b, b.offset(at, driver.ATTRIBUTE_VALUE))
            )
        for name, number in driver.FLAGS.items():
            with b.when(b.eq(kind, b.i32(number))):
                message.append(f", {name}")
    stream = b.to_int(b.field(t.ptr, config, driver.CONFIG_STREAM))
    message.append(", dynamic_smem_bytes=%u, device %d, stream 0x%x", sizes[6], device, stream)
