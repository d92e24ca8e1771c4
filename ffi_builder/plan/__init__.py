"""How a signature is checked: an ordered, printable list of steps. Pure data."""

from ffi_builder.plan.explain import explain
from ffi_builder.plan.make import Plan, check_signature, make_plan
from ffi_builder.plan.place import Part, Place
from ffi_builder.plan.words import Words

__all__ = ["Part", "Place", "Plan", "Words", "check_signature", "explain", "make_plan"]
