"""Emits the maps of ``TensorMap``: what a call brings, and the plan that C makes a map of.

The emitted code, for each map::

    %key = llvm.alloca …                                   // the address, sizes and strides
    %map = llvm.alloca …                                   // 128 bytes
    %found = llvm.call @…_cuda_find_map(%cache, %key, %count, %map)
    llvm.cond_br %is_found, ^next, ^first                  // ^first: …_cuda_make_map, which checks
  ^next:
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

from ffi_builder import BuildError, spec
from ffi_builder.cuda.launch import driver
from ffi_builder.cuda.launch.dimensions import value_of_size
from ffi_builder.cuda.launch.map_rules import (
    PROMOTIONS,
    TYPES,
    WIDE,
    Limit,
    Setting,
    Subject,
    limit,
)
from ffi_builder.cuda.launch.maps import (
    TensorMap,
    check_number,
    check_setting,
    driver_type,
    number_of,
)
from ffi_builder.cuda.launch.states import Site
from ffi_builder.extending import (
    MODULE_PREFIX,
    call_support,
    dataclass,
    parse_dtype,
    return_failure,
)
from ffi_builder.ir import Value
from ffi_builder.providers import CallContext

_UNUSED: Final = -1
"""The place of a value that is checked, and not passed."""
_LIMITS: Final = f"<{driver.MAP_PLACES}q10i"
_VALUE: Final = "<3q4i"
_WORD: Final = 8
_PLACES: Final[dict[Subject, int]] = {
    "box": driver.MAP_BOX,
    "element stride": driver.MAP_STEPS,
    "channels": driver.MAP_CHANNELS,
    "pixels": driver.MAP_PIXELS,
}


@dataclass(frozen=True)
class _Brought:
    """An i64 that a call brings: what it is in errors, its limit, the driver's argument."""

    text: str
    value: Value
    limit: Limit
    place: int


@dataclass(frozen=True)
class EncodedMap:
    """A map that each call looks up, or has encoded."""

    plan: bytes
    brought: tuple[_Brought, ...]

    def emit(self, site: Site, device: Value) -> Value:
        """Return the address of the map; C raises an error if there is none."""
        b = site.b
        count = len(self.brought)
        key = b.alloca(b.types.i64, count)
        for index, each in enumerate(self.brought):
            b.store(each.value, b.offset(key, _WORD * index))
        size = driver.TENSOR_MAP_SIZE
        slots = driver.MAP_SLOTS * (_WORD * (1 + count) + size)
        named = b.symbols.unique(f"{MODULE_PREFIX}cuda_maps")
        cache = b.address_of(b.symbols.variable(named, bytes(_WORD + slots), align=64))
        plan = b.address_of(b.symbols.constant(f"{named}_plan", self.plan, align=8))
        made = b.alloca(b.types.i8, size, align=driver.TENSOR_MAP_ALIGN)
        found = call_support(b, "cuda_find_map", [cache, key, b.i32(count), made])
        following, first = b.new_block(), b.new_block(cold=True)
        b.cond_br(b.ne(found, b.i32(0)), following, first, likely=True)
        b.block = first
        operands = [
            b.address_of(site.vendor.state),
            plan,
            cache,
            key,
            made,
            device,
            *site.operands(b),
        ]
        return_failure(b, call_support(b, "cuda_make_map", operands))
        b.br(following)
        b.block = following
        return made


def encoded_map(
    context: CallContext, entry: TensorMap, tensor: spec.Tensor, path: str
) -> EncodedMap:
    """Return the map of a tensor of known rank.

    Raises:
        BuildError: if the driver refuses every such map, or the signature lacks a symbol.
    """
    what = f"TensorMap: {path}"
    dtype, bits = driver_type(entry, tensor, path), parse_dtype(tensor.dtypes[0]).total_bits
    rank = tensor.ndim
    setting = entry.setting(dtype, bits, rank)
    check_setting(setting, what, BuildError)
    if entry.rank is not None and entry.rank != rank:
        raise BuildError(
            f"{what}: it has {rank} dimensions, but {'box=' if entry.box else 'the map'} is for "
            f"{entry.rank}"
        )
    maker = _MapMaker(context, setting, path)
    maker.add_tensor(tensor)
    maker.add_numbers(entry)
    return EncodedMap(_plan(entry, setting, maker, path), tuple(maker.brought))


