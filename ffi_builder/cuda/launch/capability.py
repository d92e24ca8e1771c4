"""The compute capability of the device of a call, as a condition of variants.

A wrapper reads the capability from a table, which the first call on a device fills::

    %known = llvm.load %slot_of_the_device atomic acquire
    llvm.cond_br %is_known, ^following(%known), ^ask        // ^ask: C asks the driver
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from typing_extensions import override

from ffi_builder import SpecError, spec
from ffi_builder.cuda.launch import driver
from ffi_builder.cuda.launch.states import INIT_ONCE, Site, define_module_state, name_of
from ffi_builder.cuda.launch.streams import StreamChoice, find_device, find_stream, stream_pointer
from ffi_builder.cuda.launch.vendor import CUDA, Vendor
from ffi_builder.extending import (
    Comparable,
    Name,
    OfCall,
    call_support,
    dataclass,
    load_acquire,
    return_failure,
)
from ffi_builder.ir import CheckingBuilder, Value
from ffi_builder.providers import CallContext

_MOST: Final = (1 << driver.CAPABILITY_BITS) - 1


def capability(*, stream: StreamChoice = None) -> Comparable:
    """Compare the compute capability of the device with a pair such as ``(9, 0)``.

    The device is that of the first CUDA tensor, or else that of the stream. ``stream`` is as for
    :class:`CudaLaunchCallProvider`. The driver is asked once for each device; if it fails, the call
    raises a RuntimeError.

    Examples:
        >>> from ffi_builder.providers import DirectCallProvider, Variant, cuda
        >>> hopper = Variant(DirectCallProvider("gemm_sm90"), when=cuda.capability() == (9, 0))
        >>> print(hopper.when)
        capability == (9, 0)
    """
    return Comparable(Capability(stream=stream))


@dataclass(frozen=True)
class Capability(OfCall):
    """``major << 8 | minor``."""

    param: None = None
    field: str = "capability"
    stream: StreamChoice = None
    vendor: ClassVar[Vendor] = CUDA

    @property
    @override
    def params(self) -> tuple[spec.Param, ...]:
        return ()

    @override
    def text(self, name: Name) -> str:
        return self.field

    @override
    def checked(self, op: str, value: object) -> object:
        match value:
            case (int(major), int(minor)) if 0 <= major <= _MOST and 0 <= minor <= _MOST:
                return value
            case _:
                raise SpecError(
                    f"capability: expected a pair of major and minor version, such as (9, 0), but "
                    f"got {value!r}"
                )

    @override
    def number(self, value: Any) -> int:
        return value[0] << driver.CAPABILITY_BITS | value[1]

    @override
    def numbers(self, *, absent: bool) -> range:
        return range(2**31)

    @override
    def emit(self, context: CallContext) -> Value:
        b, t = context.builder, context.builder.types
        vendor, init = self.vendor, _define(context, self.vendor)
        device = find_device(context, vendor)
        if device is None:
            return _ask(context, vendor, init, b.i32(-1), self.stream)
        # Device -1 selects the slot of the last device, which always holds 0.
        last = b.i32(driver.DEVICES - 1)
        index = b.select(b.ult(device, last), device, last)
        slot = b.element(b.address_of(_slots(vendor)), b.zext(index, t.i64), "i64")
        known = load_acquire(b, t.i64, slot, size=8)
        following, unknown = b.new_block(t.i32), b.new_block(cold=True)
        value = b.trunc(known, t.i32)
        b.cond_br(b.ne(known, b.i64(0)), following, unknown, [value], likely=True)
        b.block = unknown
        b.br(following, _ask(context, vendor, init, device, self.stream))
        b.block = following
        return following.arguments[0]

    @override
    def described(self, b: CheckingBuilder, value: Value) -> tuple[str, list[Value]]:
        parts = [b.lshr(value, b.i32(driver.CAPABILITY_BITS)), b.and_(value, b.i32(_MOST))]
        return "capability = ({}, {})", parts


def _slots(vendor: Vendor) -> str:
    """Return the symbol of the table."""
    return f"{vendor.prefix}capabilities"


def _ask(
    context: CallContext, vendor: Vendor, init: str, device: Value, stream: StreamChoice
) -> Value:
    """Emit the call that asks the driver; return the capability."""
    b, t = context.builder, context.builder.types
    out = b.alloca(t.i32)
    pointer = stream_pointer(b, find_stream(context, vendor, stream))
    symbols = map(b.address_of, (vendor.state, _slots(vendor), init))
    operands = [*symbols, device, pointer, out]
    operands += Site(b, context.fn_name, "", vendor).operands(b)
    return_failure(b, call_support(b, vendor.function("find_capability"), operands))
    return b.load(t.i32, out)


def _define(context: CallContext, vendor: Vendor) -> str:
    """Add what the module lacks; return the name of the function that finds the driver."""
    b, symbols = context.builder, context.symbols
    t = symbols.types
    symbols.declare(INIT_ONCE, t.i32, [t.ptr, t.ptr])
    define_module_state(symbols, vendor)
    if _slots(vendor) not in symbols:
        symbols.variable(_slots(vendor), bytes(8 * driver.CAPABILITY_SLOTS), align=8)
    name = f"{vendor.prefix}init_capability_{name_of(b)}"
    if name not in symbols:
        site = Site(b, context.fn_name, "", vendor)
        site.define_callback(name, "init_capability", (vendor.state,))
    return name
