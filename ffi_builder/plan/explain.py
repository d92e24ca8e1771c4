"""Plans as text: one line per check, with the expected value and the error it may raise.

The text begins like this::

    matmul(A: Tensor([n, k], float32), B: Tensor([k, m], float32), C: Tensor([n, m], float32))
          at                   expected               otherwise
       0  number of arguments  3                      TypeError
       1  argument array       a non-NULL pointer     ValueError
       2  type of A            Tensor                 TypeError
       …
       9  A.shape[0]           binds n
       …
      25  B.shape[0]           {k} (k = A.shape[1])   ValueError

Values that are known only during a call stand in braces: ``{k}``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ffi_builder import spec
from ffi_builder.plan import steps as s
from ffi_builder.plan.results import result_rows
from ffi_builder.plan.sanitize import Watched
from ffi_builder.plan.step import all_checks

LATE = "what had to wait for a later argument:"
RESULTS = "then, of what is returned:"
WORKSPACES = "then, of workspaces, which callers do not pass:"
AROUND = "then, around the call of the kernel (sanitize):"
FREE = "Strides of size-1 dimensions and of tensors without elements are free: they need only fit."
ABSENT = "Nothing in an Optional that is None is checked; the next place of a symbol then binds it."
DEVICES = (
    "Of several tensors, the device is that of the first that is there and of this device type."
)
WIDEST = 56
"""Columns are at most this wide; longer cells stick out."""


def plan_text(
    signature: spec.Signature,
    steps: Sequence[s.AnyStep],
    late: Sequence[s.AnyStep],
    sanitized: Sequence[Watched] = (),
) -> str:
    """Lay out the signature, then a table with one line per check.

    It ends with what is done to the ``sanitized`` tensors around the call.
    """
    origins: dict[str, str] = {}
    rows = [("at", "expected", "otherwise")]
    prompt = list(all_checks(steps))
    checks = [*prompt, *all_checks(late)]
    for step in checks:
        rows.append(step.row(origins))
        _note_origin(step, origins)
    after = {
        RESULTS: list(result_rows(signature.results, checks)),
        WORKSPACES: list(result_rows(signature.workspaces, checks)),
        AROUND: [row for tensor in sanitized for row in tensor.rows()],
    }
    every = [*rows, *(row for found in after.values() for row in found)]
    at, expected = (_width([row[column] for row in every]) for column in (0, 1))
    margin = len(str(len(checks) - 1))

    def line(index: str, row: tuple[str, str, str]) -> str:
        cells = f"  {index:>{margin}}  {row[0]:<{at}}  {row[1]:<{expected}}  {row[2]}"
        return cells.rstrip()

    lines = [spec.short_text(signature)]
    for number, row in enumerate(rows, start=-1):
        if late and number == len(prompt):
            lines.append(LATE)
        lines.append(line("" if number < 0 else str(number), row))
    for heading, found in after.items():
        if found:
            lines += [heading, *(line("", row) for row in found)]
    return "\n".join([*lines, *_notes(signature, checks)])


def _notes(signature: spec.Signature, checks: Sequence[s.AnyCheck]) -> Iterator[str]:
    """Remarks below the table."""
    if any(_may_be_free(step) for step in checks):
        yield FREE
    if any(isinstance(step, s.DecodeOptional) for step in checks):
        yield ABSENT
    if any(isinstance(step, s.CheckSameDevice) and not step.certain for step in checks):
        yield DEVICES
    for workspace in signature.workspaces:
        yield f"Allocates {workspace.name}: {workspace.type_text()}."
    if signature.results:
        yield f"Returns {spec.results_text(signature.returns)}."


def _may_be_free(step: s.AnyCheck) -> bool:
    match step:
        case s.CheckContiguous():
            return True
        case (s.AtLeast() | s.AtMost() | s.Divisible() | s.EqualInt()) | (
            s.EqualSymbol() | s.BindOrEqual() | s.Solve() | s.EqualExpr()
        ):
            return step.free
        case _:
            return False


def _width(cells: list[str]) -> int:
    return max(len(cell) for cell in cells if len(cell) <= WIDEST)


def _note_origin(step: s.AnyCheck, origins: dict[str, str]) -> None:
    """Note where a symbol is bound; if strides may be free, that can be one of several places."""
    match step:
        case s.Bind(place, symbol):
            origins[symbol.name] = str(place)
        case s.BindOrEqual(place, symbol):
            before = origins.get(symbol.name)
            origins[symbol.name] = str(place) if before is None else f"{before} or {place}"
        case _:
            pass
