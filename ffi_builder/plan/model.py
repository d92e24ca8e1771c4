"""A plan: the checks of a signature, in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property

from ffi_builder import spec
from ffi_builder.plan.explain import plan_text
from ffi_builder.plan.fuse import FusedPlan, fuse
from ffi_builder.plan.steps import AnyStep, Bind, BindOrEqual
from ffi_builder.records import dataclass


@dataclass(frozen=True)
class Plan:
    """The checks of a signature, as an ordered list of steps.

    ``late`` is the index of the first step that had to wait for a later argument. ``occurrences``
    counts the dimensions, strides and parameters that each symbol occurs in. ``str()`` gives one
    line per step. Plans of equal signatures are equal.

    Examples:
        >>> from ffi_builder import make_plan, spec
        >>> n = spec.Var("n", "int32", divisibility=4)
        >>> plan = make_plan(spec.Signature("scale", [n]))
        >>> [type(step).__name__ for step in plan]
        ['CheckCount', 'CheckArguments', 'DecodeScalar', 'Fits', 'Divisible', 'Bind']
        >>> plan.occurrences[n]
        1
    """

    signature: spec.Signature
    steps: tuple[AnyStep, ...]
    late: int
    occurrences: Mapping[spec.Var, int] = field(repr=False, compare=False)

    @cached_property
    def symbols(self) -> tuple[spec.Var, ...]:
        """The symbols, in the order in which they are bound."""
        bound = (step.symbol for step in self.steps if isinstance(step, (Bind, BindOrEqual)))
        return tuple(dict.fromkeys(bound))

    @cached_property
    def fused(self) -> FusedPlan:
        """The form that back ends read; see :mod:`ffi_builder.plan.fuse`."""
        return FusedPlan(fuse(self.steps[: self.late]), fuse(self.steps[self.late :]))

    def __str__(self) -> str:
        return plan_text(self.signature, self.steps, self.late)

    def __iter__(self) -> Iterator[AnyStep]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)
