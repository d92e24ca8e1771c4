"""Helpers about CUDA contexts.

In C::

    int32_t enter(State *, int32_t device, int32_t *pushed);   makes a context of the device current
    void leave(State *, int32_t pushed);                       takes back what enter has done
    int32_t device_of(State *, void *stream, int32_t device);  where a launch on the stream will run
    void forget(State *, int32_t device);                      that its primary context is known
    int32_t launch(State *, CUlaunchConfig *, CUkernel, void **params, int32_t device);

A kernel is launched in the context of its stream. For the NULL stream and its kin that is the
current context, which may be there or not, and of any device; so ``launch`` looks, and makes the
device's primary context current for as long as the launch takes. A device of -1 stands for the one
that is current, or 0 if none is. Results are statuses: see ``driver.CODE_BITS``.

Somebody else may reset a device (``cudaDeviceReset`` does), and its primary context is gone then
for all who have retained it. Who finds it gone retains the next one, once. What it had retained
before is not released: a count too many keeps a context longer than is needed, where one too few
would take it from somebody else.
"""

from __future__ import annotations

from ffi_builder.ir import Value
from ffi_builder.providers.cuda import driver
from ffi_builder.providers.cuda.emitted.steps import (
    HelperBuilder,
    call_checked,
    call_driver,
    call_helper,
    exchange_null,
    helper_name,
    load_acquire,
    relaxed_capture,
    return_failure,
    status_of,
    store_release,
)


def enter(b: HelperBuilder, state: Value, device: Value, pushed: Value) -> None:
    """Stores whether a context was pushed."""
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
    """The device's primary context, retained once for the module, until its code goes.

    What is retained and released for each launch would be made anew each time where nobody else
    has it.
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
    with b.when(b.ne(before, b.null())):  # another thread was faster: one of us is enough
        b.store(before, out)
        call_driver(b, state, "cuDevicePrimaryCtxRelease_v2", [device])
    b.ret(b.i32(0))


def forget(b: HelperBuilder, state: Value, device: Value) -> None:
    """The device's primary context is retained anew when it is needed next."""
    known = b.select(b.slt(device, b.i32(0)), b.i32(0), device)
    store_release(b, b.null(), _slot(b, state, known), size=8)
    b.ret()


def leave(b: HelperBuilder, state: Value, pushed: Value) -> None:
    """The context that was current before is that again."""
    with b.when(b.ne(pushed, b.i32(0))):
        slot = b.alloca(b.types.ptr)
        call_driver(b, state, "cuCtxPopCurrent_v2", [slot])
    b.ret()


def launch(
    b: HelperBuilder, state: Value, config: Value, kernel: Value, params: Value, device: Value
) -> None:
    """On a stream of the current context. The context is left before the result is looked at."""
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
    """The stream's own device; of the NULL stream and its kin ``device``.

    Where the stream does not say, that as well; -1 is the current context's, or 0 if there is none.
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
    """Where a device's primary context is noted."""
    contexts = b.offset(state, driver.STATE_CONTEXTS)
    return b.element(contexts, b.zext(device, b.types.i64), "!llvm.ptr")


def _is_gone(b: HelperBuilder, result: Value) -> Value:
    """Whether a CUresult says that a context is none any more."""
    invalid = b.eq(result, b.i32(driver.Result.INVALID_CONTEXT))
    return b.or_(invalid, b.eq(result, b.i32(driver.Result.CONTEXT_IS_DESTROYED)))
