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
from ffi_builder.plan.messages import OR_NONE, choices_text, float_text
from ffi_builder.plan.planner import Plan, make_plan
from ffi_builder.plan.results import result_rows
from ffi_builder.plan.steps import (
    AnyStep,
    AtLeast,
    AtMost,
    Bind,
    BindOrEqual,
    CheckAlignment,
    CheckChoice,
    CheckContiguous,
    CheckCount,
    CheckData,
    CheckDeviceType,
    CheckDims,
    CheckDType,
    CheckLength,
    CheckNdim,
    CheckPacked,
    CheckSameDevice,
    Decode,
    DecodeObject,
    DecodeOptional,
    Divisible,
    EqualExpr,
    EqualFloat,
    EqualInt,
    EqualSymbol,
    Fits,
    Solve,
)

LATE = "what had to wait for a later argument:"
RESULTS = "then, of what is returned:"
FREE = "Strides of size-1 dimensions and of tensors without elements are free: they need only fit."
ABSENT = "Nothing in an Optional that is None is checked; the next place of a symbol then binds it."
DEVICES = (
    "Of several tensors, the device is that of the first that is there and of this device type."
)
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
    results = list(result_rows(plan))
    at, expected = (_width([row[column] for row in [*rows, *results]]) for column in (0, 1))
    margin = len(str(len(plan) - 1))

    def line(index: str, row: tuple[str, str, str]) -> str:
        cells = f"  {index:>{margin}}  {row[0]:<{at}}  {row[1]:<{expected}}  {row[2]}"
        return cells.rstrip()

    lines = [spec.short_text(plan.signature)]
    for number, row in enumerate(rows, start=-1):
        if number == plan.late:
            lines.append(LATE)
        lines.append(line("" if number < 0 else str(number), row))
    if results:
        lines += [RESULTS, *(line("", row) for row in results)]
    return "\n".join([*lines, *_notes(plan)])


def _notes(plan: Plan) -> Iterator[str]:
    """What the rows do not say."""
    if any(getattr(step, "free", isinstance(step, CheckContiguous)) for step in plan):
        yield FREE
    if any(isinstance(step, DecodeOptional) for step in plan):
        yield ABSENT
    if any(isinstance(step, CheckSameDevice) and not step.certain for step in plan):
        yield DEVICES
    if plan.signature.results:
        yield f"Returns {spec.results_text(plan.signature.returns)}."


def _width(cells: list[str]) -> int:
    return max(len(cell) for cell in cells if len(cell) <= WIDEST)


def step_text(step: AnyStep) -> str:
    """One step by itself: ``B.shape[0]: expected 4, otherwise ValueError``."""
    at, expected, otherwise = _cells(step, {})
    return f"{at}: expected {expected}, otherwise {otherwise}" if otherwise else f"{at}: {expected}"


def _cells(step: AnyStep, origins: dict[str, str]) -> tuple[str, str, str]:
    match step:
        case DecodeOptional(place):
            return str(place), "may be None: it is then absent", ""
        case Bind(place, symbol):
            return str(place), f"binds {symbol}", ""
        case BindOrEqual(place, symbol) if symbol.name not in origins:
            return str(place), f"binds {symbol}, for now", ""
        case _:
            words = step.words
    known = dict(_known(step, origins))
    known["or_none"] = OR_NONE if isinstance(step, Decode) and step.optional else ""
    expected = re.sub(r"\{(\w+)\}", lambda found: known[found[1]], words.expected)
    every = isinstance(step, (CheckDims, CheckContiguous)) and step.place.index is None
    return f"{words.prefix}{step.place}{'[i]' if every else ''}", expected, words.kind


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
        case CheckContiguous(order=order):
            yield "expected", f"{{product of {'later' if order == 'C' else 'earlier'} dims}}"
        case CheckDType():
            yield from [("expected_dtype", step.text), ("text", step.text)]
        case DecodeObject():
            yield "text", step.text
        case CheckChoice(choice=choice):
            yield "text", choices_text(choice.choices)
        case CheckDeviceType(device_type=device):
            yield "expected_device", device
        case CheckSameDevice(others=others):
            yield "expected", " or ".join(f"{{{other}}}" for other in others)
            yield "text", " or ".join(other.path for other in others)
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
