"""Plans as short lines, for expectations that can be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import cast

from ffi_builder.plan import make_plan
from ffi_builder.plan.step import Step
from ffi_builder.plan.steps import AnyCheck
from ffi_builder.spec import Param, Signature


def steps_of(*params: Param) -> tuple[AnyCheck, ...]:
    """The steps of a signature, without those of the argument count and array."""
    return make_plan(Signature("f", params)).checks[2 if params else 1 :]


def line(step: Step) -> str:
    """``EqualInt A.shape[0] 4``: the kind of step, its place, and what else it holds.

    Of flags that are set the name; what is not said or not set is left out, and so are the checks
    that a step stands for.
    """
    shown = [type(step).__name__, str(step.place)]
    for item in [item for item in fields(step) if item.name == "optional" or not item.kw_only][1:]:
        value = getattr(step, item.name)
        if isinstance(value, tuple):
            shown += map(str, cast("tuple[object, ...]", value))
        elif value is True:
            shown.append(item.name)
        elif value is not None and value is not False:
            shown.append(f"{value}")  # Python 3.10 shows enums of ints as ints only here
    return " ".join(shown)


def lines(*params: Param) -> list[str]:
    """All steps of these parameters."""
    return [line(step) for step in steps_of(*params)]


def lines_at(place: str, params: Sequence[Param]) -> list[str]:
    """The steps at one place, or at the symbol solved for there."""
    return [
        line(step)
        for step in steps_of(*params)
        if str(step.place) == place or str(step.place).endswith(f" in {place}")
    ]
