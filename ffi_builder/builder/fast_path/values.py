"""Checks single values on the fast path: dimensions, strides, entries, device ids, scalars."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from ffi_builder import abi, spec
from ffi_builder.builder.fast_path import expressions, tensors
from ffi_builder.builder.fast_path.context import DL, FastPath
from ffi_builder.builder.fast_path.scalars import require_fits, same_symbol
from ffi_builder.builder.fast_path.state import Stored, Symbol
from ffi_builder.ir import Value
from ffi_builder.plan import Part, Place
from ffi_builder.plan import steps as s
from ffi_builder.plan.path import SIZES
from ffi_builder.plan.results import checked_range
from ffi_builder.spec.expr import Combined, Condition, Expr, Relation
from ffi_builder.spec.functions import variables
from ffi_builder.spec.numbers import FLOAT_DTYPES, INT_RANGES


def read(fast: FastPath, place: Place) -> Value:
    """Return the value at a place, as the steps see it."""
    reads = fast.state.reads
    if place not in reads:
        if place.part is Part.VALUE:
            return fast.scalar(place.position)
        reads[place] = _read(fast, place)
    return reads[place]


def _read(fast: FastPath, place: Place) -> Value:
    b, t = fast.b, fast.b.types
    match place.part:
        case Part.NDIM | Part.DTYPE:
            offset = abi.DLTENSOR_NDIM if place.part is Part.NDIM else abi.DLTENSOR_DTYPE
            return b.sext(b.field(t.i32, fast.object(place.position), DL + offset), t.i64)
        case Part.DATA:
            return b.to_int(fast.data(place.position))
        case Part.CONTIGUOUS:
            return b.zext(tensors.is_contiguous(fast, place.position), t.i64)
        case Part.PRESENT:
            there = fast.guard(place.position)
            return b.i64(1) if there is None else b.zext(there, t.i64)
        case Part.LENGTH:
            return fast.length(place.position)
        case Part.ENTRY:
            assert place.index is not None
            return fast.entries(place.position)[place.index]
        case Part.SHAPE:
            value = fast.dim(place)
        case Part.STRIDES:
            value = tensors.stride(fast, place)
        case Part.DEVICE_ID:
            value = b.ashr(fast.tensor(place.position).device, b.i64(32))
        case _:
            raise AssertionError(f"nothing was decoded at {place}")
    return b.mul(value, b.i64(place.packing)) if place.packing > 1 else value


def check_int(fast: FastPath, step: s.EqualInt) -> None:
    """Require that the value is a constant."""
    b, place = fast.b, step.place
    fast.check(b.eq(read(fast, place), b.i64(step.expected)), place, free=step.free)
    _note_dim(fast, place, step.expected)


def check_symbol(fast: FastPath, step: s.EqualSymbol) -> None:
    """Require that the value equals the value of a certainly bound symbol."""
    place, bound = step.place, fast.state.symbols[step.symbol].value
    fast.check(same_symbol(fast, step.symbol, read(fast, place), bound), place, free=step.free)
    _note_dim(fast, place, bound)


def _note_dim(fast: FastPath, place: Place, value: Value | int) -> None:
    """Replace a dimension by the constant or symbol that it equals."""
    if place.part is Part.SHAPE and place.packing == 1 and place.index is not None:
        fast.tensor(place.position).dims[place.index] = value


def check_fits(fast: FastPath, step: s.Fits) -> None:
    """Require that the value fits an integer dtype. Dimensions and entries are not negative."""
    place = step.place
    if step.symbol is not None and _implied(fast, place, step.symbol):
        return
    size = place.part in SIZES and place.solved is None
    if size and step.dtype == "int32":
        fast.state.narrow.append(read(fast, place))
    else:
        require_fits(fast, read(fast, place), step.dtype, not_negative=size)


def _implied(fast: FastPath, place: Place, symbol: spec.Var) -> bool:
    """Return whether the symbol is certainly bound, so that its value has passed this check.

    The plan then compares the value at this place with the symbol, which makes this check
    redundant.
    """
    bound = fast.state.symbols.get(symbol)
    return bound is not None and bound.certain is None and place.solved is None


def check_bound(fast: FastPath, step: s.AtLeast | s.AtMost) -> None:
    """Require that the value is within the ``min`` or ``max`` of a symbol."""
    place, symbol = step.place, step.symbol
    if _implied(fast, place, symbol):
        return
    b = fast.b
    relation = "ge" if isinstance(step, s.AtLeast) else "le"
    sign = "u" if symbol.dtype == "uint64" else "s"
    condition = b.compare(sign + relation, read(fast, place), b.i64(step.expected))
    fast.check(condition, place, free=step.free)


def check_divisible(fast: FastPath, step: s.Divisible) -> None:
    """Require that the value is a multiple of the ``divisibility`` of a symbol."""
    b, place, symbol = fast.b, step.place, step.symbol
    divisor = step.expected
    if divisor == 1 or _implied(fast, place, symbol):
        return
    rest = b.rest(read(fast, place), divisor, signed=symbol.dtype != "uint64")
    fast.check(b.eq(rest, b.i64(0)), place, free=step.free)


def bind(fast: FastPath, place: Place, symbol: spec.Var) -> None:
    """Bind the symbol to the value. A stride that no check reads is loaded where it is used."""
    low, high = checked_range(place, symbol)
    if place.part is Part.STRIDES and place.solved is None and symbol in fast.alone:
        fast.stored[symbol] = Stored(place, low, high)
    else:
        fast.state.symbols[symbol] = _bound(read(fast, place), low, high)


def _bound(value: Value, low: int, high: int, certain: Value | None = None) -> Symbol:
    return Symbol(value=value, low=low, high=high, certain=certain, seen=None)


def bind_or_equal(fast: FastPath, step: s.BindOrEqual) -> None:
    """Bind the symbol, or compare with it; see :class:`~ffi_builder.plan.steps.BindOrEqual`."""
    b, place, symbol = fast.b, step.place, step.symbol
    value = read(fast, place)
    applies = b.xor(fast.is_free(place), b.i1(True)) if step.free else None
    before = fast.state.symbols.get(symbol)
    low, high = INT_RANGES.get(symbol.dtype, (0, 0))
    if before is None:
        fast.state.symbols[symbol] = _bound(value, low, high, applies)
        return
    equal = same_symbol(fast, symbol, value, before.value)
    certain = before.certain
    if certain is not None:
        equal = b.or_(equal, b.xor(certain, b.i1(True)))
    if applies is None:
        fast.require(equal)
        if symbol.dtype in FLOAT_DTYPES and certain is not None:
            # 0.0 and -0.0 are equal, but have different bits. Keep the value that was bound first.
            value = b.select(certain, before.value, value)
        fast.state.symbols[symbol] = _bound(value, low, high)
        return
    fast.require(b.or_(equal, b.xor(applies, b.i1(True))))
    assert certain is not None, "a symbol that is bound for certain is compared, not bound"
    replaced = b.and_(applies, b.xor(certain, b.i1(True)))
    if before.seen is not None:
        replaced = b.or_(replaced, b.xor(before.seen, b.i1(True)))
    chosen = b.select(replaced, value, before.value)
    fast.state.symbols[symbol] = _bound(chosen, low, high, b.or_(certain, applies))


def solve(fast: FastPath, step: s.Solve) -> None:
    """Solve an equation for its symbol; later steps see the value of the symbol."""
    fast.state.reads[step.solved] = expressions.solve(fast, step, read(fast, step.place))


def check_expression(fast: FastPath, step: s.EqualExpr) -> None:
    """Require that the value equals an expression, unless the value or a symbol is absent."""
    b, place, expr = fast.b, step.place, step.expr
    value, fine = expressions.evaluate(fast, expr)
    holds = b.eq(read(fast, place), value)
    if fine is not None:
        holds = b.and_(holds, fine)
    guard = fast.guard(place.position)
    if guard is not None:
        holds = b.or_(holds, b.xor(guard, b.i1(True)))
    fast.check(_unless_absent(fast, holds, expr), place, free=step.free)


def holds(fast: FastPath, condition: Condition, *, certainly: bool = False) -> Value:
    """Return an i1 for whether a condition holds.

    A relation is unknown if one of its symbols is absent. An unknown relation holds unless
    ``certainly``. On overflow, neither the relation nor its negation holds.
    """
    b = fast.b
    match condition:
        case Combined("not", (part,)):
            return b.xor(holds(fast, part, certainly=not certainly), b.i1(True))
        case Combined(op, parts):
            every = (holds(fast, part, certainly=certainly) for part in parts)
            return functools.reduce(b.and_ if op == "and" else b.or_, every)
        case Relation():
            result, fine = expressions.holds(fast, condition)
            if not certainly:
                result = result if fine is None else b.and_(result, fine)
                return _unless_absent(fast, result, condition)
            if fine is not None:
                result = b.or_(result, b.xor(fine, b.i1(True)))
            return functools.reduce(b.and_, _seen(fast, condition), result)
        case _:
            raise AssertionError(f"plans have no {condition}")


def _unless_absent(fast: FastPath, holds: Value, of: Expr | Relation) -> Value:
    """Return an i1 that is also True if an absent Optional leaves a symbol without a value."""
    b = fast.b
    for seen in _seen(fast, of):
        holds = b.or_(holds, b.xor(seen, b.i1(True)))
    return holds


def _seen(fast: FastPath, of: Expr | Relation) -> Iterator[Value]:
    """Yield an i1 for each symbol that may be absent: whether it has a value."""
    for var in dict.fromkeys(variables(of)):
        seen = fast.state.symbols[var].seen
        if seen is not None:
            yield seen
