"""Plans for people: one line a step, with what it expects and the error it may end in.

What ``explain`` gives begins like this::

    matmul(A: Tensor([n, k], float32), B: Tensor([k, m], float32), C: Tensor([n, m], float32))
          at                   expected               otherwise
       0  number of arguments  3                      TypeError
       1  argument array       a non-NULL pointer     ValueError
       2  type of A            Tensor                 TypeError
       …
       9  A.shape[0]           binds n
       …
      25  B.shape[0]           {k} (k = A.shape[1])   ValueError

Values that are known only in a call stand in braces: ``{k}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ffi_builder import spec
from ffi_builder.plan.make import Plan, make_plan
from ffi_builder.plan.steps import (
    AnyStep,
    AtLeast,
    AtMost,
    Bind,
    BindOrEqual,
    CheckAlignment,
    CheckContiguous,
    CheckCount,
    CheckData,
    CheckDeviceType,
    CheckDType,
    CheckLength,
    CheckNdim,
    CheckPacked,
    CheckSameDevice,
    Divisible,
    EqualExpr,
    EqualFloat,
    EqualInt,
    EqualSymbol,
    Fits,
    Solve,
)
from ffi_builder.plan.words import float_text

LATE = "what had to wait for a later argument:"
FREE = "Strides of size-1 dimensions and of tensors without elements are free: they need only fit."
WIDEST = 56
"""Longer cells stick out of their column rather than widen it."""


def explain(signature: spec.Signature) -> str:
    """The plan of a signature as text: what is checked, in which order, and what fails how."""
    return str(make_plan(signature))


def plan_text(plan: Plan) -> str:
    """A table with one line a step, under the signature."""
    origins: dict[str, str] = {}
    rows = [("at", "expected", "otherwise")]
    for step in plan:
        rows.append(_cells(step, origins))
        _note_origin(step, origins)
    at, expected = (_width([row[column] for row in rows]) for column in (0, 1))
    margin = len(str(len(plan) - 1))
    lines = [spec.short_text(plan.signature)]
    for number, row in enumerate(rows, start=-1):
        if number == plan.late:
            lines.append(LATE)
        index = "" if number < 0 else str(number)
        line = f"  {index:>{margin}}  {row[0]:<{at}}  {row[1]:<{expected}}  {row[2]}"
        lines.append(line.rstrip())
    if any(getattr(step, "free", isinstance(step, CheckContiguous)) for step in plan):
        lines.append(FREE)
    return "\n".join(lines)


def _width(cells: list[str]) -> int:
    return max(len(cell) for cell in cells if len(cell) <= WIDEST)


def step_text(step: AnyStep) -> str:
    """One step by itself: ``B.shape[0]: expected 4, otherwise ValueError``."""
    at, expected, otherwise = _cells(step, {})
    return f"{at}: expected {expected}, otherwise {otherwise}" if otherwise else f"{at}: {expected}"


def _cells(step: AnyStep, origins: dict[str, str]) -> tuple[str, str, str]:
    match step:
        case Bind(place, symbol):
            return str(place), f"binds {symbol}", ""
        case BindOrEqual(place, symbol) if symbol.name not in origins:
            return str(place), f"binds {symbol}, for now", ""
        case _:
            words = step.words
    known = dict(_known(step, origins))
    expected = re.sub(r"\{(\w+)\}", lambda found: known[found[1]], words.expected)
    return f"{words.prefix}{step.place}", expected, words.kind


def _note_origin(step: AnyStep, origins: dict[str, str]) -> None:
    """Where each symbol is bound; a stride may leave that to one of several places."""
    match step:
        case Bind(place, symbol):
            origins[symbol.name] = str(place)
        case BindOrEqual(place, symbol):
            before = origins.get(symbol.name)
            origins[symbol.name] = str(place) if before is None else f"{before} or {place}"
        case _:
            pass


def _known(step: AnyStep, origins: dict[str, str]) -> Iterator[tuple[str, str]]:
    """What each placeholder of the step's words stands for, as far as that is known."""
    match step:
        case CheckCount(expected=value) | CheckLength(expected=value) | CheckNdim(expected=value):
            yield "expected", str(value)
        case CheckAlignment(place, value):
            yield "expected", str(value)
            yield "path", place.path
        case EqualInt(expected=value):
            yield "expected", str(value)
        case EqualFloat(expected=constant):
            yield "expected", float_text(constant.value)
        case CheckPacked():
            yield "expected", str(step.limit)
        case CheckContiguous():
            yield "expected", "{product of later dims}"
        case CheckDType(dtype=dtype):
            yield "expected_dtype", str(dtype)
        case CheckDeviceType(device_type=device):
            yield "expected_device", device
        case CheckSameDevice(other=other):
            yield "expected", f"{{{other}}}"
            yield "text", other.path
        case CheckData(place):
            yield "path", place.path
        case Fits(dtype=dtype):
            yield "expected_dtype", dtype
            yield "range", "{} to {}".format(*spec.INT_RANGES[dtype])
        case AtLeast(symbol=var):
            yield from [("expected", str(var.min)), ("symbol", var.name)]
        case AtMost(symbol=var):
            yield from [("expected", str(var.max)), ("symbol", var.name)]
        case Divisible(symbol=var):
            yield from [("expected", str(var.divisibility)), ("symbol", var.name)]
        case EqualSymbol(symbol=var) | BindOrEqual(symbol=var):
            yield from [("expected", f"{{{var}}}"), ("symbol", var.name)]
            yield "origin", origins.get(var.name, "where it is bound")
        case Solve(symbol=var, expr=expr):
            yield from [("text", str(expr)), ("symbol", var.name)]
        case EqualExpr(expr=expr):
            yield from [("expected", f"{{{expr}}}"), ("text", str(expr))]
            yield "bindings", _bindings(expr, origins)
        case _:
            pass


def _bindings(expr: spec.Expr, origins: dict[str, str]) -> str:
    names = dict.fromkeys(var.name for var in spec.variables(expr))
    return ", ".join(
        f"{name} = {{{name}}} from {origins.get(name, 'where it is bound')}" for name in names
    )
