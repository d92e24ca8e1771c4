"""Emits the fast path of a wrapper: one flat ``match`` over the steps of a plan.

The fast path only loads and compares. Every check is one branch whose failing edge goes to one slow
block, which calls the diagnosis. So the order of checks is free here, and adjacent fields are
compared together. For ``f(x: Tensor([n], float32))``::

    %type = llvm.load %args : !llvm.ptr -> i32
    %tensor = llvm.icmp "eq" %type, 70
    llvm.cond_br %tensor, ^ready(%payload), ^other           // a DLTensor*, a moved Tensor
  ^ready(%object):
    llvm.cond_br (%object != null), ^1, ^slow
  ^1:
    llvm.cond_br (ndim and dtype as one i64 == …), ^2, ^slow
    …
  ^slow:
    %status = llvm.call @__ffi_builder_shared_diagnose(%args, %num_args, @table)
    llvm.return %status

An Optional has a branch of its own, which checks the argument if it is not None. After the branch,
decoded values are NULL, 0 or False if the Optional was absent. Other values that were read in the
branch are read again where they are needed, from a constant of zeros if the Optional was absent
(:mod:`ffi_builder.builder.fast_path.state`).
"""

from __future__ import annotations

from collections.abc import Iterable

from typing_extensions import assert_never

from ffi_builder import spec
from ffi_builder.builder.fast_path import lists, numbers, objects, overlap, scalars, tensors, values
from ffi_builder.builder.fast_path.context import FastPath
from ffi_builder.builder.fast_path.state import Merge, VariantValues
from ffi_builder.ir import Value
from ffi_builder.plan import Place, Plan
from ffi_builder.plan import steps as s
from ffi_builder.spec.functions import variables


def emit_optional(fast: FastPath, place: Place, steps: Iterable[s.AnyStep]) -> None:
    """Emit the checks of an Optional; None skips ``steps``."""
    b = fast.b
    base, offset = fast.any_at(place.position)
    there = b.ne(b.field(b.types.i32, base, offset), b.i32(0))
    _emit_branch(fast, place, there, steps)


def emit_variant(fast: FastPath, step: s.DecodeVariant) -> None:
    """Emit the checks of a Variant: a branch for each parameter."""
    b = fast.b
    objects.decode_variant(fast, step)
    number = fast.record(step.place.position, VariantValues).number
    for own, alternative in enumerate(step.alternatives, 1):
        there = b.eq(number, b.i32(own))
        _emit_branch(fast, alternative.place, there, alternative.inside)


def _emit_branch(fast: FastPath, place: Place, there: Value, steps: Iterable[s.AnyStep]) -> None:
    """Emit steps that a call skips unless ``there``."""
    b = fast.b
    before, start, body = fast.state, b.block, b.new_block()
    b.block = body
    fast.state = before.fork()
    _emit_all(fast, steps)
    tensors.check_waiting(fast)
    merge = Merge(b)
    fast.state = before.join(fast.state, merge)
    fast.state.present[place.position] = there
    merge.emit(start, there, body)


def emit_fast_path(fast: FastPath, plan: Plan, *, defer: bool) -> None:
    """Emit the checks of a plan, and leave the decoded values in ``fast``.

    With ``defer``, strides that only bind a symbol are not read, but noted in ``fast.stored``.
    """
    fast.alone = _alone(plan) if defer else frozenset()
    fast.sorted = overlap.sorted_lists(plan)
    _emit_all(fast, plan.steps)
    _emit_all(fast, plan.waiting)
    if plan.compares_lists:
        tensors.check_waiting(fast)  # overlaps are reported last, behind all other checks
    _emit_all(fast, plan.overlaps)
    tensors.check_waiting(fast)


def _alone(plan: Plan) -> frozenset[spec.Var]:
    """Return the symbols that occur once in the signature and need no check."""
    related = {var for condition in plan.signature.where for var in variables(condition)}
    return frozenset(
        var
        for var, count in plan.occurrences.items()
        if count == 1 and var.dtype == "int64" and var.min is var.max is var.divisibility is None
        if var not in related
    )


def _emit_all(fast: FastPath, steps: Iterable[s.AnyStep]) -> None:
    """Emit steps; the location of each operation names the parameter, such as ``cfg[0]``."""
    b, outer = fast.b, fast.b.location
    path = ""
    for step in steps:
        # The name is `x`, not `x.shape[0]`: a location for each step would make attaching slower.
        if step.place.path != path:
            path = step.place.path
            b.location = b.types.named_location(path, outer) if path else outer
        _emit(fast, step)
    b.location = outer


