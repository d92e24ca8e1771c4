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

from collections.abc import Iterable

from typing_extensions import assert_never

from ffi_builder import spec
from ffi_builder.builder.fast_path import objects, scalars, tensors, values
from ffi_builder.builder.fast_path.context import Hot
from ffi_builder.builder.fast_path.optional import emit_optional
from ffi_builder.plan import Plan
from ffi_builder.plan import fuse as f
from ffi_builder.plan import steps as s


def emit_hot_path(hot: Hot, plan: Plan, *, defer: bool) -> None:
    """Emit the checks of a plan, and leave the decoded values in ``hot``.

    With ``defer``, strides that only bind a symbol are not read here: they are ``hot.stored``.
    """
    hot.alone = _alone(plan) if defer else frozenset()
    _emit_all(hot, plan.fused.steps)
    _emit_all(hot, plan.fused.late)
    tensors.check_sizes(hot)


def _alone(plan: Plan) -> frozenset[spec.Var]:
    """Symbols that stand once in the signature, with nothing to be checked of them."""
    return frozenset(
        var
        for var, count in plan.occurrences.items()
        if count == 1 and var.dtype == "int64" and var.min is var.max is var.divisibility is None
    )


def _emit_all(hot: Hot, steps: Iterable[f.FusedStep]) -> None:
    for step in steps:
        _emit(hot, step)


def _emit(hot: Hot, step: f.FusedStep) -> None:
    b = hot.b
    match step:
        # What there is most of comes first: a match tries one after the other.
        case f.Dim(place):
            hot.dim(place)  # checked with the product of the dimensions, at the end
        case s.EqualSymbol():
            values.check_symbol(hot, step)
        case s.Bind(place, symbol):
            values.bind(hot, place, symbol)
        case f.TensorHeader():
            tensors.decode(hot, step)
        case s.CheckShapePointer(place):
            hot.require(b.ne(hot.shape(place.position), b.null()))
        case f.Layout(place, order):
            tensors.check_layout(hot, place, order)
        case f.TensorData(place):
            tensors.check_data(hot, place)
        case s.CheckAlignment(place, alignment):
            tensors.check_alignment(hot, place, alignment)
        case f.Integer():
            scalars.decode_integer(hot, step)
        case s.DecodeScalar():
            scalars.decode_scalar(hot, step)
        case f.Pointer(place):
            scalars.decode_pointer(hot, place)
        case s.CheckBool(place):
            hot.require(b.ult(hot.scalar(place.position), b.i64(2)))
        case s.Fits(place, dtype):
            values.check_fits(hot, place, dtype)
        case s.EqualInt():
            values.check_int(hot, step)
        case s.CheckCount(_, expected):
            right, behind = b.eq(hot.count, b.i32(expected)), b.new_block()
            b.cond_br(right, behind, hot.wrong, otherwise_arguments=[hot.count])
            b.block = behind
        case s.CheckArguments():
            hot.require(b.ne(hot.args, b.null()))
        case f.OptionalSpan(place, inside):
            emit_optional(hot, place, lambda: _emit_all(hot, inside))
        case f.Container():
            objects.decode_container(hot, step)
        case f.Entry(place, bounded):
            if not bounded:
                hot.require(b.sge(values.read(hot, place), b.i64(0)))
        case s.DecodeObject():
            objects.decode_object(hot, step)
        case s.NotNull(place):
            hot.require(b.ne(hot.object_at(place.position), b.null()))
        case f.Text(place, binary):
            objects.decode_text(hot, place, binary)
        case s.CheckChoice(place, choice):
            objects.check_choice(hot, place, choice)
        case f.AnyShape(place):
            tensors.check_shape_of_any_rank(hot, place)
        case s.CheckPacked(place):
            tensors.check_packed(hot, place, step.limit)
        case s.AtLeast(place, symbol, free):
            values.check_bound(hot, place, symbol, "ge", symbol.min, free)
        case s.AtMost(place, symbol, free):
            values.check_bound(hot, place, symbol, "le", symbol.max, free)
        case s.Divisible():
            values.check_divisible(hot, step)
        case s.EqualFloat(place, expected):
            hot.require(scalars.same_float(hot, hot.scalar(place.position), expected.value))
        case s.BindOrEqual():
            values.bind_or_equal(hot, step)
        case s.Solve():
            values.solve(hot, step)
        case s.EqualExpr():
            values.check_expression(hot, step)
        case _:
            assert_never(step)
