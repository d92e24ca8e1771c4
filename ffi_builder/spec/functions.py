"""Functions that make symbols, expressions and relations, where Python has no operator."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import cast, overload

from ffi_builder.errors import SpecError
from ffi_builder.spec._check import integer, text
from ffi_builder.spec.dtypes import DTypeLike
from ffi_builder.spec.expr import Dim, Expr, Relation, Var, check_dim
from ffi_builder.spec.numbers import VAR_DTYPES
from ffi_builder.suggest import nearest


@overload
def ceildiv(value: int, divisor: int) -> int: ...
@overload
def ceildiv(value: Var | Expr, divisor: int) -> Expr: ...
def ceildiv(value: Dim, divisor: int) -> int | Expr:
    """Return ``value / divisor`` rounded up: an int if ``value`` is one, else an :class:`Expr`.

    Raises:
        SpecError: ``divisor`` is not a positive int, or ``value`` is not an integer.

    Examples:
        >>> from ffi_builder import spec
        >>> spec.ceildiv(1000, 256)
        4
        >>> print(spec.ceildiv(spec.Var("n", "int64"), 256))
        ceildiv(n, 256)
    """
    if isinstance(value, int):
        return -(-integer("ceildiv", value) // integer("divisor of 'ceildiv'", divisor, at_least=1))
    return Expr("ceildiv", check_dim("operand of 'ceildiv'", value), divisor)


def dims(names: str, dtype: DTypeLike = "int64") -> tuple[Var, ...]:
    """Return a Var for each name in ``"n k m"`` or ``"n, k, m"``.

    Args:
        names: identifiers, with spaces or commas between them.
        dtype: the dtype of all of them.

    Raises:
        SpecError: no name, a name that is no identifier, or an unknown dtype.

    Examples:
        >>> from ffi_builder import spec
        >>> n, k = spec.dims("n k", "int32")
        >>> n
        Var('n', 'int32')
    """
    if isinstance(dtype, str) and dtype.isidentifier() and nearest(dtype, VAR_DTYPES) is None:
        raise SpecError(
            f"dims: dtype: expected one of {', '.join(VAR_DTYPES)} but got {dtype!r}; several "
            f"names stand in one str, as in dims('n k m')"
        )
    found = text("dims", names).replace(",", " ").split()
    if not found:
        raise SpecError(f"dims: expected names such as 'n k m' but got {names!r}")
    return tuple(Var(name, dtype) for name in found)


@overload
def maximum(first: int, second: int) -> int: ...
@overload
def maximum(first: Var | Expr, second: Dim) -> Expr: ...
@overload
def maximum(first: Dim, second: Var | Expr) -> Expr: ...
def maximum(first: Dim, second: Dim) -> int | Expr:
    """Return the greater of two values, ``max(n, k)`` in texts: an int if both are.

    Raises:
        SpecError: one of them is not an integer.

    Examples:
        >>> from ffi_builder import spec
        >>> n, k = spec.dims("n k")
        >>> print(spec.maximum(n * 2, k))
        max(n * 2, k)
    """
    return _extremum("max", first, second)


@overload
def minimum(first: int, second: int) -> int: ...
@overload
def minimum(first: Var | Expr, second: Dim) -> Expr: ...
@overload
def minimum(first: Dim, second: Var | Expr) -> Expr: ...
def minimum(first: Dim, second: Dim) -> int | Expr:
    """Return the smaller of two values, ``min(n, k)`` in texts: an int if both are.

    Raises:
        SpecError: one of them is not an integer.

    Examples:
        >>> from ffi_builder import spec
        >>> n = spec.Var("n", "int64")
        >>> print(spec.minimum(spec.ceildiv(n, 256), 1024))
        min(ceildiv(n, 256), 1024)
    """
    return _extremum("min", first, second)


def _extremum(op: str, first: Dim, second: Dim) -> int | Expr:
    lhs, rhs = (check_dim(f"operand of {op!r}", value) for value in (first, second))
    if isinstance(lhs, int) and isinstance(rhs, int):
        return max(lhs, rhs) if op == "max" else min(lhs, rhs)
    return Expr(op, lhs, rhs)


def equal(lhs: Dim, rhs: Dim) -> Relation:
    """Return the relation ``lhs == rhs``, for the ``where`` of a signature.

    The operator ``==`` compares specs: ``n == m`` is False.

    Raises:
        SpecError: as :class:`~ffi_builder.spec.Relation` does.

    Examples:
        >>> from ffi_builder import spec
        >>> heads, kv_heads, group = spec.dims("heads kv_heads group", "int32")
        >>> where = [spec.equal(heads, kv_heads * group)]
        >>> print(spec.Signature("attention", [heads, kv_heads, group], where=where))
        attention(heads: int32, kv_heads: int32, group: int32) where heads == kv_heads * group
    """
    return Relation("==", lhs, rhs)


def not_equal(lhs: Dim, rhs: Dim) -> Relation:
    """Return the relation ``lhs != rhs``, for the ``where`` of a signature.

    Raises:
        SpecError: as :class:`~ffi_builder.spec.Relation` does.

    Examples:
        >>> from ffi_builder import spec, testing
        >>> source, target = spec.dims("source target", "int32")
        >>> where = [spec.not_equal(source, target)]
        >>> testing.check(spec.Signature("send", [source, target], where=where), 1, 1)
        Traceback (most recent call last):
        ...
        ValueError: Mismatched target on argument #1 when calling: `...`, expected source !=
            target with source = 1 from source, target = 1 from target but got 1 and 1
    """
    return Relation("!=", lhs, rhs)


def one_of(value: Dim, allowed: Sequence[int] | Set[int]) -> Relation:
    """Return the relation ``value in {64, 128}``, for the ``where`` of a signature.

    Args:
        value: a Var, or an expression.
        allowed: at least one int, each once; their order has no meaning.

    Raises:
        SpecError: as :class:`~ffi_builder.spec.Relation` does.

    Examples:
        >>> from ffi_builder import spec, testing
        >>> head_dim = spec.Var("head_dim", "int32")
        >>> where = [spec.one_of(head_dim, [64, 128])]
        >>> testing.check(spec.Signature("attention", [head_dim], where=where), 96)
        Traceback (most recent call last):
        ...
        ValueError: Mismatched head_dim on argument #0 when calling: `...`, expected head_dim
            in {64, 128} with head_dim = 96 from head_dim but got 96
    """
    # Relation stores the ints as a tuple.
    return Relation("in", value, cast("tuple[int, ...]", allowed))
