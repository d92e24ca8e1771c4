"""Helpers that find out the compute capability of a device.

In C, ``Slots`` being an array of ``driver.CAPABILITY_SLOTS`` words, which are 0 at first::

    int32_t find_capability(State *, Slots, int (*init)(void **), int32_t device, void *stream,
                            int32_t *out, …site);
    int32_t init_capability(void **slot, State *, …site);

A slot has the capability of the device of that number: ``major << 8 | minor``. Two threads that ask
the driver at the same time store the same. The slot behind those of the devices says that the
driver has been found; ``TVMFFIHandleInitOnce`` initialises it.
"""

from __future__ import annotations

from typing import Final

from ffi_builder.ir import Value, load_acquire, store_release
from ffi_builder.providers.cuda import driver
from ffi_builder.providers.cuda.driver import DeviceAttribute
from ffi_builder.providers.cuda.emitted.steps import (
    INIT_ONCE,
    HelperBuilder,
    call_driver,
    call_helper,
    fail_without_launch,
    return_failure,
    status_of,
)

_BYTES: Final = 8
_PARTS: Final = (
    DeviceAttribute.COMPUTE_CAPABILITY_MAJOR,
    DeviceAttribute.COMPUTE_CAPABILITY_MINOR,
)


def find_capability(
    b: HelperBuilder,
    state: Value,
    slots: Value,
    init: Value,
    device: Value,
    stream: Value,
    out: Value,
    *site: Value,
) -> None:
    """Store the capability of a device; of the stream's device if ``device`` is -1."""
    t = b.types
    number, parts = b.alloca(t.i32), b.alloca(t.i32, len(_PARTS))
    b.store(device, number)
    ready = b.offset(slots, _BYTES * driver.DEVICES)
    return_failure(b, b.call_value(INIT_ONCE, [ready, init], t.i32))
    with b.when(b.slt(device, b.i32(0))):
        b.store(call_helper(b, "device_of", [state, stream, device]), number)
    known = b.load(t.i32, number)
    # The slot of the last device stays 0: wrappers look there for a device that they do not know.
    last = b.i32(driver.DEVICES - 1)
    has_slot = b.ult(known, last)
    slot = b.element(slots, b.zext(b.select(has_slot, known, last), t.i64), "i64")
    before = b.trunc(load_acquire(b, t.i64, slot, size=_BYTES), t.i32)
    with b.when(b.ne(before, b.i32(0))):
        b.store(before, out)
        b.ret(b.i32(0))
    for index, attribute in enumerate(_PARTS):
        name, at = "cuDeviceGetAttribute", b.offset(parts, 4 * index)
        result = call_driver(b, state, name, [at, b.i32(attribute), known])
        with b.when(b.ne(result, b.i32(0))):
            fail_without_launch(b, state, status_of(b, name, result), site, device=known)
    major, minor = b.load(t.i32, parts), b.field(t.i32, parts, 4)
    found = b.or_(b.shl(major, b.i32(driver.CAPABILITY_BITS)), minor)
    b.store(found, out)
    with b.when(has_slot):
        store_release(b, b.zext(found, t.i64), slot, size=_BYTES)
    b.ret(b.i32(0))


def init_capability(b: HelperBuilder, slot: Value, state: Value, *site: Value) -> None:
    """Find the driver if no launch has; it runs under the lock."""
    with b.when(b.eq(b.field(b.types.i64, state, driver.STATE_READY), b.i64(0))):
        return_failure(b, call_helper(b, "find_driver", [state, b.i32(1), *site]))
    b.store(state, slot)
    b.ret(b.i32(0))
