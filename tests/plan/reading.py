"""Plans as short lines, for expectations that can be read."""

from __future__ import annotations

from dataclasses import fields
from typing import cast

from ffi_builder.plan import Plan, make_plan
from ffi_builder.plan.step import Step
from ffi_builder.spec import Param, Signature


def plan_of(text: str) -> Plan:
    """The plan of a signature, whose tensors are on the CPU."""
    return make_plan(Signature.parse(text, device="cpu"))


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
    """The steps of these parameters, without those of the argument count and array."""
    checks = make_plan(Signature("f", params)).checks
    return [line(step) for step in checks if step.place.position != (-1,)]
