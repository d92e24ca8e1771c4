"""Helpers that fill device memory with zeros.

In C::

    int32_t ready(void **result, State *, …site);          under TVMFFIHandleInitOnce's lock
    int32_t zero(State *, void *pointer, int64_t size, void *stream, int32_t device,
                 const char *name, …site);
    int32_t fail_zero(State *, int32_t status, const char *name, …site);

``site`` has the function's name where that of a launch has the kernel's.
"""

from __future__ import annotations

from ffi_builder.ir import Value
from ffi_builder.providers.cuda import driver
from ffi_builder.providers.cuda.emitted.report import add_failure
from ffi_builder.providers.cuda.emitted.steps import (
    HelperBuilder,
    Message,
    Site,
    call_driver,
    call_helper,
    helper_name,
    return_failure,
    status_of,
)


def ready(b: HelperBuilder, result: Value, state: Value, *site: Value) -> None:
    """Find the driver unless a launch has; then the result is the state."""
    with b.when(b.eq(b.field(b.types.i64, state, driver.STATE_READY), b.i64(0))):
        return_failure(b, call_helper(b, "find_driver", [state, b.i32(0), *site]))
    b.store(state, result)
    b.ret(b.i32(0))


def zero(
    b: HelperBuilder,
    state: Value,
    pointer: Value,
    size: Value,
    stream: Value,
    device: Value,
    name: Value,
    *site: Value,
) -> None:
    """Fill memory in the order of a stream, with a context of the device current."""
    t, pushed = b.types, b.alloca(b.types.i32)
    with b.when(b.eq(size, b.i64(0))):
        b.ret(b.i32(0))
    entered = call_helper(b, "enter", [state, device, pushed])
    with b.when(b.ne(entered, b.i32(0))):
        b.ret(call_helper(b, "fail_zero", [state, entered, name, *site]))
    operands = [b.to_int(pointer), b.i32(0), size, stream]
    result = call_driver(b, state, "cuMemsetD8Async", operands)
    b.call(helper_name("leave"), [state, b.load(t.i32, pushed)], t.void)
    with b.when(b.ne(result, b.i32(0))):
        status = status_of(b, "cuMemsetD8Async", result)
        b.ret(call_helper(b, "fail_zero", [state, status, name, *site]))
    b.ret(b.i32(0))


def fail_zero(b: HelperBuilder, state: Value, status: Value, name: Value, *values: Value) -> None:
    """Set the error for a workspace that could not be filled."""
    site, message = Site(values), Message(b)
    code = b.and_(status, b.i32((1 << driver.CODE_BITS) - 1))
    add_failure(b, message, state, status, code)
    message.append(", to fill the workspace %s with zeros", name)
    b.ret(message.raise_("RuntimeError", site))
