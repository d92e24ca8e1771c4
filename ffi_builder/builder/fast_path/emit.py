"""The hot path: one flat ``match`` over the steps of a plan.

It only loads and compares; every check is one branch whose failing edge goes to one slow block,
which calls the diagnosis. So the order of checks is free here, and adjacent fields are compared
together. For ``f(x: Tensor([n], float32))``::

    %type = llvm.load %args : !llvm.ptr -> i32
    %tensor = llvm.icmp "eq" %type, 70
    llvm.cond_br %tensor, ^found(%payload), ^other           // a DLTensor*, a moved Tensor
  ^found(%object):
    llvm.cond_br (%object != null), ^1, ^slow
  ^1:
    llvm.cond_br (ndim and dtype as one i64 == …), ^2, ^slow
    …
  ^slow:
    %status = llvm.call @__ffi_builder_shared_diagnose(%args, %num_args, @table)
    llvm.return %status
"""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import assert_never

from ffi_builder import abi, spec
from ffi_builder.builder.fast_path import objects, tensors
from ffi_builder.builder.fast_path.context import Hot
from ffi_builder.builder.fast_path.expressions import evaluate, solve
from ffi_builder.builder.fast_path.optional import emit_optional
from ffi_builder.builder.fast_path.scalars import (
    decode_scalar,
    fits_hot,
    same_float_constant,
    same_symbol,
)
from ffi_builder.builder.fast_path.state import ScalarValues, Stored, Symbol, TextValues
from ffi_builder.builder.fast_path.tensors import NDIM
from ffi_builder.ir import Value
from ffi_builder.plan import Part, Place, Plan
from ffi_builder.plan import steps as s
from ffi_builder.plan.optional_spans import regions
from ffi_builder.plan.results import checked_range


def emit_hot_path(hot: Hot, plan: Plan, *, defer: bool) -> None:
    """Emit the checks of a plan, and leave the decoded values in ``hot``.

    With ``defer``, strides that only bind a symbol are not read here: they are ``hot.stored``.
    """
    hot.alone = _alone(plan) if defer else frozenset()
    _emit_all(hot, plan.steps[: plan.late])
    for step in plan.steps[plan.late :]:
        _emit(hot, step, None)
    tensors.check_sizes(hot)


def _alone(plan: Plan) -> frozenset[spec.Var]:
    """Symbols that stand once in the signature, with nothing to be checked of them."""
    return frozenset(
        var
        for var, count in plan.occurrences.items()
        if count == 1 and var.dtype == "int64" and var.min is var.max is var.divisibility is None
    )


def _emit_all(hot: Hot, steps: Sequence[s.AnyStep]) -> None:
    every = list(regions(steps))
    for index, (step, inside) in enumerate(every):
        following = every[index + 1][0] if index + 1 < len(every) else None
        if isinstance(step, s.DecodeOptional):
            emit_optional(hot, step.place, inside, lambda steps: _emit_all(hot, steps))
        else:
            _emit(hot, step, following)


