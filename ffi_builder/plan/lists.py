"""Plans the checks of a list of tensors: its length, then each element in turn."""

from __future__ import annotations

from collections.abc import Iterator

from ffi_builder import spec
from ffi_builder.plan import steps as s
from ffi_builder.plan.path import Part, Place
from ffi_builder.plan.tensors import plan_tensor
from ffi_builder.plan.values import PlannedList, ValuePlanner


def plan_list(
    planner: ValuePlanner, place: Place, param: spec.TensorList, *, optional: bool
) -> None:
    """Plan the list itself, then one element; the steps of that run for each.

    A symbol that all elements share is bound by the first one, if there is one. What it is bound
    to is certain for all that follows only if the list is never empty, and else in lists of the
    same length, as in an Optional.
    """
    length = place.at(Part.LENGTH)
    planner.add(s.DecodeList(place, optional=optional))
    planner.plan_value(length, param.length)
    before, known = set(planner.bound), planner.of_elements
    shared = set(param.symbols) - set(param.each)
    if param.length is not None:
        planner.bound |= planner.of_length.get(param.length, set())
    planner.provisional |= shared - planner.bound
    planner.bound |= known.keys() & set(param.each)
    bound = tuple((var, known[var]) for var in param.each if var in known)
    inside = planner.planned(lambda: _plan_elements(planner, place, param))
    planner.add(s.EachElement(place, param, bound, inside=inside))
    found = planner.bound & shared
    if param.never_empty:
        planner.bound = before | found
        return
    planner.bound = before
    if param.length is not None and not planner.in_optional:
        planner.of_length.setdefault(param.length, set()).update(found)


def _plan_elements(planner: ValuePlanner, place: Place, param: spec.TensorList) -> None:
    """Plan one element. Of the list, other tensors are compared with the first."""
    tensors = planner.tensors
    first = place.first.at(Part.DEVICE_ID)
    planner.tensors = [*_known_here(planner, param), (first, param.tensor, False)]
    plan_tensor(planner, place.each, param.tensor, optional=False)
    for step in planner.steps:
        if isinstance(step, s.Bind) and step.symbol in param.each:
            planner.of_elements[step.symbol] = step.place
    given = param.never_empty and not planner.in_optional
    planner.tensors = [*tensors, (first, param.tensor, given)]
    planner.first_elements[first] = PlannedList(place, param, planner.in_optional)


def _known_here(
    planner: ValuePlanner, param: spec.TensorList
) -> Iterator[tuple[Place, spec.Tensor, bool]]:
    """Yield the tensors so far. In this list, others of its length have elements for certain."""
    for place, tensor, given in planner.tensors:
        other = planner.first_elements.get(place)
        if other is not None and not other.in_optional and param.length is not None:
            given = given or other.param.length == param.length
        yield place, tensor, given
