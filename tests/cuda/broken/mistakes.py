"""Mistakes: what stands in the place of a function of the provider."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

from ffi_builder.ir import exchange_null, load_acquire
from ffi_builder.providers.cuda import (
    arguments,
    configuration,
    driver,
    launching,
    layout,
    parameters,
    states,
)
from ffi_builder.providers.cuda.configuration import Launch
from ffi_builder.providers.cuda.dimensions import Dimensions
from ffi_builder.providers.cuda.emitted import context, control, define, load, steps
from ffi_builder.providers.cuda.launching import Launcher

# Helpers with a mistake.


def enter_nothing(b: Any, _state: Any, _device: Any, pushed: Any) -> None:
    """Enter no context: the current one must do."""
    b.store(b.i32(0), pushed)
    b.ret(b.i32(0))


def enter_only_if_nothing_is_current(b: Any, state: Any, device: Any, pushed: Any) -> None:
    slot = b.alloca(b.types.ptr)
    b.store(b.i32(0), pushed)
    steps.call_checked(b, state, "cuCtxGetCurrent", [slot])
    with b.when(b.ne(b.load(b.types.ptr, slot), b.null())):
        b.ret(b.i32(0))
    context.enter(b, state, device, pushed)


def leave_nothing(b: Any, _state: Any, _pushed: Any) -> None:
    b.ret()


def leave_always(b: Any, state: Any, _pushed: Any) -> None:
    slot = b.alloca(b.types.ptr)
    steps.call_driver(b, state, "cuCtxPopCurrent_v2", [slot])
    b.ret()


def launch_and_look_before_leaving(b: Any, *operands: Any) -> None:
    state, config, kernel, params, device = operands
    pushed = b.alloca(b.types.i32)
    steps.return_failure(b, steps.call_helper(b, "enter", [state, device, pushed]))
    steps.call_checked(b, state, "cuLaunchKernelEx", [config, kernel, params, b.null()])
    b.call(steps.helper_name("leave"), [state, b.load(b.types.i32, pushed)], b.types.void)
    b.ret(b.i32(0))


def retain_each_time(b: Any, state: Any, device: Any, out: Any) -> None:
    b.ret(steps.call_driver(b, state, "cuDevicePrimaryCtxRetain", [out, device]))


def release_twice(b: Any, state: Any) -> None:
    with b.when(b.ne(b.field(b.types.i64, state, driver.STATE_READY), b.i64(0))):
        steps.call_driver(b, state, "cuDevicePrimaryCtxRelease_v2", [b.i32(0)])
    control.leave_module(b, state)


def unload_and_remember(b: Any, result: Any, state: Any, library: Any) -> None:
    """The kernels' handles stay where they are."""
    handle = b.load(b.types.ptr, library)
    b.store(b.null(), library)
    steps.call_driver(b, state, "cuLibraryUnload", [handle])
    b.store(b.to_pointer(b.i64(1)), result)
    b.ret(b.i32(0))


def take_before_loading(b: Any, *operands: Any) -> None:
    state, library, _data, symbol, _log, out = operands
    handle = b.load(b.types.ptr, library)
    found = steps.call_driver(b, state, "cuLibraryGetKernel", [out, handle, symbol])
    b.ret(steps.status_of(b, "cuLibraryGetKernel", found))


def take_the_function(b: Any, *operands: Any) -> None:
    """A CUfunction of the context that happens to be current, instead of the CUkernel."""
    state, *_, out = operands
    t, pushed = b.types, b.alloca(b.types.i32)
    steps.return_failure(b, steps.call_helper(b, "take_it", [*operands]))
    steps.return_failure(b, steps.call_helper(b, "enter", [state, b.i32(0), pushed]))
    steps.call_driver(b, state, "cuKernelGetFunction", [out, b.load(t.ptr, out)])
    b.call(steps.helper_name("leave"), [state, b.load(t.i32, pushed)], t.void)
    b.ret(b.i32(0))


# Other parts with a mistake.


