"""Grid, block, cluster and shared memory: ints are checked once, expressions at each call."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Final, TypeAlias, Union, cast

from ffi_builder import spec
from ffi_builder.errors import BuildError, SpecError
from ffi_builder.ir import Builder, Value
from ffi_builder.providers.arguments import widened
from ffi_builder.providers.context import CallContext
from ffi_builder.providers.cuda import driver
from ffi_builder.providers.cuda.arguments import PROVIDER
from ffi_builder.records import dataclass

OneSize: TypeAlias = Union[spec.Dim, str]
"""An int, a symbol or an expression, or its text: ``"ceildiv(n, 128)"``."""
Size: TypeAlias = Union[OneSize, Sequence[OneSize]]
"""One to three sizes, in x, y and z."""
Sizes: TypeAlias = tuple[OneSize, ...]

_AXES: Final = "xyz"
_INT_MAX: Final = driver.WORDS[0]


def checked_sizes(what: str, given: object) -> Sizes:
    """Return one to three ints, expressions or texts of expressions as a tuple.

    Raises:
        SpecError: if ``given`` is anything else.
    """
    sizes = (given,) if isinstance(given, (int, str, spec.Var, spec.Expr)) else given
    if not isinstance(sizes, Sequence):
        raise SpecError(
            f"{PROVIDER}: {what}: expected up to three ints or expressions of Vars but got "
            f"{given!r}"
        )
    entries = tuple(cast("Sequence[object]", sizes))
    if not 1 <= len(entries) <= len(_AXES):
        raise SpecError(f"{PROVIDER}: {what}: expected one to three sizes but got {len(entries)}")
    return tuple(
        checked_size(f"{what}.{axis}", entry) for axis, entry in zip(_AXES, entries, strict=False)
    )


def checked_size(what: str, entry: object) -> OneSize:
    """Return an int, an integer expression or the text of one; the text of an int becomes an int.

    Raises:
        SpecError: if ``entry`` is anything else.
    """
    if isinstance(entry, str):
        try:
            found = spec.expression(entry)
        except SpecError as error:
            raise SpecError(f"{PROVIDER}: {what}: {error}") from None
        return found if isinstance(found, int) else entry
    is_integer = isinstance(entry, int) and not isinstance(entry, bool)
    if isinstance(entry, spec.Var) and not entry.is_integer:
        raise SpecError(
            f"{PROVIDER}: {what}: {entry.name!r} is a {entry.dtype} symbol, not an integer one"
        )
    if not is_integer and not isinstance(entry, (spec.Var, spec.Expr)):
        raise SpecError(
            f"{PROVIDER}: {what}: expected an int or an expression of Vars but got {entry!r}"
        )
    return cast("OneSize", entry)


def check_ints(what: str, sizes: Sizes, least: int, most: Sequence[int]) -> None:
    """Check the range of the sizes that are ints.

    Raises:
        SpecError: if one is out of range.
    """
    for axis, size, high in zip(_AXES, sizes, most, strict=False):
        if isinstance(size, int) and not least <= size <= high:
            raise SpecError(f"{PROVIDER}: {what}.{axis}: expected {least} to {high} but got {size}")


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
    context: CallContext, kernel: str, what: str, sizes: Sizes, least: int, most: Sequence[int]
) -> Dimensions:
    """Compute the sizes that are not ints, and check their range; missing sizes are 1."""
    values: list[int | Value] = []
    for axis, size, high in zip(_AXES, sizes, most, strict=False):
        where = f"{what}.{axis}"
        values.append(emit_size(context, kernel, where, size, least, high))
    return Dimensions((*values, *[1] * (len(_AXES) - len(values))))


def emit_size(
    context: CallContext, kernel: str, what: str, size: OneSize, least: int, most: int
) -> int | Value:
    """Return an int as it is, or an i64 between ``least`` (0 or 1) and ``most``.

    Raises:
        BuildError: if the signature has no such symbol.
    """
    if isinstance(size, int):
        return size
    b = context.builder
    try:
        if isinstance(size, str):
            size = spec.expression(size, context.matched_var_binding)
        value = widened(context, size)
    except (BuildError, SpecError) as error:
        raise BuildError(f"{PROVIDER}: {what}: {error}") from None
    # The comparison is unsigned, so that negative values are too large.
    shifted = b.sub(value, b.i64(least)) if least else value
    name = kernel.replace("{}", "{ }")  # since {} stands for a value
    words = f"{what} = {size} is {{}} for kernel {name!r}; expected {least} to {most}"
    b.check(b.ule(shifted, b.i64(most - least)), "ValueError", words, value)
    return value


def checked_dynamic_memory(given: OneSize) -> OneSize:
    """Check the size of dynamic shared memory, in bytes.

    Raises:
        SpecError: if it is not an int or expression, or out of range.
    """
    size = checked_size("dynamic_smem_bytes", given)
    if isinstance(size, int) and not 0 <= size <= _INT_MAX:
        raise SpecError(f"{PROVIDER}: dynamic_smem_bytes: expected 0 to {_INT_MAX} but got {size}")
    return size


def emit_dynamic_memory(context: CallContext, kernel: str, size: OneSize) -> int | Value:
    """Return the bytes of dynamic shared memory: an int, or an i64 whose range was checked."""
    return emit_size(context, kernel, "dynamic_smem_bytes", size, 0, _INT_MAX)
