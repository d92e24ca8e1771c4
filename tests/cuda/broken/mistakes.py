"""Mistakes: what stands in the place of a function of the provider."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from ffi_builder.cuda.launch import arguments, dimensions, driver, launching, states
from ffi_builder.cuda.launch.dimensions import Dimensions, Launch
from ffi_builder.cuda.launch.launching import Launcher
from ffi_builder.ir.builder import exchange_null, load_acquire

LAYOUT: Final = arguments.layout


def compare_and_swap(self: Launcher) -> Any:
    """The winner loads; the others go on."""
    b, t = self.b, self.b.types
    slot = b.address_of(self.states.kernel)
    begun = b.offset(slot, driver.KERNEL_LIBRARY)
    before = exchange_null(b, begun, b.to_pointer(b.i64(1)))
    with b.when(b.is_null(before)):
        init = b.address_of(self.states.init)
        b.call_value(launching.INIT_ONCE, [slot, init], t.i32)
    return load_acquire(b, t.ptr, slot, size=8)


def once_whatever_comes(self: Launcher) -> Any:
    """A flag says that loading was tried."""
    b, t = self.b, self.b.types
    slot = b.address_of(self.states.kernel)
    tried = b.offset(slot, driver.KERNEL_LIBRARY)
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
    mode = b.alloca(b.types.i32)
    b.store(b.i32(driver.CAPTURE_MODE_RELAXED), mode)
    exchange = "cuThreadExchangeStreamCaptureMode"
    for name, operand in (
        (exchange, mode),
        ("cuLibraryUnload", b.load(b.types.ptr, library)),
        (exchange, mode),
    ):
        function = b.field(b.types.ptr, state, 8 * driver.NUMBER[name])
        b.call_pointer(function, [operand], b.types.i32)
    for slot in (library, b.address_of(self.states.kernel)):
        b.store(b.null(), slot)
    return status


_call = Launcher._call  # pyright: ignore[reportPrivateUsage]


def never_empty(_launch: Launch, _b: Any) -> None:
    return None


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


_config = dimensions.emit_config


def packed(tree: Any) -> Any:
    """Members follow one another."""
    found = LAYOUT(tree)
    at = 0
    leaves: list[arguments.Leaf] = []
    for leaf in found.leaves:
        leaves.append(arguments.Leaf(at, leaf.value, 1))
        at += arguments.size_of(leaf.value)
    return arguments.Layout(found.size, found.align, tuple(leaves))


def copied_anywhere(b: Any, argument: Any) -> Any:
    wider = replace(argument, size=argument.size + 16)
    return b.offset(_copied(b, replace(wider, size=argument.size)), 16)


_copied = launching._copied  # pyright: ignore[reportPrivateUsage]


def values_for_addresses(site: Any, _: Any, arguments: Sequence[Any]) -> Any:
    b = site.b
    array = b.alloca(b.types.ptr, max(len(arguments), 1))
    for index, _ in enumerate(arguments):
        b.store(b.to_pointer(b.i64(7)), b.offset(array, 8 * index))
    return array


def wrong_name(patch: Any) -> None:
    real = states.Site.define_callback

    def define_callback(self: Any, name: str, callee: str, symbols: Any, *text: str) -> None:
        real(self, name, callee, symbols, *(each.upper() for each in text))

    patch.setattr(states.Site, "define_callback", define_callback)
