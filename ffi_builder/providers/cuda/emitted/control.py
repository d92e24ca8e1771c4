"""Helpers that preload and release kernels, and that the module's destructor calls.

In C::

    int32_t preload(TVMFFIAny *args, int32_t count, TVMFFIAny *result, State *, Kernel *,
                    int (*init)(void **), int32_t needs, …site);
    int32_t release(int32_t count, State *, TVMFFIAny *result, int (*unload)(void **), …site);
    int32_t unload(void **result, State *, Library *);     under TVMFFIHandleInitOnce's lock
    void leave_module(State *);                            when the code is unloaded
"""

from __future__ import annotations

from typing import Final

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from ffi_builder.ir import Value, store_release
from ffi_builder.packed.anys import store_none
from ffi_builder.providers.cuda import driver
from ffi_builder.providers.cuda.emitted.steps import (
    INIT_ONCE,
    HelperBuilder,
    Message,
    Site,
    call_driver,
    call_helper,
    each,
    fail_without_launch,
    relaxed_capture,
    return_failure,
    status_of,
)

_FINALIZING: Final = ("Py_IsFinalizing", "_Py_IsFinalizing")
"""The names in Python 3.13 and later, and in older versions."""


def preload(
    b: HelperBuilder,
    args: Value,
    count: Value,
    result: Value,
    state: Value,
    kernel: Value,
    init: Value,
    needs: Value,
    *site: Value,
) -> None:
    """Load the kernel and prepare it, on the device in the only argument or the current one."""
    t = b.types
    device = b.alloca(t.i64)
    b.store(b.i64(-1), device)
    store_none(b, result)
    with b.when(b.ne(count, b.i32(0))):
        with b.when(b.ne(count, b.i32(1))):
            b.ret(_refuse(b, "TypeError", "%d arguments", [count], site))
        kind = b.load(t.i32, args)
        with b.when(b.ne(kind, b.i32(TypeIndex.INT))):
            b.ret(_refuse(b, "TypeError", "an argument of another type", [], site))
        number = b.field(t.i64, args, abi.ANY_PAYLOAD)
        with b.when(b.uge(number, b.i64(driver.DEVICES))):
            b.ret(_refuse(b, "ValueError", "%d", [number], site))
        b.store(number, device)
    return_failure(b, b.call_value(INIT_ONCE, [kernel, init], t.i32))
    where = b.trunc(b.load(t.i64, device), t.i32)
    status = call_helper(b, "load_on", [state, kernel, where, needs])
    with b.when(b.ne(status, b.i32(0))):
        fail_without_launch(b, state, status, site, kernel=kernel, device=where)
    b.ret(b.i32(0))


def _refuse(
    b: HelperBuilder, kind: str, format_: str, shown: list[Value], values: tuple[Value, ...]
) -> Value:
    site, message = Site(values), Message(b)
    message.append("To preload kernel '%s': expected the number of a device, 0 to ", site.kernel)
    message.append(
        f"{driver.DEVICES - 1}, or nothing for the current one, but got {format_}", *shown
    )
    return message.raise_(kind, site)


def release(
    b: HelperBuilder, count: Value, state: Value, result: Value, callback: Value, *site: Value
) -> None:
    """Unload the image under the lock of loading; :func:`unload` stores the status in a slot."""
    t = b.types
    with b.when(b.ne(count, b.i32(0))):
        owner, message = Site(site), Message(b)
        message.append("To release kernel '%s': expected no argument", owner.kernel)
        message.append(" but got %d", count)
        b.ret(message.raise_("TypeError", owner))
    slot = b.alloca(t.ptr)
    b.store(b.null(), slot)
    store_none(b, result)
    return_failure(b, b.call_value(INIT_ONCE, [slot, callback], t.i32))
    # The slot has the status plus 1, so that it is not NULL.
    status = b.trunc(b.sub(b.to_int(b.load(t.ptr, slot)), b.i64(1)), t.i32)
    with b.when(b.ne(status, b.i32(0))):
        fail_without_launch(b, state, status, site)
    b.ret(b.i32(0))


def unload(b: HelperBuilder, result: Value, state: Value, library: Value) -> None:
    """Unload the library, and forget it and its kernels even if the driver fails.

    The next call of a kernel loads it again.
    """
    t = b.types
    status = b.alloca(t.i32)
    b.store(b.i32(0), status)
    handle = b.load(t.ptr, library)
    with b.when(b.ne(handle, b.null())):
        with each(b, b.offset(library, driver.LIBRARY_KERNELS), driver.KERNEL_NEXT) as kernel:
            store_release(b, b.null(), kernel, size=8)
            prepared = b.offset(kernel, driver.KERNEL_PREPARED)
            with b.loop(b.i64(driver.DEVICES // 8)) as index:
                b.store(b.i64(0), b.element(prepared, index, "i64"))
        b.store(b.null(), library)
        with relaxed_capture(b, state):
            unloaded = call_driver(b, state, "cuLibraryUnload", [handle])
        b.store(status_of(b, "cuLibraryUnload", unloaded), status)
    shown = b.zext(b.load(t.i32, status), t.i64)
    b.store(b.to_pointer(b.add(shown, b.i64(1))), result)
    b.ret(b.i32(0))


def leave_module(b: HelperBuilder, state: Value) -> None:
    """Release libraries and contexts, ignoring failures, which nothing could report.

    When the interpreter ends nothing is released, since the driver may be unloaded already.
    """
    t = b.types
    with b.when(b.eq(b.field(t.i64, state, driver.STATE_READY), b.i64(0))):
        b.ret()
    with b.when(_interpreter_ends(b)):
        b.ret()
    with relaxed_capture(b, state):
        with each(b, b.offset(state, driver.STATE_LIBRARIES), driver.LIBRARY_NEXT) as library:
            handle = b.load(t.ptr, library)
            with b.when(b.ne(handle, b.null())):
                call_driver(b, state, "cuLibraryUnload", [handle])
        with b.loop(b.i64(driver.DEVICES)) as device:
            slot = b.element(b.offset(state, driver.STATE_CONTEXTS), device, "!llvm.ptr")
            with b.when(b.ne(b.load(t.ptr, slot), b.null())):
                call_driver(b, state, "cuDevicePrimaryCtxRelease_v2", [b.trunc(device, t.i32)])
    b.ret()


def _interpreter_ends(b: HelperBuilder) -> Value:
    """Return whether the Python interpreter ends, as an i1; False if the process has no Python."""
    t = b.types
    b.symbols.declare("dlsym", t.ptr, [t.ptr, t.ptr])
    answer = b.alloca(t.i32)
    b.store(b.i32(0), answer)
    for name in _FINALIZING:
        function = b.call_value("dlsym", [b.null(), b.words(name.encode())], t.ptr)
        with b.when(b.ne(function, b.null())):
            ends = b.call_pointer(function, [], t.i32)
            assert ends is not None
            b.store(b.or_(b.load(t.i32, answer), ends), answer)
    return b.ne(b.load(t.i32, answer), b.i32(0))
