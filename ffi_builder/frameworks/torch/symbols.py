"""Finds where the values of symbols are in the arguments of an operator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ffi_builder import spec
from ffi_builder.extending import Bind, BindOrEqual, Part, Place, Plan, Solve
from ffi_builder.frameworks.torch.interface import Argument, Interface

PREFIX: Final = "__i_"
"""Begins the names of generated code."""


def symbol_sources(plan: Plan, interface: Interface) -> Iterator[tuple[str, str]]:
    """Yield the symbols that every call binds, each with an expression for its value."""
    by_number = [argument for argument in interface.arguments if argument.given]
    solved: dict[Place, str] = {}
    seen: set[str] = set()
    for step in plan:
        if not isinstance(step, (Solve, Bind, BindOrEqual)):
            continue
        argument = by_number[step.place.argument]
        in_list = isinstance(argument.param, spec.TensorList) and step.place.part != Part.LENGTH
        if argument.optional or in_list:
            continue
        if isinstance(step, Solve):
            value = _place_text(argument, step.place)
            solved[step.solved] = f"({value} - {step.offset}) // {step.scale}"
            continue
        if step.symbol.name in seen:
            continue
        if step.place.part is Part.DEVICE_ID or (isinstance(step, BindOrEqual) and step.free):
            continue
        seen.add(step.symbol.name)
        yield step.symbol.name, solved.get(step.place) or _place_text(argument, step.place)
    for argument in by_number:
        if not isinstance(argument.param, spec.TensorList):
            continue
        tensor, each = argument.param.tensor, argument.param.each
        for axis, dim in enumerate(tensor.dims):
            if isinstance(dim, spec.Var) and dim not in each and dim.name not in seen:
                seen.add(dim.name)
                first = f"{PREFIX}first({argument.name}, {argument.name!r})"
                yield dim.name, f"{first}.shape[{axis}]"


def _place_text(argument: Argument, place: Place) -> str:
    match place.part:
        case Part.SHAPE:
            text = f"{argument.name}.shape[{place.index}]"
        case Part.STRIDES:
            text = f"{argument.name}.stride({place.index})"
        case Part.LENGTH:
            text = f"len({argument.name})"
        case Part.ENTRY:
            text = f"{argument.name}[{place.index}]"
        case _:
            text = argument.name
    return text if place.packing == 1 else f"{text} * {place.packing}"
