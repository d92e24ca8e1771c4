"""Functions that make symbols, expressions and relations, and say which symbols are in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import cast, overload

from ffi_builder.errors import SpecError
from ffi_builder.spec._check import integer, text
from ffi_builder.spec.dtypes import DTypeLike
from ffi_builder.spec.expr import Combined, Dim, Expr, Relation, Var, check_dim
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
    identifiers = text("dims", names).replace(",", " ").split()
    if not identifiers:
        raise SpecError(f"dims: expected names such as 'n k m' but got {names!r}")
    return tuple(Var(name, dtype) for name in identifiers)


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
        SpecError: no Var, an operand that is not an integer, or more than 127 operators,
            symbols and ints.

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
        SpecError: no Var, an operand that is not an integer, or more than 127 operators,
            symbols and ints.

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
        SpecError: no Var, an operand that is not an integer, or more than 127 operators,
            symbols and ints.

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


def variables(value: object) -> Iterator[Var]:
    """Yield every Var in an expression or condition, left to right, with repeats.

    An int, a tuple of ints and None have no Vars.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.spec.functions import variables
        >>> n, k = spec.dims("n k")
        >>> [var.name for var in variables(n * k + n)]
        ['n', 'k', 'n']
    """
    match value:
        case Var():
            yield value
        case Expr(_, lhs, rhs) | Relation(_, lhs, rhs):
            yield from variables(lhs)
            yield from variables(rhs)
        case Combined(_, parts):
            for part in parts:
                yield from variables(part)
        case _:
            return


def linear(value: Expr) -> tuple[int, Var, int] | None:
    """Return ``(a, x, b)`` if the expression is ``a * x + b`` with one Var x and a != 0, else None.

    Such an expression consists of ``+``, ``-`` and ``*``, and no product has x on both sides. If a
    or b does not fit int64, the result is None: a call then does not solve the expression for x,
    but compares its value once x is known.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.spec.functions import linear
        >>> n, k = spec.dims("n k")
        >>> linear((n + 1) * 2)
        (2, Var('n', 'int64'), 2)
        >>> linear(n * k)
    """
    form = _linear_form(value)
    if form is None:
        return None
    scale, symbol, offset = form
    fits = all(-(2**63) <= number < 2**63 for number in (scale, offset))
    if symbol is None or scale == 0 or not fits:
        return None
    return scale, symbol, offset


def constant(value: Expr) -> int | None:
    """Return the value of an expression of ``+``, ``-`` and ``*`` whose only symbol cancels out.

    Return None for any other expression.
    """
    form = _linear_form(value)
    return form[2] if form is not None and form[0] == 0 else None


def _linear_form(value: Dim) -> tuple[int, Var | None, int] | None:
    if isinstance(value, int):
        return 0, None, value
    if isinstance(value, Var):
        return 1, value, 0
    lhs, rhs = _linear_form(value.lhs), _linear_form(value.rhs)
    if lhs is None or rhs is None or value.op not in ("+", "-", "*"):
        return None
    if lhs[1] is not None and rhs[1] is not None and lhs[1] != rhs[1]:
        return None
    symbol = lhs[1] or rhs[1]
    if value.op == "*":
        if lhs[1] is not None and rhs[1] is not None:
            return None
        scale = lhs[2] if lhs[1] is None else rhs[2]
        return (lhs[0] + rhs[0]) * scale, symbol, lhs[2] * rhs[2]
    sign = 1 if value.op == "+" else -1
    return lhs[0] + sign * rhs[0], symbol, lhs[2] + sign * rhs[2]
