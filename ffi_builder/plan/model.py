"""A plan: the checks of a signature, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import cached_property

from ffi_builder import spec
from ffi_builder.plan.explain import plan_text
from ffi_builder.plan.step import all_checks
from ffi_builder.plan.steps import AnyCheck, AnyStep, CheckOverlap, DecodeOptional, EachElement
from ffi_builder.records import dataclass


@dataclass(frozen=True)
class Plan:
    """The checks of a signature, in the order of their errors, which iterating gives.

    Back ends read ``steps``, and then those that had to wait for a later argument, ``late``. A step
    stands for one check or several. ``symbols`` are in the order in which they are bound.
    ``occurrences`` counts the dimensions, strides and parameters that each symbol occurs in.
    ``str()`` gives one line per check. Plans of equal signatures are equal.

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
    late: tuple[AnyStep, ...]
    symbols: tuple[spec.Var, ...]
    occurrences: Mapping[spec.Var, int] = field(repr=False, compare=False)

    @cached_property
    def checks(self) -> tuple[AnyCheck, ...]:
        """The checks of all steps."""
        return (*all_checks(self.steps), *all_checks(self.late))

    @cached_property
    def every_step(self) -> tuple[AnyStep, ...]:
        """The steps, each followed by those inside of it; the late ones are last."""
        return (*_with_inside(self.steps), *self.late)

    @cached_property
    def overlaps(self) -> tuple[CheckOverlap, ...]:
        """The comparisons of memory, which are the last of ``late``."""
        return tuple(step for step in self.late if isinstance(step, CheckOverlap))

    @cached_property
    def waiting(self) -> tuple[AnyStep, ...]:
        """Those of ``late`` before :attr:`overlaps`."""
        return self.late[: len(self.late) - len(self.overlaps)]

    @cached_property
    def compares_lists(self) -> bool:
        """Whether memory of tensors in lists is compared."""
        places = (place for step in self.overlaps for place in (step.place, *dict(step.others)))
        return any(place.is_each for place in places)

    def __str__(self) -> str:
        return plan_text(self.signature, self.steps, self.late)

    def __iter__(self) -> Iterator[AnyCheck]:
        return iter(self.checks)

    def __len__(self) -> int:
        return len(self.checks)


def _with_inside(steps: Iterable[AnyStep]) -> Iterator[AnyStep]:
    for step in steps:
        yield step
        if isinstance(step, (DecodeOptional, EachElement)):
            yield from _with_inside(step.inside)