def _emit(fast: FastPath, step: s.AnyStep) -> None:
    b = fast.b
    match step:
        # The most frequent steps come first: a match tries one case after the other.
        case s.ReadDim(place):
            fast.dim(place)  # tensors.check_waiting rejects negative dims of several tensors
        case s.EqualSymbol():
            values.check_symbol(fast, step)
        case s.Bind(place, symbol):
            values.bind(fast, place, symbol)
        case s.DecodeTensor():
            tensors.decode(fast, step)
        case s.CheckShapePointer(place, any_rank=True):
            tensors.check_shape_of_any_rank(fast, place)
        case s.CheckShapePointer(place):
            fast.require(b.ne(fast.shape(place.position), b.null()))
        case s.CheckLayout(place, order):
            tensors.check_layout(fast, place, order)
        case s.CheckData(place):
            tensors.check_data(fast, place)
        case s.CheckAlignment(place, alignment):
            tensors.check_alignment(fast, place, alignment)
        case s.CheckElementAlignment(place, alignments):
            tensors.check_element_alignment(fast, place, alignments)
        case s.CheckOverlap():
            overlap.check_overlap(fast, step)
        case s.DecodeScalar(place, kind=s.Kind.INT, integer=str(dtype)):
            scalars.decode_integer(fast, place, dtype)
        case s.DecodeScalar(place, kind=s.Kind.POINTER):
            scalars.decode_pointer(fast, place)
        case s.DecodeScalar():
            scalars.decode_scalar(fast, step)
        case s.CheckBool(place):
            fast.require(b.ult(fast.scalar(place.position), b.i64(2)))
        case s.Fits():
            values.check_fits(fast, step)
        case s.EqualInt():
            values.check_int(fast, step)
        case s.CheckCount(_, expected) | s.CheckLeastCount(_, expected):
            compare = b.eq if isinstance(step, s.CheckCount) else b.sge
            correct, following = compare(fast.count, b.i32(expected)), b.new_block()
            b.cond_br(correct, following, fast.wrong, otherwise_arguments=[fast.count])
            b.block = following
        case s.CheckArguments():
            fast.require(b.ne(fast.args, b.null()))
        case s.DecodeOptional(place):
            emit_optional(fast, place, step.inside)
        case s.DecodeVariant():
            emit_variant(fast, step)
        case s.Alternative():
            raise AssertionError("a Variant emits its alternatives")
        case s.DecodeShape():
            objects.decode_shape(fast, step)
        case s.DecodeTuple():
            objects.decode_tuple(fast, step)
        case s.DecodeList(of=None):
            lists.decode_list(fast, step)
        case s.DecodeList():
            numbers.decode(fast, step)
        case s.EachElement(param=spec.Array()):
            numbers.check_only(fast, step, lambda: _emit_all(fast, step.inside))
        case s.EachElement(param=spec.List() as param):
            numbers.check_elements(fast, step, param, lambda: _emit_all(fast, step.inside))
        case s.EachElement():
            lists.check_elements(fast, step, lambda: _emit_all(fast, step.inside))
        case s.OpenMap(place):
            numbers.open_map(fast, place)
        case s.DecodeEntry(place):
            if not step.bounded:
                fast.state.unsigned.append(values.read(fast, place))
        case s.DecodeObject(place):
            objects.decode_object(fast, step)
            fast.require(b.ne(fast.object_at(place.position), b.null()))
        case s.DecodeText(place, binary):
            objects.decode_text(fast, place, binary)
        case s.CheckChoice(place, choice):
            objects.check_choice(fast, place, choice)
        case s.CheckPacked(place):
            tensors.check_packed(fast, place, step.expected)
        case s.AtLeast() | s.AtMost():
            values.check_bound(fast, step)
        case s.Divisible():
            values.check_divisible(fast, step)
        case s.EqualFloat(place, expected):
            fast.require(scalars.same_float(fast, fast.scalar(place.position), expected.value))
        case s.BindOrEqual():
            values.bind_or_equal(fast, step)
        case s.Solve():
            values.solve(fast, step)
        case s.EqualExpr():
            values.check_expression(fast, step)
        case s.CheckCondition():
            fast.require(values.holds(fast, step.condition))
        case _:
            assert_never(step)
