"""Expressions that can be solved for their only symbol."""

from __future__ import annotations

from ffi_builder.spec.expr import Dim, Expr, Var


def linear(value: Expr) -> tuple[int, Var, int] | None:
    """Return ``(a, x, b)`` if the expression is ``a * x + b`` with one Var x and a != 0, else None.

    Such an expression consists of ``+``, ``-`` and ``*``, and no product has x on both sides. If a
    or b does not fit int64, the result is None: the expression is not solved for x, but compared
    once x is known.

    Examples:
        >>> from ffi_builder import spec
        >>> n, k = spec.dims("n k")
        >>> spec.linear((n + 1) * 2)
        (2, Var('n', 'int64'), 2)
        >>> spec.linear(n * k)
    """
    form = _linear_form(value)
    if form is None:
        return None
    scale, symbol, offset = form
    if symbol is None or scale == 0:
        return None
    if not all(-(2**63) <= number < 2**63 for number in (scale, offset)):
        return None
    return scale, symbol, offset


def constant(value: Expr) -> int | None:
    """Return the value of an expression of ``+``, ``-`` and ``*`` whose symbol cancels out.

    None if it does not, or if there are several symbols.
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