class _MapMaker:
    """Checks what is known, and collects what a call brings."""

    def __init__(self, context: CallContext, setting: Setting, path: str) -> None:
        self.context = context
        self.setting = setting
        self.path = path
        self.fixed = [0] * driver.MAP_PLACES
        self.fixed[driver.MAP_STEPS : driver.MAP_STEPS + setting.rank] = [1] * setting.rank
        self.brought: list[_Brought] = []

    def add_tensor(self, tensor: spec.Tensor) -> None:
        context, b, path = self.context, self.context.builder, self.path
        # The map says of which type the elements are.
        context.any_dtype(tensor)
        address = b.to_int(context.data(tensor))
        self._bring(f"the address of {path}", address, "address", 0, driver.MAP_ADDRESS)
        last = tensor.ndim - 1
        sizes = context.shape(tensor, wide=True)
        strides = context.strides(tensor, wide=True)
        for index, (entry, value) in enumerate(zip(tensor.dims, sizes, strict=True)):
            axis = last - index
            self._add(f"{path}.shape[{index}]", entry, value, "size", axis, driver.MAP_SIZES + axis)
        for index, (entry, value) in enumerate(zip(_strides(tensor), strides, strict=True)):
            axis, text = last - index, f"{path}.strides[{index}]"
            subject: Subject = "stride" if axis else "innermost stride"
            place = driver.MAP_STRIDES + axis - 1 if axis else _UNUSED
            self._add(text, entry, value, subject, axis, place)

    def add_numbers(self, entry: TensorMap) -> None:
        context = self.context
        for name, subject, axis, number in entry.numbers:
            if subject == "corner":
                # Axis 0 has the channels, which corners have not.
                end = driver.MAP_LOWER if name.startswith("corners[0]") else driver.MAP_UPPER
                self._add(name, number, None, subject, axis, end + axis - 1)
                continue
            place = _PLACES[subject] + axis
            if isinstance(number, int):
                self._add(name, number, None, subject, axis, place)
            else:
                value = value_of_size(context, f"TensorMap: {name}", number)
                self._bring(f"{name} = {number}", value, subject, axis, place)

    def _add(
        self,
        text: str,
        entry: object,
        value: Value | None,
        subject: Subject,
        axis: int,
        place: int,
    ) -> None:
        """Check a number that is known, or bring another one."""
        if not isinstance(entry, int):
            assert value is not None
            self._bring(text, value, subject, axis, place)
            return
        check_number(self.setting, f"TensorMap: {text}", subject, axis, entry, BuildError)
        if place != _UNUSED:
            self.fixed[place] = int(entry * limit(self.setting, subject, axis).ratio)

    def _bring(self, text: str, value: Value, subject: Subject, axis: int, place: int) -> None:
        found = limit(self.setting, subject, axis)
        self.brought.append(_Brought(text, value, found, place))


def _strides(tensor: spec.Tensor) -> Sequence[object]:
    """Return the strides in elements, as far as they are known; None for one that is not."""
    if tensor.stride_entries is not None:
        return tensor.stride_entries
    dims = tensor.dims if tensor.order == "C" else tensor.dims[::-1]
    found: list[int | None] = [1]
    for dim in dims[:0:-1]:
        before = found[-1]
        found.append(before * dim if isinstance(dim, int) and before is not None else None)
    return found[::-1] if tensor.order == "C" else found


def _plan(entry: TensorMap, setting: Setting, maker: _MapMaker, path: str) -> bytes:
    """Return the bytes of a ``CudaMapPlan``."""
    texts = bytearray()
    begin = driver.MAP_VALUES + driver.MAP_VALUE * len(maker.brought)

    def added(text: str) -> int:
        at = begin + len(texts)
        texts.extend(text.encode() + b"\0")
        return at

    numbers = (
        driver.NUMBER[entry.function],
        list(TYPES).index(setting.dtype),
        setting.rank,
        number_of("interleave", setting.interleave),
        number_of("swizzle", setting.swizzle),
        PROMOTIONS.index(str(entry.l2_promotion)),
        number_of("oob_fill", setting.oob_fill),
        0 if entry.wide is None else WIDE.index(entry.wide),
        len(maker.brought),
        added(path),
    )
    plan = struct.pack(_LIMITS, *maker.fixed, *numbers)
    for each in maker.brought:
        limits, ratio = each.limit.range, each.limit.ratio
        text = added(f"{each.text}\0{each.limit}")
        plan += struct.pack(
            _VALUE,
            *(limits.low, limits.high, limits.multiple),
            *(each.place, ratio.numerator, ratio.denominator, text),
        )
    return plan + bytes(texts)
