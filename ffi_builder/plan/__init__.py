"""How a signature is checked: an ordered, printable list of steps. Pure data."""

from ffi_builder.plan.explain import explain
from ffi_builder.plan.messages import Words
from ffi_builder.plan.path import Part, Place
from ffi_builder.plan.planner import Plan, check_signature, make_plan

__all__ = ["Part", "Place", "Plan", "Words", "check_signature", "explain", "make_plan"]
