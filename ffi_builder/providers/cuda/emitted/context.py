"""Helpers that choose and enter CUDA contexts.

In C::

    int32_t enter(State *, int32_t device, int32_t *pushed);   makes a context of the device current
    void leave(State *, int32_t pushed);                       undoes enter
    int32_t device_of(State *, void *stream, int32_t device);  device of a launch on the stream
    void forget(State *, int32_t device);                      forgets the primary context
    int32_t launch(State *, CUlaunchConfig *, CUkernel, void **params, int32_t device);

A kernel is launched in the context of its stream. For special streams (NULL, legacy, per-thread)
this is the current context. There may be none, or one of another device, so ``launch`` makes the
device's primary context current during the launch. A device of -1 stands for the current device, or
0 if there is none. Results are statuses: see ``driver.CODE_BITS``.

Other code may reset a device (``cudaDeviceReset``), which destroys its primary context for everyone
who retained it. A helper that finds the context destroyed retains the new one, once. It does not
release the old one: a count that is too high keeps a context longer than needed, but a count that
is too low would take it away from other code.
"""

from __future__ import annotations

from ffi_builder.ir import Value, exchange_null, load_acquire, store_release
from ffi_builder.providers.cuda import driver
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


def enter(b: HelperBuilder, state: Value, device: Value, pushed: Value) -> None:
    """Make a context of the device current, and store whether one was pushed for that."""
    t = b.types
    slot, number = b.alloca(t.ptr), b.alloca(t.i32)
    b.store(b.i32(0), pushed)
    call_checked(b, state, "cuCtxGetCurrent", [slot])
    any_device = b.slt(device, b.i32(0))
    with b.when(b.ne(b.load(t.ptr, slot), b.null())):
        with b.when(any_device):
            b.ret(b.i32(0))
        call_checked(b, state, "cuCtxGetDevice", [number])
        with b.when(b.eq(b.load(t.i32, number), device)):
            b.ret(b.i32(0))
    wanted, name = b.select(any_device, b.i32(0), device), "cuCtxPushCurrent_v2"
    return_failure(b, call_helper(b, "primary", [state, wanted, slot]))
    result = b.alloca(t.i32)
    b.store(call_driver(b, state, name, [b.load(t.ptr, slot)]), result)
    with b.when(_is_gone(b, b.load(t.i32, result))):
        b.call(helper_name("forget"), [state, wanted], t.void)
        return_failure(b, call_helper(b, "primary", [state, wanted, slot]))
        b.store(call_driver(b, state, name, [b.load(t.ptr, slot)]), result)
    return_failure(b, status_of(b, name, b.load(t.i32, result)))
    b.store(b.i32(1), pushed)
    b.ret(b.i32(0))


def primary(b: HelperBuilder, state: Value, device: Value, out: Value) -> None:
    """Store the device's primary context, which the module retains once, until it is unloaded.

    If each launch retained and released it, the driver would create it for each launch, unless
    other code retains it too.
    """
    t = b.types
    with b.when(b.uge(device, b.i32(driver.DEVICES))):
        name = "cuDevicePrimaryCtxRetain"
        b.ret(status_of(b, name, b.i32(driver.Result.INVALID_DEVICE)))
    slot = _slot(b, state, device)
    known = load_acquire(b, t.ptr, slot, size=8)
    with b.when(b.ne(known, b.null())):
        b.store(known, out)
        b.ret(b.i32(0))
    name = "cuDevicePrimaryCtxRetain"
    with relaxed_capture(b, state):
        result = call_driver(b, state, name, [out, device])
    return_failure(b, status_of(b, name, result))
    before = exchange_null(b, slot, b.load(t.ptr, out))
    with b.when(b.ne(before, b.null())):  # another thread was faster; one count is enough
        b.store(before, out)
        call_driver(b, state, "cuDevicePrimaryCtxRelease_v2", [device])
    b.ret(b.i32(0))


def forget(b: HelperBuilder, state: Value, device: Value) -> None:
    """Forget the device's primary context, so that the next use retains it again."""
    known = b.select(b.slt(device, b.i32(0)), b.i32(0), device)
    store_release(b, b.null(), _slot(b, state, known), size=8)
    b.ret()


def leave(b: HelperBuilder, state: Value, pushed: Value) -> None:
    """Make the context that was current before :func:`enter` current again."""
    with b.when(b.ne(pushed, b.i32(0))):
        slot = b.alloca(b.types.ptr)
        call_driver(b, state, "cuCtxPopCurrent_v2", [slot])
    b.ret()


def launch(
    b: HelperBuilder, state: Value, config: Value, kernel: Value, params: Value, device: Value
) -> None:
    """Launch on a special stream, and leave the context before the result is examined."""
    t = b.types
    pushed, result = b.alloca(t.i32), b.alloca(t.i32)

    def attempt() -> None:
        return_failure(b, call_helper(b, "enter", [state, device, pushed]))
        operands = [config, kernel, params, b.null()]
        b.store(call_driver(b, state, "cuLaunchKernelEx", operands), result)
        b.call(helper_name("leave"), [state, b.load(t.i32, pushed)], t.void)

    attempt()
    own = b.ne(b.load(t.i32, pushed), b.i32(0))
    with b.when(b.and_(own, _is_gone(b, b.load(t.i32, result)))):
        b.call(helper_name("forget"), [state, device], t.void)
        attempt()
    b.ret(b.load(t.i32, result))


def device_of(b: HelperBuilder, state: Value, stream: Value, device: Value) -> None:
    """Return the device of a stream; for a special stream, or if the driver fails, ``device``.

    If ``device`` is -1, it stands for the current context's device, or 0 if there is none.
    """
    t = b.types
    slot, number = b.alloca(t.ptr), b.alloca(t.i32)
    is_known = b.sge(device, b.i32(0))
    b.store(b.select(is_known, device, b.i32(0)), number)
    special = b.ult(b.to_int(stream), b.i64(driver.SPECIAL_STREAMS))
    with b.when(special):
        with b.when(is_known):
            b.ret(device)
        # Without a current context this fails, and stores nothing.
        call_driver(b, state, "cuCtxGetDevice", [number])
        b.ret(b.load(t.i32, number))
    found = call_driver(b, state, "cuStreamGetCtx", [stream, slot])
    with b.when(b.eq(found, b.i32(0))):
        entered = call_driver(b, state, "cuCtxPushCurrent_v2", [b.load(t.ptr, slot)])
        with b.when(b.eq(entered, b.i32(0))):
            call_driver(b, state, "cuCtxGetDevice", [number])
            call_driver(b, state, "cuCtxPopCurrent_v2", [slot])
    b.ret(b.load(t.i32, number))


def _slot(b: HelperBuilder, state: Value, device: Value) -> Value:
    """Return the address at which a device's primary context is stored."""
    contexts = b.offset(state, driver.STATE_CONTEXTS)
    return b.element(contexts, b.zext(device, b.types.i64), "!llvm.ptr")


def _is_gone(b: HelperBuilder, result: Value) -> Value:
    """Return whether a CUresult says that a context was destroyed."""
    invalid = b.eq(result, b.i32(driver.Result.INVALID_CONTEXT))
    return b.or_(invalid, b.eq(result, b.i32(driver.Result.CONTEXT_IS_DESTROYED)))
