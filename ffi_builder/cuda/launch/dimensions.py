"""A launch: grid, block, cluster, shared memory, and its ``CUlaunchConfig``.

Ints are checked once, expressions at each call.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Final, TypeAlias, Union, cast

from ffi_builder import BuildError, SpecError, spec
from ffi_builder.cuda.launch import driver
from ffi_builder.cuda.launch.maps import checked_entry
from ffi_builder.cuda.launch.states import Source
from ffi_builder.extending import Builder, Expr, dataclass, widened
from ffi_builder.ir import Value
from ffi_builder.providers import CallContext

OneSize: TypeAlias = Union[spec.Dim, str]
"""An int, a symbol or an expression, or its text: ``"ceildiv(n, 128)"``."""
Size: TypeAlias = Union[OneSize, Sequence[OneSize]]
"""One to three sizes, in x, y and z."""
Sizes: TypeAlias = tuple[OneSize, ...]

_AXES: Final = "xyz"


def checked_sizes(what: str, given: object, least: int, most: Sequence[int]) -> Sizes:
    """Return one to three ints, expressions or texts of expressions as a tuple.

    Raises:
        SpecError: if ``given`` is anything else, or an int is out of range.
    """
    sizes = (given,) if isinstance(given, (int, str, spec.Var, Expr)) else given
    if not isinstance(sizes, Sequence):
        raise SpecError(
            f"{what}: expected up to three ints or expressions of Vars, as text such as "
            f"'ceildiv(n, 256)', but got {given!r}"
        )
    entries = tuple(cast("Sequence[object]", sizes))
    if not 1 <= len(entries) <= len(_AXES):
        raise SpecError(f"{what}: expected one to three sizes but got {len(entries)}")
    return tuple(
        checked_size(f"{what}.{axis}", entry, least, high)
        for axis, entry, high in zip(_AXES, entries, most, strict=False)
    )


def checked_size(what: str, entry: object, least: int, most: int) -> OneSize:
    """Return an int, an integer expression or its text; turn the text of an int into an int.

    Raises:
        SpecError: if ``entry`` is anything else, or an int is out of range.
    """
    size = entry
    if isinstance(entry, str):
        try:
            expression = spec.expression(entry)
        except SpecError as error:
            cure = "\nWrite the dimension's name, such as n for `x: Tensor([n], …)`"
            raise SpecError(f"{what}: {error}{cure if '.shape' in entry else ''}") from None
        size = expression if isinstance(expression, int) else entry
    size = checked_entry(what, size)
    if isinstance(size, int) and not least <= size <= most:
        raise SpecError(f"{what}: expected {least} to {most} but got {size}")
    return size


def product(sizes: Sequence[object]) -> int | None:
    """Return the product, or None if one size is not an int."""
    ints = [size for size in sizes if isinstance(size, int)]
    return math.prod(ints) if len(ints) == len(sizes) else None


@dataclass(frozen=True)
class Dimensions:
    """Three sizes of a launch: ints, or i64 values whose range was checked."""

    values: tuple[int | Value, ...]

    @property
    def product(self) -> int | None:
        """The product, or None if one size is not an int."""
        return product(self.values)

    def blocks(self, b: Builder) -> Value:
        """Return the product as an i64, in which it must fit."""
        wide = [b.i64(value) if isinstance(value, int) else value for value in self.values]
        return reduce(b.mul, wide)

    @property
    def dynamic(self) -> list[Value]:
        """The sizes that are not ints."""
        return [value for value in self.values if not isinstance(value, int)]


def emit_dimensions(
    context: CallContext, source: Source, what: str, sizes: Sizes, least: int, most: Sequence[int]
) -> Dimensions:
    """Compute the sizes that are not ints, and check their range; missing sizes are 1."""
    values = [
        emit_size(context, source, f"{what}.{axis}", size, least, high)
        for axis, size, high in zip(_AXES, sizes, most, strict=False)
    ]
    return Dimensions((*values, *[1] * (len(_AXES) - len(values))))


def emit_size(
    context: CallContext, source: Source, what: str, size: OneSize, least: int, most: int
) -> int | Value:
    """Return an int as it is, or an i64 between ``least`` (0 or 1) and ``most``.

    Raises:
        BuildError: if the signature has no such symbol.
    """
    if isinstance(size, int):
        return size
    b, value = context.builder, value_of_size(context, f"{source.vendor.provider}: {what}", size)
    # The comparison is unsigned, so that negative values are too large.
    shifted = b.sub(value, b.i64(least)) if least else value
    words = f"{what} = {size} is {{}} for kernel {shown(source.shown)}; expected {least} to {most}"
    b.check(b.ule(shifted, b.i64(most - least)), "ValueError", words, value)
    return value


def shown(kernel: str) -> str:
    """Return the name of a kernel for the words of a check, in which ``{}`` stands for a value."""
    return repr(kernel.replace("{}", "{ }"))


def value_of_size(context: CallContext, what: str, size: spec.Dim | str) -> Value:
    """Return a size, an expression or its text, as an i64.

    Raises:
        BuildError: if the signature has no such symbol.
    """
    try:
        if isinstance(size, str):
            size = spec.expression(size, context.matched_var_binding)
        return widened(context, size)
    except (BuildError, SpecError) as error:
        raise BuildError(f"{what}: {error}") from None


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
    attributes: Sequence[Sequence[int | Value]]
    """The words of each attribute beside the cluster; their number is even."""

    @property
    def may_need(self) -> int:
        """The kernel attributes that the launch may need: bits of ``driver.PREPARED_…``."""
        needs = 0
        if not isinstance(self.shared, int) or self.shared > self.threshold:
            needs |= driver.PREPARED_SHARED
        blocks = self.compiled_cluster if self.cluster is None else self.cluster.product
        if blocks is None or blocks > driver.MAX_PORTABLE_CLUSTER:
            needs |= driver.PREPARED_CLUSTER
        return needs

    def needs(self, b: Builder) -> Value:
        """Return the kernel attributes that the launch needs, as an i32 of the same bits."""
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
        """Return an i1: whether the grid is empty, which the driver refuses; None means never."""
        # Not `0 in values`: `==` on a value of CUTLASS's bindings emits an operation.
        if any(isinstance(size, int) and size == 0 for size in self.grid.values):
            return b.i1(True)
        zeros = [b.eq(size, b.i64(0)) for size in self.grid.dynamic]
        return reduce(b.or_, zeros) if zeros else None


def emit_config(b: Builder, launch: Launch, stream: Value) -> Value:
    """Write a ``CUlaunchConfig``, and return its address."""
    config = b.alloca(b.types.i64, driver.CONFIG_SIZE // _WORD)
    _store_pairs(b, config, [*launch.grid.values, *launch.block.values, launch.shared, 0])
    attributes = _attributes(b, launch)
    count = b.i64((launch.cluster is not None) + len(launch.attributes))
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
        each.append([driver.LaunchAttribute.CLUSTER_DIMENSION, 0, *launch.cluster.values])
    each += launch.attributes
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