@contextmanager
def relaxed_for_ever(b: Any, state: Any) -> Generator[None]:
    mode = b.alloca(b.types.i32)
    b.store(b.i32(driver.CAPTURE_MODE_RELAXED), mode)
    steps.call_driver(b, state, "cuThreadExchangeStreamCaptureMode", [mode])
    yield


def compare_and_swap(self: Launcher) -> Any:
    """The winner loads; the others go on."""
    b, t = self.b, self.b.types
    slot = b.address_of(self.states.kernel)
    begun = b.offset(slot, driver.KERNEL_LISTED)
    before = exchange_null(b, begun, b.to_pointer(b.i64(1)))
    with b.when(b.is_null(before)):
        init = b.address_of(self.states.init)
        b.call_value(launching.INIT_ONCE, [slot, init], t.i32)
    return load_acquire(b, t.ptr, slot, size=8)


def once_whatever_comes(self: Launcher) -> Any:
    """A flag says that loading was tried."""
    b, t = self.b, self.b.types
    slot = b.address_of(self.states.kernel)
    tried = b.offset(slot, driver.KERNEL_LISTED)
    with b.when(b.eq(b.load(t.i64, tried), b.i64(0))):
        b.store(b.i64(1), tried)
        init = b.address_of(self.states.init)
        status = b.call_value(launching.INIT_ONCE, [slot, init], t.i32)
        with b.when(b.ne(status, b.i32(0))):
            b.ret(status)
    return b.load(t.ptr, slot)


def first_device_stands_for_all(self: Launcher, *operands: Any) -> None:
    zero = replace(self.place, device=self.b.i32(0))
    _prepare(replace(self, place=zero), *operands)


_prepare = Launcher._prepare  # pyright: ignore[reportPrivateUsage]


def unchecked(
    context: Any, _kernel: str, _what: str, size: Any, _least: int, _most: int
) -> int | Any:
    return size if isinstance(size, int) else arguments.widened(context, size)


def stream_of_the_first_call(self: Launcher) -> Any:
    """It is kept, as if it were the library's."""
    b = self.b
    slot = b.address_of(b.symbols.variable("kept_stream", bytes(8), align=8))
    exchange_null(b, slot, _stream(self))
    return b.load(b.types.ptr, slot)


_stream = Launcher._stream  # pyright: ignore[reportPrivateUsage]


def unload_after_each_launch(self: Launcher, state: Any, stream: Any, operands: Any) -> Any:
    b = self.b
    status = _call(self, state, stream, operands)
    library = b.address_of(self.states.library)
    with steps.relaxed_capture(b, state):
        steps.call_driver(b, state, "cuLibraryUnload", [b.load(b.types.ptr, library)])
    for slot in (library, b.address_of(self.states.kernel)):
        b.store(b.null(), slot)
    return status


_call = Launcher._call  # pyright: ignore[reportPrivateUsage]


def never_empty(_launch: Launch, _b: Any) -> None:
    return None


def not_relaxed(_b: Any, _state: Any) -> Any:
    return nullcontext()


def config_of_another_stream(b: Any, launch: Launch, stream: Any) -> Any:
    return _config(b, launch, b.offset(stream, 8))


def config_with_grid_and_block_swapped(b: Any, launch: Launch, stream: Any) -> Any:
    return _config(b, replace(launch, grid=launch.block, block=launch.grid), stream)


def config_with_the_cluster_turned(b: Any, launch: Launch, stream: Any) -> Any:
    if launch.cluster is not None:
        x, y, z = launch.cluster.values
        launch = replace(launch, cluster=Dimensions((y, x, z)))
    return _config(b, launch, stream)


def config_without_stream(b: Any, launch: Launch, _stream: Any) -> Any:
    return _config(b, launch, b.null())


def config_of_unwritten_attributes(b: Any, launch: Launch, stream: Any) -> Any:
    config = _config(b, launch, stream)
    b.store(b.to_pointer(b.i64(4096)), b.offset(config, driver.CONFIG_ATTRIBUTES))
    return config


_config = configuration.emit_config


