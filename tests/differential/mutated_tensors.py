"""Tensors with something changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from hypothesis import strategies as st

from tests.differential.description import DLTensor

HUGE: Final = (-1, 2**31, 2**32, 2**62, 2**62 + 1, 2**63 - 1, -(2**62), -(2**63))
MOST_DIMENSIONS: Final = 100


def changed_int(draw: st.DrawFn, value: int) -> int:
    """Another number, near or far."""
    near = [value + 1, value - 1, value + 3, value * 2, 0, 1, 16, 300, -value, -value - 1]
    return draw(st.sampled_from([number for number in (*near, *near, *HUGE) if number != value]))


def changed_entry(draw: st.DrawFn, values: tuple[int, ...]) -> tuple[int, ...]:
    """One of the numbers changed, if there is one."""
    if not values:
        return values
    index = draw(st.integers(0, len(values) - 1))
    value = (changed_int(draw, values[index]) + 2**63) % 2**64 - 2**63
    return (*values[:index], value, *values[index + 1 :])


def lie(draw: st.DrawFn, count: int, absurd: tuple[int, ...] = (2**31 - 1,)) -> int:
    """A count that is smaller than what is there, or absurd."""
    return draw(st.sampled_from([*range(count), -1, -(2**31), *absurd]))


def changed_tensor(draw: st.DrawFn, given: DLTensor, *, any_rank: bool) -> DLTensor:
    """One field changed; where any rank will do, not to more dimensions than there are."""
    dims, strides = given.shape, given.strides
    if dims is None:  # as many as are said to be there, so that another change may put them there
        dims = (2,) * (max(given.ndim or 0, 0) if (given.ndim or 0) < MOST_DIMENSIONS else 5)
    code, bits, lanes = given.dtype
    null_shape = replace(given, shape=None, ndim=len(dims))
    more = replace(
        given,
        shape=(*dims, 1),
        strides=None if strides is None else (*strides, 1),
        ndim=len(dims) + 1,
    )
    shapes: list[Callable[[], DLTensor]] = [
        lambda: replace(given, shape=changed_entry(draw, dims)),
        lambda: replace(given, shape=changed_entry(draw, dims)),
        lambda: null_shape if dims else more,
    ]
    layouts: list[Callable[[], DLTensor]] = [
        lambda: replace(given, strides=changed_entry(draw, strides or dims)),
        lambda: replace(given, strides=changed_entry(draw, strides or dims)),
        lambda: replace(given, strides=None),
    ]
    devices: list[Callable[[], DLTensor]] = [
        lambda: replace(given, device_type=draw(st.sampled_from([0, 1, 2, 5, 10, 99, -1]))),
        lambda: replace(given, device_id=draw(st.sampled_from([0, 1, 2, -1, 2**31 - 1]))),
        lambda: replace(given, device_id=given.device_id + 1),
    ]
    others: list[Callable[[], DLTensor]] = [
        lambda: more,
        lambda: replace(given, ndim=lie(draw, len(dims), () if any_rank else (2**31 - 1,))),
        lambda: replace(given, dtype=((code + draw(st.sampled_from([1, 99]))) % 256, bits, lanes)),
        lambda: replace(given, dtype=(code, (bits * 2 or 8) % 256, lanes)),
        lambda: replace(
            given, dtype=(code, bits, (lanes + draw(st.sampled_from([1, -1]))) % 2**16)
        ),
    ]
    addresses: list[Callable[[], DLTensor]] = [
        lambda: replace(given, data=0),
        lambda: replace(given, data=given.data + draw(st.sampled_from([1, 2, 8, 64])) & 2**64 - 1),
        lambda: replace(given, data=2**64 - 1 - draw(st.sampled_from([0, 1, 63]))),
        lambda: replace(given, byte_offset=draw(st.sampled_from([1, 4, 2**63, 2**64 - 1]))),
        lambda: replace(given, data=2**64 - 8, byte_offset=draw(st.sampled_from([7, 8, 4]))),
    ]
    groups = [shapes, shapes, layouts, layouts, layouts, devices, others, addresses]
    changes = draw(st.sampled_from(groups))
    return draw(st.sampled_from(changes))()