def _emit(hot: Hot, step: s.AnyStep, following: s.AnyStep | None) -> None:
    b = hot.b
    match step:
        # What there is most of comes first: a match tries one after the other.
        case s.NotNegative(place):
            _not_negative(hot, place, following)
        case s.CheckContiguous(place, order):
            if place.index is None:
                tensors.check_layout(hot, place, order)
            elif place.index == 0:  # all axes together
                tensors.check_contiguous(hot, place, order)
        case s.EqualSymbol(place, symbol, free):
            bound = hot.state.symbols[symbol].value
            hot.check(same_symbol(hot, symbol, read(hot, place), bound), place, free=free)
            _note_dim(hot, place, bound)
        case s.Bind(place, symbol):
            low, high = checked_range(place, symbol)
            if place.part is Part.STRIDES and place.solved is None and symbol in hot.alone:
                hot.stored[symbol] = Stored(place, low, high)
            else:
                hot.state.symbols[symbol] = _bound(read(hot, place), low, high)
        case s.NotNull(place):
            record = hot.state.records[place.position]
            if not isinstance(record, (TextValues, ScalarValues)):  # decoding has checked a str
                hot.require(b.ne(record.object, b.null()))
        case s.DecodeTensor(place):
            tensors.decode(hot, place)
        case s.CheckNdim(place, expected):
            # Compared together with the dtype, which always follows.
            hot.tensor(place.position).ndim = expected
        case s.CheckDType(place, dtypes):
            tensors.check_ndim_and_dtype(hot, place, dtypes)
            if not isinstance(following, s.CheckDeviceType):
                tensors.load_device(hot, place)
        case s.CheckDeviceType(place):
            tensors.check_device_type(hot, place, step.code, following)
        case s.CheckSameDevice():
            tensors.check_same_device(hot, step)
        case s.CheckShapePointer(place, any_rank):
            there = b.ne(hot.shape(place.position), b.null())
            if any_rank:
                ndim = b.field(b.types.i32, hot.tensor(place.position).object, NDIM)
                there = b.or_(there, b.eq(ndim, b.i32(0)))
            hot.require(there)
        case s.CheckNumel(place):
            tensors.check_numel(hot, place.position)
        case s.CheckOffset(place):
            tensors.load_data(hot, place)  # checked with data, which follows
        case s.CheckData(place):
            tensors.check_data(hot, place)
        case s.CheckAlignment(place, alignment):
            tensors.check_alignment(hot, place, alignment)
        case s.DecodeScalar(place, kind, dtype):
            decode_scalar(hot, place, kind, dtype, following)
        case s.Fits(place, dtype):
            fits_hot(hot, place, dtype, read(hot, place))
        case s.CheckCount(_, expected):
            right, behind = b.eq(hot.count, b.i32(expected)), b.new_block()
            b.cond_br(right, behind, hot.wrong, otherwise_arguments=[hot.count])
            b.block = behind
        case s.CheckArguments():
            hot.require(b.ne(hot.args, b.null()))
        case s.DecodeOptional():
            raise AssertionError("not by itself")
        case s.DecodeShape() | s.DecodeTuple():
            objects.decode_container(hot, step)
        case s.DecodeObject():
            objects.decode_object(hot, step)
        case s.DecodeText(place, binary):
            objects.decode_text(hot, place, binary)
        case s.CheckSmall() | s.CheckBytes():
            pass  # decoding has checked it
        case s.CheckChoice(place, choice):
            objects.check_choice(hot, place, choice)
        case s.CheckLength(place, expected):
            container = hot.container(place.position)
            container.length = expected
            size = b.field(b.types.i64, container.object, abi.CELL_SIZE)
            hot.require(b.eq(size, b.i64(expected)))
        case s.CheckCells(place):
            hot.require(b.ne(hot.cells(place.position), b.null()))
        case s.CheckDims():
            pass  # with their product, which follows
        case s.DecodeEntry(place):
            if place.index == 0:
                objects.decode_entries(hot, place)
        case s.CheckBool(place):
            hot.require(b.ult(hot.scalar(place.position), b.i64(2)))
        case s.CheckPacked(place):
            tensors.check_packed(hot, place, step.limit)
        case s.AtLeast(place, symbol, free):
            if not _implied(hot, place, symbol):
                _check_bound(hot, place, symbol, "ge", symbol.min, free)
        case s.AtMost(place, symbol, free):
            if not _implied(hot, place, symbol):
                _check_bound(hot, place, symbol, "le", symbol.max, free)
        case s.Divisible(place, symbol, free):
            if not _implied(hot, place, symbol):
                _check_divisible(hot, place, symbol, free)
        case s.EqualInt(place, expected, free):
            hot.check(b.eq(read(hot, place), b.i64(expected)), place, free=free)
            _note_dim(hot, place, expected)
        case s.EqualFloat(place, expected):
            hot.require(same_float_constant(hot, hot.scalar(place.position), expected.value))
        case s.BindOrEqual(place, symbol, free):
            _bind_or_equal(hot, place, symbol, free)
        case s.Solve():
            hot.state.reads[step.solved] = solve(hot, step, read(hot, step.place))
        case s.EqualExpr(place, expr, free):
            hot.check(_equal_expr(hot, place, expr), place, free=free)
        case _:
            assert_never(step)


def _equal_expr(hot: Hot, place: Place, expr: spec.Expr) -> Value:
    """Also where the value, or one of the symbols, is absent."""
    b = hot.b
    value, fine = evaluate(hot, expr)
    holds = b.eq(read(hot, place), value)
    if fine is not None:
        holds = b.and_(holds, fine)
    seen = [hot.state.symbols[var].seen for var in dict.fromkeys(spec.variables(expr))]
    for there in (hot.guard(place.position), *seen):
        if there is not None:
            holds = b.or_(holds, b.xor(there, b.i1(True)))
    return holds


