"""Grid, block, cluster and shared memory: checked when given, computed at each call in 64 bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final, TypeAlias, Union, cast

from ffi_builder import spec
from ffi_builder.errors import BuildError, SpecError
from ffi_builder.ir import Builder, Value
from ffi_builder.providers.context import CallContext
from ffi_builder.providers.cuda import driver
from ffi_builder.providers.cuda.arguments import PROVIDER, widened

OneSize: TypeAlias = Union[spec.Dim, str]
"""An int, a symbol or an expression, or its text: ``"ceildiv(n, 128)"``."""
Size: TypeAlias = Union[OneSize, Sequence[OneSize]]
"""One to three of them."""
Sizes: TypeAlias = tuple[OneSize, ...]

_AXES: Final = "xyz"
_INT_MAX: Final = driver.WORDS[0]


def checked_sizes(what: str, given: object) -> Sizes:
    """One to three ints, expressions or texts of expressions, as a tuple.

    Raises:
        SpecError: if they are not.
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
    """An int, or an expression of integers, or the text of one; the text of an int is that.

    Raises:
        SpecError: if it is not.
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
    """Check the range of those that are ints.

    Raises:
        SpecError: if one is not.
    """
    for axis, size, high in zip(_AXES, sizes, most, strict=False):
        if isinstance(size, int) and not least <= size <= high:
            raise SpecError(f"{PROVIDER}: {what}.{axis}: expected {least} to {high} but got {size}")


def product(sizes: Sequence[object]) -> int | None:
    """Return the product, if all are ints."""
    found = 1
    for size in sizes:
        if not isinstance(size, int):
            return None
        found *= size
    return found


@dataclass(frozen=True)
class Dimensions:
    """Three sizes of a launch: ints, or i64 values that have been checked to be in range."""

    values: tuple[int | Value, ...]

    @property
    def product(self) -> int | None:
        """Return the product, if all are ints."""
        return product(self.values)

    def blocks(self, b: Builder) -> Value:
        """Return the product, an i64; it must fit."""
        wide = [b.i64(value) if isinstance(value, int) else value for value in self.values]
        return reduce(b.mul, wide)

    @property
    def dynamic(self) -> list[Value]:
        """The sizes that are not ints."""
        return [value for value in self.values if not isinstance(value, int)]


def emit_dimensions(
    context: CallContext, kernel: str, what: str, sizes: Sizes, least: int, most: Sequence[int]
) -> Dimensions:
    """Compute the sizes that are not ints, and check their range; missing ones are 1."""
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
    # Unsigned, so that negative values are too large.
    shifted = b.sub(value, b.i64(least)) if least else value
    name = kernel.replace("{}", "{ }")  # which would stand for a value
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
    """Bytes of dynamic shared memory: an int, or an i64 that has been checked."""
    return emit_size(context, kernel, "dynamic_smem_bytes", size, 0, _INT_MAX)
