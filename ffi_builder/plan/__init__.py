"""Plans: the checks of a signature as an ordered, printable list of steps. Pure data."""

from ffi_builder.plan.messages import Words
from ffi_builder.plan.model import Plan
from ffi_builder.plan.path import Part, Place
from ffi_builder.plan.planner import check_signature, explain, make_plan

__all__ = ["Part", "Place", "Plan", "Words", "check_signature", "explain", "make_plan"]