def packed(tree: Any) -> Any:
    """Members follow one another."""
    found = layout.layout(tree)
    at = 0
    leaves: list[layout.Leaf] = []
    for leaf in found.leaves:
        leaves.append(layout.Leaf(at, leaf.value, 1))
        at += layout.size_of(leaf.value)
    return layout.Layout(found.size, found.align, tuple(leaves))


def copied_anywhere(b: Any, argument: Any) -> Any:
    wider = replace(argument, size=argument.size + 16)
    return b.offset(_copied(b, replace(wider, size=argument.size)), 16)


_copied = parameters._copied  # pyright: ignore[reportPrivateUsage]


def values_for_addresses(b: Any, arguments: Sequence[Any]) -> Any:
    array = b.alloca(b.types.ptr, max(len(arguments), 1))
    for index, _ in enumerate(arguments):
        b.store(b.to_pointer(b.i64(7)), b.offset(array, 8 * index))
    return array


def with_extra(b: Any, state: Any, name: str, operands: Sequence[Any]) -> Any:
    if name == "cuLaunchKernelEx":
        operands = [*operands[:3], operands[2]]
    return steps.call_driver(b, state, name, operands)


def without_suffix(patch: Any) -> None:
    """As the header has the names, before its macros."""
    names = tuple(name.replace("Current_v2", "Current") for name in driver.FUNCTIONS)
    patch.setattr(driver, "FUNCTIONS", names)


def try_twice(b: Any, *operands: Any) -> None:
    """First as it comes, then with the capture mode relaxed; by then the capture is lost."""
    result, state, library, _kernel, data, symbol, *_ = operands
    t, slot, log = b.types, b.alloca(b.types.ptr), b.alloca(b.types.i8, 1024)
    steps.return_failure(b, steps.call_helper(b, "find_driver", [state, b.i32(1), *operands[6:]]))
    wanted = [state, library, data, symbol, log, slot]
    failed = steps.call_helper(b, "take_kernel", wanted)
    with b.when(b.ne(failed, b.i32(0))), steps.relaxed_capture(b, state):
        steps.call_helper(b, "take_kernel", wanted)
    b.store(b.load(t.ptr, slot), result)
    b.ret(b.i32(0))


def taking_the_function(patch: Any) -> None:
    bodies = define._BODIES  # pyright: ignore[reportPrivateUsage]
    patch.setitem(bodies, "take_it", bodies["take_kernel"])
    patch.setitem(bodies, "take_kernel", ("pppppp", take_the_function))


def image_elsewhere(patch: Any) -> None:
    """The image's address is not what is passed."""
    real = load.call_driver

    def call_driver(b: Any, state: Any, name: str, operands: Any) -> Any:
        if name == "cuLibraryLoadData":
            operands = [operands[0], b.to_pointer(b.i64(4096)), *operands[2:]]
        return real(b, state, name, operands)

    patch.setattr(load, "call_driver", call_driver)


def kernel_of_the_library(patch: Any) -> None:
    """The CUlibrary is launched."""
    real = load.call_driver

    def call_driver(b: Any, state: Any, name: str, operands: Any) -> Any:
        if name == "cuLibraryGetKernel":
            b.store(operands[1], operands[0])
            return b.i32(0)
        return real(b, state, name, operands)

    patch.setattr(load, "call_driver", call_driver)


def wrong_name(patch: Any) -> None:
    real = states._define_init  # pyright: ignore[reportPrivateUsage]

    def define_init(found: Any) -> None:
        source = found.source
        found.source = replace(source, kernel=source.kernel.upper())
        real(found)
        found.source = source

    patch.setattr(states, "_define_init", define_init)


def device_after_the_last(patch: Any) -> None:
    """The device's number counts from 1."""
    real = context.call_driver

    def call_driver(b: Any, state: Any, name: str, operands: Any) -> Any:
        if name == "cuDevicePrimaryCtxRetain":
            operands = [operands[0], b.add(operands[1], b.i32(1))]
        return real(b, state, name, operands)

    patch.setattr(context, "call_driver", call_driver)
