"""A plan: the checks of a signature, in order, and its text.

The text has one line per check, with the expected value and the error that it may raise::

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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property

from ffi_builder import spec
from ffi_builder.plan import steps as s
from ffi_builder.plan.results import result_rows
from ffi_builder.plan.step import all_checks
from ffi_builder.records import dataclass
from ffi_builder.spec import outline
from ffi_builder.spec.canonical import results_text


@dataclass(frozen=True)
class Plan:
    """The checks of a signature, in the order of their errors. Iterating yields the checks.

    Back ends read ``steps``, then ``late``: the steps that had to wait for a later argument. A step
    stands for one check or several. ``symbols`` are in the order in which they are bound.
    ``occurrences`` counts the dimensions, strides and parameters that each symbol occurs in.
    ``str()`` gives one line per check. Plans of equal signatures are equal.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.plan import make_plan
        >>> n = spec.Var("n", "int32", divisibility=4)
        >>> plan = make_plan(spec.Signature("scale", [n]))
        >>> [type(step).__name__ for step in plan]
        ['CheckCount', 'CheckArguments', 'DecodeScalar', 'Fits', 'Divisible', 'Bind']
        >>> plan.occurrences[n]
        1
    """

    signature: spec.Signature
    steps: tuple[s.AnyStep, ...]
    late: tuple[s.AnyStep, ...]
    symbols: tuple[spec.Var, ...]
    occurrences: Mapping[spec.Var, int] = field(repr=False, compare=False)

    @cached_property
    def checks(self) -> tuple[s.AnyCheck, ...]:
        """The checks of all steps."""
        return (*all_checks(self.steps), *all_checks(self.late))

    @cached_property
    def every_step(self) -> tuple[s.AnyStep, ...]:
        """The steps, each followed by the steps inside of it; late steps come last."""
        return (*_with_inside(self.steps), *self.late)

    @cached_property
    def overlaps(self) -> tuple[s.CheckOverlap, ...]:
        """The comparisons of memory, which are the last of ``late``."""
        return tuple(step for step in self.late if isinstance(step, s.CheckOverlap))

    @cached_property
    def waiting(self) -> tuple[s.AnyStep, ...]:
        """The steps of ``late`` before :attr:`overlaps`."""
        return self.late[: len(self.late) - len(self.overlaps)]

    @cached_property
    def compares_lists(self) -> bool:
        """Whether a comparison of memory involves a list of tensors."""
        places = (place for step in self.overlaps for place in (step.place, *dict(step.others)))
        return any(place.is_each for place in places)

    def __str__(self) -> str:
        return plan_text(self.signature, self.steps, self.late)

    def __iter__(self) -> Iterator[s.AnyCheck]:
        return iter(self.checks)

    def __len__(self) -> int:
        return len(self.checks)


def _with_inside(steps: Iterable[s.AnyStep]) -> Iterator[s.AnyStep]:
    for step in steps:
        yield step
        if isinstance(step, (s.DecodeOptional, s.EachElement, s.Alternative)):
            yield from _with_inside(step.inside)
        if isinstance(step, s.DecodeVariant):
            yield from _with_inside(step.alternatives)


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
    around: Sequence[tuple[str, str, str]] = (),
) -> str:
    """Lay out the signature, then a table with one line per check.

    The last rows, ``around``, are of what happens around the call of the kernel.
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
        AROUND: list(around),
    }
    every = [*rows, *(row for section in after.values() for row in section)]
    widths = [[len(row[column]) for row in every] for column in (0, 1)]
    at, expected = (max(width for width in each if width <= WIDEST) for each in widths)
    margin = len(str(len(checks) - 1))

    def line(index: str, row: tuple[str, str, str]) -> str:
        return f"  {index:>{margin}}  {row[0]:<{at}}  {row[1]:<{expected}}  {row[2]}".rstrip()

    lines = [outline(signature)]
    for number, row in enumerate(rows, start=-1):
        if late and number == len(prompt):
            lines.append(LATE)
        lines.append(line("" if number < 0 else str(number), row))
    for heading, section in after.items():
        if section:
            lines += [heading, *(line("", row) for row in section)]
    return "\n".join([*lines, *_notes(signature, checks)])


def _notes(signature: spec.Signature, checks: Sequence[s.AnyCheck]) -> Iterator[str]:
    """Remarks below the table."""
    if any(isinstance(step, s.CheckContiguous) or getattr(step, "free", False) for step in checks):
        yield FREE
    if any(isinstance(step, s.DecodeOptional) for step in checks):
        yield ABSENT
    if any(isinstance(step, s.CheckSameDevice) and not step.certain for step in checks):
        yield DEVICES
    for workspace in signature.workspaces:
        yield f"Allocates {workspace.name}: {workspace.type_text()}."
    if signature.results:
        yield f"Returns {results_text(signature.returns)}."


def _note_origin(step: s.AnyCheck, origins: dict[str, str]) -> None:
    """Note where a symbol is bound; with free strides, one of several places may bind it."""
    match step:
        case s.Bind(place, symbol):
            origins[symbol.name] = str(place)
        case s.BindOrEqual(place, symbol):
            before = origins.get(symbol.name)
            origins[symbol.name] = str(place) if before is None else f"{before} or {place}"
        case _:
            pass
