"""Helpers that find the driver and get a kernel from an image.

In C::

    int32_t load(void **result, State *, Library *, Kernel *, const void *data, const char *symbol,
                 …site);

It runs under the lock of ``TVMFFIHandleInitOnce``. The process has one such lock, so the states
need none. If it fails, nothing is initialised, and the next call tries again.
"""

from __future__ import annotations

from typing import Final

from ffi_builder.ir import Value
from ffi_builder.providers.cuda import driver
from ffi_builder.providers.cuda.driver import JitOption
from ffi_builder.providers.cuda.emitted.steps import (
    HelperBuilder,
    Message,
    Site,
    call_driver,
    call_helper,
    cuda_version,
    driver_function,
    fail_without_launch,
    put_in_list,
    relaxed_capture,
    return_failure,
    status_of,
)

_LOG_SIZE: Final = 1024
_RTLD_NOW: Final = 2


def load(
    b: HelperBuilder,
    result: Value,
    state: Value,
    library: Value,
    kernel: Value,
    data: Value,
    symbol: Value,
    *site: Value,
) -> None:
    """Store the CUkernel and return 0, or set an error and return another status."""
    t = b.types
    log, slot = b.alloca(t.i8, _LOG_SIZE), b.alloca(t.ptr)
    b.store(b.i8(0), log)
    with b.when(b.eq(b.field(t.i64, state, driver.STATE_READY), b.i64(0))):
        return_failure(b, call_helper(b, "find_driver", [state, b.i32(1), *site]))
    with relaxed_capture(b, state):
        status = call_helper(b, "take_kernel", [state, library, data, symbol, log, slot])
    with b.when(b.ne(status, b.i32(0))):
        fail_without_launch(b, state, status, site, log=log)
    put_in_list(
        b,
        kernel,
        b.offset(library, driver.LIBRARY_KERNELS),
        listed=driver.KERNEL_LISTED,
        following=driver.KERNEL_NEXT,
    )
    b.store(b.load(t.ptr, slot), result)
    b.ret(b.i32(0))


def take_kernel(
    b: HelperBuilder,
    state: Value,
    library: Value,
    data: Value,
    symbol: Value,
    log: Value,
    out: Value,
) -> None:
    """Get a kernel, loading the library first if necessary; return a status.

    ``log`` receives the messages of the driver's PTX compiler.
    """
    t = b.types
    handle = b.offset(library, driver.LIBRARY_HANDLE)
    with b.when(b.is_null(b.load(t.ptr, handle))):
        options, values = b.alloca(t.i32, 2), b.alloca(t.ptr, 2)
        b.store(b.i32(JitOption.ERROR_LOG_BUFFER), options)
        b.store(b.i32(JitOption.ERROR_LOG_BUFFER_SIZE_BYTES), b.offset(options, 4))
        b.store(log, values)
        b.store(b.to_pointer(b.i64(_LOG_SIZE)), b.offset(values, 8))
        slot = b.alloca(t.ptr)
        none = [b.null(), b.null(), b.i32(0)]
        operands = [slot, data, options, values, b.i32(2), *none]
        loaded = call_driver(b, state, "cuLibraryLoadData", operands)
        with b.when(b.ne(loaded, b.i32(0))):
            b.ret(status_of(b, "cuLibraryLoadData", loaded))
        b.store(b.load(t.ptr, slot), handle)
        put_in_list(
            b,
            library,
            b.offset(state, driver.STATE_LIBRARIES),
            listed=driver.LIBRARY_LISTED,
            following=driver.LIBRARY_NEXT,
        )
    found = call_driver(b, state, "cuLibraryGetKernel", [out, b.load(t.ptr, handle), symbol])
    b.ret(status_of(b, "cuLibraryGetKernel", found))


def find_driver(b: HelperBuilder, state: Value, launches: Value, *values: Value) -> None:
    """Fill the table of functions, and initialise the driver; or set an error.

    ``launches`` is 1 where a kernel shall be launched, and 0 where workspaces shall be filled.
    """
    t = b.types
    site = Site(values)
    is_launch = b.ne(launches, b.i32(0))
    b.symbols.declare("dlopen", t.ptr, [t.ptr, t.i32])
    b.symbols.declare("dlsym", t.ptr, [t.ptr, t.ptr])
    b.symbols.declare("dlerror", t.ptr, [])
    name = b.words(driver.LIBRARY.encode())
    handle = b.call_value("dlopen", [name, b.i32(_RTLD_NOW)], t.ptr)
    with b.when(b.is_null(handle)):
        why = b.call_value("dlerror", [], t.ptr)
        message = Message(b)
        message.append(
            f"{driver.LIBRARY} could not be loaded to %s '%s': %s (it comes with the NVIDIA "
            f"driver)",
            b.select(is_launch, b.words(b"launch kernel"), b.words(b"fill workspaces of")),
            site.kernel,
            why,
        )
        b.ret(message.raise_("RuntimeError", site))
    with b.loop(b.i64(len(driver.FUNCTIONS))) as index:
        wanted = driver_function(b, index)
        function = b.call_value("dlsym", [handle, wanted], t.ptr)
        with b.when(b.is_null(function)):
            _raise_too_old(b, handle, wanted, is_launch, site)
        b.store(function, b.element(state, index, "!llvm.ptr"))
    initialised = call_driver(b, state, "cuInit", [b.i32(0)])
    with b.when(b.ne(initialised, b.i32(0))):
        fail_without_launch(b, state, status_of(b, "cuInit", initialised), values)
    b.store(b.i64(1), b.offset(state, driver.STATE_READY))
    b.ret(b.i32(0))


def _raise_too_old(
    b: HelperBuilder, handle: Value, wanted: Value, is_launch: Value, site: Site
) -> None:
    """Name the missing function, and the driver's CUDA version, or 0.0 if it does not say."""
    t = b.types
    number = b.alloca(t.i32)
    b.store(b.i32(0), number)
    name = b.words(b"cuDriverGetVersion")
    function = b.call_value("dlsym", [handle, name], t.ptr)
    with b.when(b.ne(function, b.null())):
        b.call_pointer(function, [number], t.i32)
    message = Message(b)
    message.append(
        f"{driver.LIBRARY} has no %s, which %s '%s' needs: the NVIDIA driver is of CUDA %d.%d; "
        f"update it to one of CUDA {driver.OLDEST} or later",
        wanted,
        b.select(is_launch, b.words(b"launching kernel"), b.words(b"filling workspaces of")),
        site.kernel,
        *cuda_version(b, b.load(t.i32, number)),
    )
    b.ret(message.raise_("RuntimeError", site))
