"""Emits the maps of ``TensorMap``: what a call brings, and the plan that C makes a map of.

The emitted code, for each map::

    %key = llvm.alloca …                                   // the address, sizes and strides
    %map = llvm.alloca …                                   // 128 bytes
    %hit = llvm.call @…_cuda_find_map(%cache, %key, %count, %map)
    llvm.cond_br %is_hit, ^following, ^first                // ^first: …_cuda_make_map, which checks
  ^following:
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Final, cast

from ffi_builder import BuildError, spec
from ffi_builder.cuda.launch import driver, map_rules
from ffi_builder.cuda.launch.dimensions import value_of_size
from ffi_builder.cuda.launch.map_rules import Setting, Subject
from ffi_builder.cuda.launch.maps import (
    TensorMap,
    allowed,
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
    unless,
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
class _MapNumber:
    """A number of a map: what it is in errors, its int if that is known, else the i64 of a call."""

    text: str
    subject: Subject
    axis: int
    place: int
    known: int | None
    value: Value | None = None


@dataclass(frozen=True)
class EncodedMap:
    """A map that each call looks up, or has encoded.

    ``plans`` has one ``CudaMapPlan``, or one for each swizzle if a call brings it; they are
    ``plan_size`` bytes apart.
    """

    plans: bytes
    plan_size: int
    brought: tuple[Value, ...]
    swizzle: Value | None

    def emit(self, site: Site, device: Value) -> Value:
        """Return the address of the map; C raises an error if there is none."""
        b = site.b
        count = len(self.brought)
        key = b.alloca(b.types.i64, count)
        for index, value in enumerate(self.brought):
            b.store(value, b.offset(key, _WORD * index))
        size = driver.TENSOR_MAP_SIZE
        slots = driver.MAP_SLOTS * (_WORD * (1 + count) + size)
        named = b.symbols.unique(f"{MODULE_PREFIX}cuda_maps")
        cache = b.address_of(b.symbols.variable(named, bytes(_WORD + slots), align=64))
        made = b.alloca(b.types.i8, size, align=driver.TENSOR_MAP_ALIGN)
        hit = call_support(b, "cuda_find_map", [cache, key, b.i32(count), made])
        with unless(b, b.ne(hit, b.i32(0))):
            plan = b.address_of(b.symbols.constant(f"{named}_plan", self.plans, align=_WORD))
            if self.swizzle is not None:
                # Other numbers have the last plan, whose limits refuse them.
                last = b.i64(len(self.plans) // self.plan_size - 1)
                index = b.select(b.ult(self.swizzle, last), self.swizzle, last)
                plan = b.element(plan, b.mul(index, b.i64(self.plan_size)))
            state = b.address_of(site.vendor.state)
            operands = [state, plan, cache, key, made, device, *site.operands(b)]
            return_failure(b, call_support(b, "cuda_make_map", operands))
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
    if entry.rank is not None and entry.rank != rank:
        raise BuildError(
            f"{what}: it has {rank} dimensions, but {'box=' if entry.box else 'the map'} is for "
            f"{entry.rank}"
        )
    _check_order(entry, tensor, what)
    swizzle: Value | None = None
    numbers: list[_MapNumber] = []
    if entry.swizzle_is_brought:
        swizzle = value_of_size(context, "TensorMap: swizzle", cast("spec.Dim", entry.swizzle))
        text = f"swizzle = {entry.swizzle}"
        numbers.append(_MapNumber(text, "swizzle", 0, _UNUSED, None, swizzle))
    numbers += [*_of_tensor(context, entry, tensor, path), *_of_entry(context, entry)]
    plans = list(_plans(entry, entry.settings(dtype, bits, rank), numbers, path))
    plan_size = -(-max(map(len, plans)) // _WORD) * _WORD
    brought = tuple(each.value for each in numbers if each.value is not None)
    return EncodedMap(
        b"".join(p.ljust(plan_size, b"\0") for p in plans), plan_size, brought, swizzle
    )


def _check_order(entry: TensorMap, tensor: spec.Tensor, what: str) -> None:
    """Check that the innermost dimension is at the end that ``order`` says, if that is known."""
    strides = _strides(tensor)
    ends = {"F": strides[0], "C": strides[-1]}
    other = "C" if entry.order == "F" else "F"
    if entry.box is not None and ends[entry.order] != 1 and ends[other] == 1:
        raise BuildError(
            f"{what}: its {'last' if other == 'C' else 'first'} dimension is the innermost: say "
            f"order={other!r}"
        )


def _of_tensor(
    context: CallContext, entry: TensorMap, tensor: spec.Tensor, path: str
) -> Iterator[_MapNumber]:
    # The map says of which type the elements are.
    context.any_dtype(tensor)
    address = context.builder.to_int(context.data(tensor))
    yield _MapNumber(f"the address of {path}", "address", 0, driver.MAP_ADDRESS, None, address)
    rank = tensor.ndim
    sizes = context.shape(tensor, wide=True)
    strides = context.strides(tensor, wide=True)
    for index, (dim, value) in enumerate(zip(tensor.dims, sizes, strict=True)):
        axis = entry.axis(index, rank)
        place = driver.MAP_SIZES + axis
        yield _number(f"{path}.shape[{index}]", "size", axis, place, dim, value)
    for index, (stride, value) in enumerate(zip(_strides(tensor), strides, strict=True)):
        axis = entry.axis(index, rank)
        subject: Subject = "stride" if axis else "innermost stride"
        place = driver.MAP_STRIDES + axis - 1 if axis else _UNUSED
        yield _number(f"{path}.strides[{index}]", subject, axis, place, stride, value)


def _of_entry(context: CallContext, entry: TensorMap) -> Iterator[_MapNumber]:
    for name, subject, axis, number in entry.numbers:
        if subject == "corner":
            # Axis 0 has the channels, which corners have not.
            end = driver.MAP_LOWER if name.startswith("corners[0]") else driver.MAP_UPPER
            yield _MapNumber(name, subject, axis, end + axis - 1, cast("int", number))
            continue
        place = _PLACES[subject] + axis
        if isinstance(number, int):
            yield _MapNumber(name, subject, axis, place, number)
        else:
            value = value_of_size(context, f"TensorMap: {name}", number)
            yield _MapNumber(f"{name} = {number}", subject, axis, place, None, value)


def _number(
    text: str, subject: Subject, axis: int, place: int, entry: object, value: Value
) -> _MapNumber:
    if isinstance(entry, int):
        return _MapNumber(text, subject, axis, place, entry)
    return _MapNumber(text, subject, axis, place, None, value)


def _plans(
    entry: TensorMap, settings: Sequence[Setting], numbers: Sequence[_MapNumber], path: str
) -> Iterator[bytes]:
    """Yield the plan, or one for each swizzle and for another number.

    Raises:
        BuildError: if the driver refuses every such map.
    """

    def check(setting: Setting) -> None:
        check_setting(setting, f"TensorMap: {path}", BuildError)
        for each in numbers:
            if each.known is not None:
                what = f"TensorMap: {each.text}"
                check_number(setting, what, each.subject, each.axis, each.known, BuildError)

    choices = allowed(settings, check)
    swizzles = [each.swizzle for each in choices]
    # A swizzle that is not allowed has the plan of another one, which refuses it.
    for each in settings if len(settings) == 1 else (*settings, None):
        yield _plan(entry, each if each in choices else choices[0], numbers, path, swizzles)


def _strides(tensor: spec.Tensor) -> Sequence[object]:
    """Return the strides in elements, as far as they are known; None for one that is not."""
    if tensor.stride_entries is not None:
        return tensor.stride_entries
    dims = tensor.dims if tensor.order == "C" else tensor.dims[::-1]
    strides: list[int | None] = [1]
    for dim in dims[:0:-1]:
        before = strides[-1]
        strides.append(before * dim if isinstance(dim, int) and before is not None else None)
    return strides[::-1] if tensor.order == "C" else strides


def _plan(
    entry: TensorMap,
    setting: Setting,
    numbers: Sequence[_MapNumber],
    path: str,
    swizzles: Sequence[str],
) -> bytes:
    """Return the bytes of a ``CudaMapPlan``; ``swizzles`` are those that a call may bring."""
    fixed = [0] * driver.MAP_PLACES
    fixed[driver.MAP_STEPS : driver.MAP_STEPS + setting.rank] = [1] * setting.rank
    for each in numbers:
        if each.known is not None and each.place != _UNUSED:
            fixed[each.place] = int(
                each.known * map_rules.ratio_of(setting, each.subject, each.axis)
            )
    brought = [each for each in numbers if each.known is None]
    texts = bytearray()
    begin = driver.MAP_VALUES + driver.MAP_VALUE * len(brought)

    def added(text: str) -> int:
        at = begin + len(texts)
        texts.extend(text.encode() + b"\0")
        return at

    swizzle = number_of("swizzle", setting.swizzle)
    numbers_of_plan = (
        driver.NUMBER[entry.function],
        list(map_rules.TYPES).index(setting.dtype),
        setting.rank,
        number_of("interleave", setting.interleave),
        swizzle,
        map_rules.PROMOTIONS.index(str(entry.l2_promotion)),
        number_of("oob_fill", setting.oob_fill),
        0 if entry.wide is None else map_rules.WIDE.index(entry.wide),
        len(brought),
        added(path),
    )
    plan = struct.pack(_LIMITS, *fixed, *numbers_of_plan)
    for each in brought:
        number_limit = map_rules.limit(setting, each.subject, each.axis)
        limits, ratio, words = number_limit.range, number_limit.ratio, str(number_limit)
        if each.subject == "swizzle":  # a plan takes its own one
            limits = map_rules.Range(swizzle, swizzle)
            words = " or ".join(f"{number_of('swizzle', name)} ({name})" for name in swizzles)
        text = added(f"{each.text}\0{words}")
        plan += struct.pack(
            _VALUE,
            *(limits.low, limits.high, limits.multiple),
            *(each.place, ratio.numerator, ratio.denominator, text),
        )
    return plan + bytes(texts)