def read(hot: Hot, place: Place) -> Value:
    """The value at a place, as the steps see it."""
    reads = hot.state.reads
    if place not in reads:
        if place.part is Part.VALUE:
            return hot.scalar(place.position)
        reads[place] = _read(hot, place)
    return reads[place]


def _read(hot: Hot, place: Place) -> Value:
    b = hot.b
    match place.part:
        case Part.ENTRY:
            assert place.index is not None
            return hot.container(place.position).entries[place.index]
        case Part.SHAPE:
            value = hot.dim(place)
        case Part.STRIDES:
            value = tensors.stride(hot, place)
        case Part.DEVICE_ID:
            value = b.ashr(hot.device(place.position), b.i64(32))
        case _:
            raise AssertionError(f"nothing was decoded at {place}")
    return b.mul(value, b.i64(place.packing)) if place.packing > 1 else value


def _note_dim(hot: Hot, place: Place, value: Value | int) -> None:
    """A dimension that was checked is the int, or the very value of the symbol."""
    if place.part is Part.SHAPE and place.packing == 1 and place.index is not None:
        hot.tensor(place.position).dims[place.index] = value


def _implied(hot: Hot, place: Place, symbol: spec.Var) -> bool:
    """Whether the comparison with the symbol's binding, which follows, says it all."""
    bound = hot.state.symbols.get(symbol)
    return bound is not None and bound.certain is None and place.solved is None


def _not_negative(hot: Hot, place: Place, following: s.AnyStep | None) -> None:
    b = hot.b
    if place.part is Part.SHAPE:
        hot.dim(place)  # checked with the product of the dimensions, at the end
        return
    if place.part is Part.VALUE:
        return  # a pointer: decoding it has checked this
    if place.part is Part.NDIM:
        ndim = b.field(b.types.i32, hot.tensor(place.position).object, NDIM)
        hot.require(b.sge(ndim, b.i32(0)))
        return
    if isinstance(following, (s.EqualInt, s.Fits)) and following.place == place:
        return  # which says so too
    hot.require(b.sge(read(hot, place), b.i64(0)))


def _check_bound(
    hot: Hot, place: Place, symbol: spec.Var, relation: str, bound: int | None, free: bool
) -> None:
    assert bound is not None
    b = hot.b
    sign = "u" if symbol.dtype == "uint64" else "s"
    condition = b.compare(sign + relation, read(hot, place), b.i64(bound))
    hot.check(condition, place, free=free)


def _check_divisible(hot: Hot, place: Place, symbol: spec.Var, free: bool) -> None:
    b = hot.b
    divisor = symbol.divisibility
    assert divisor is not None
    if divisor == 1:
        return
    value = read(hot, place)
    if divisor & (divisor - 1) == 0:
        rest = b.and_(value, b.i64(divisor - 1))
    elif symbol.dtype == "uint64":
        rest = b.urem(value, b.i64(divisor))
    else:
        rest = b.srem(value, b.i64(divisor))
    hot.check(b.eq(rest, b.i64(0)), place, free=free)


def _bound(value: Value, low: int, high: int, certain: Value | None = None) -> Symbol:
    return Symbol(value=value, low=low, high=high, certain=certain, seen=None)


def _bind_or_equal(hot: Hot, place: Place, symbol: spec.Var, free: bool) -> None:
    b = hot.b
    value = read(hot, place)
    applies = b.xor(hot.is_free(place), b.i1(True)) if free else None
    before = hot.state.symbols.get(symbol)
    low, high = spec.INT_RANGES.get(symbol.dtype, (0, 0))
    if before is None:
        hot.state.symbols[symbol] = _bound(value, low, high, applies)
        return
    equal = same_symbol(hot, symbol, value, before.value)
    certain = before.certain
    if certain is not None:
        equal = b.or_(equal, b.xor(certain, b.i1(True)))
    if applies is None:
        hot.require(equal)
        if symbol.dtype in spec.FLOAT_DTYPES and certain is not None:
            # Equal is not the same: 0.0 and -0.0. The first one counts.
            value = b.select(certain, before.value, value)
        hot.state.symbols[symbol] = _bound(value, low, high)
        return
    hot.require(b.or_(equal, b.xor(applies, b.i1(True))))
    assert certain is not None, "a symbol that is bound for certain is compared, not bound"
    replaced = b.and_(applies, b.xor(certain, b.i1(True)))
    if before.seen is not None:
        replaced = b.or_(replaced, b.xor(before.seen, b.i1(True)))
    chosen = b.select(replaced, value, before.value)
    hot.state.symbols[symbol] = _bound(chosen, low, high, b.or_(certain, applies))
