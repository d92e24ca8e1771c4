"""A launch and its ``CUlaunchConfig``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Final

from ffi_builder.ir import Builder, Value
from ffi_builder.providers.cuda import driver
from ffi_builder.providers.cuda.dimensions import Dimensions
from ffi_builder.records import dataclass

_WORD: Final = 8


@dataclass(frozen=True)
class Launch:
    """A launch, with all sizes checked.

    ``cluster`` is the requested cluster, ``compiled_cluster`` the number of blocks in the cluster
    for which the kernel was compiled, or 1. If a block has more than ``threshold`` bytes of dynamic
    shared memory, the kernel needs an attribute.
    """

    grid: Dimensions
    block: Dimensions
    cluster: Dimensions | None
    compiled_cluster: int
    shared: int | Value
    threshold: int
    flags: Sequence[str]

    @property
    def may_need(self) -> int:
        """The kernel attributes that it may need: bits of ``driver.PREPARED_…``."""
        needs = 0
        if not isinstance(self.shared, int) or self.shared > self.threshold:
            needs |= driver.PREPARED_SHARED
        blocks = self.compiled_cluster if self.cluster is None else self.cluster.product
        if blocks is None or blocks > driver.MAX_PORTABLE_CLUSTER:
            needs |= driver.PREPARED_CLUSTER
        return needs

    def needs(self, b: Builder) -> Value:
        """Return the kernel attributes that it needs, as an i32 of the same bits."""
        fixed, dynamic = self.may_need, b.i32(0)
        if not isinstance(self.shared, int):
            fixed &= ~driver.PREPARED_SHARED
            is_large = b.ugt(self.shared, b.i64(self.threshold))
            dynamic = _bit(b, is_large, driver.PREPARED_SHARED)
        if self.cluster is not None and self.cluster.dynamic:
            fixed &= ~driver.PREPARED_CLUSTER
            is_large = b.ugt(self.cluster.blocks(b), b.i64(driver.MAX_PORTABLE_CLUSTER))
            dynamic = b.or_(dynamic, _bit(b, is_large, driver.PREPARED_CLUSTER))
        return b.or_(dynamic, b.i32(fixed))

    def is_empty(self, b: Builder) -> Value | None:
        """Return whether the grid is empty, which the driver refuses: an i1, or None for never."""
        # Not `0 in values`: `==` on a value of CUTLASS's bindings emits an operation.
        if any(isinstance(size, int) and size == 0 for size in self.grid.values):
            return b.i1(True)
        zeros = [b.eq(size, b.i64(0)) for size in self.grid.dynamic]
        return reduce(b.or_, zeros) if zeros else None


def emit_config(b: Builder, launch: Launch, stream: Value) -> Value:
    """Write a ``CUlaunchConfig``, and return its address."""
    t = b.types
    config = b.alloca(t.i64, driver.CONFIG_SIZE // _WORD)
    _store_pairs(b, config, [*launch.grid.values, *launch.block.values, launch.shared, 0])
    attributes = _attributes(b, launch)
    count = b.i64((launch.cluster is not None) + len(launch.flags))
    for value, at in (
        (stream, driver.CONFIG_STREAM),
        (attributes, driver.CONFIG_ATTRIBUTES),
        (count, driver.CONFIG_COUNT),
    ):
        b.store(value, b.offset(config, at))
    return config


def _attributes(b: Builder, launch: Launch) -> Value:
    """Write an array of ``CUlaunchAttribute``, and return its address, or NULL."""
    each: list[Sequence[int | Value]] = []
    if launch.cluster is not None:
        each.append([driver.CLUSTER_DIMENSION, 0, *launch.cluster.values])
    each += [[driver.FLAGS[name], 0, 1] for name in launch.flags]
    if not each:
        return b.null()
    space = b.alloca(b.types.i64, len(each) * driver.ATTRIBUTE_SIZE // _WORD)
    for index, values in enumerate(each):
        rest = [0] * (driver.ATTRIBUTE_SIZE // 4 - len(values))
        _store_pairs(b, b.offset(space, index * driver.ATTRIBUTE_SIZE), [*values, *rest])
    return space


def _store_pairs(b: Builder, at: Value, values: Sequence[int | Value]) -> None:
    """Store adjacent 32-bit numbers; two ints take one store.

    Values are not compared, since `==` on a value of CUTLASS's bindings emits an operation.
    """
    t = b.types
    for index in range(0, len(values), 2):
        low, high = values[index : index + 2]
        place = b.offset(at, 4 * index)
        if isinstance(low, int) and isinstance(high, int):
            b.store(b.i64(low | high << 32), place)
        elif isinstance(high, int) and not isinstance(low, int) and high == 0:
            b.store(low, place)  # an i64 that fits 32 bits
        else:
            for half, value in enumerate((low, high)):
                narrow = b.i32(value) if isinstance(value, int) else b.trunc(value, t.i32)
                b.store(narrow, b.offset(place, 4 * half))


def _bit(b: Builder, condition: Value, bit: int) -> Value:
    return b.select(condition, b.i32(bit), b.i32(0))
