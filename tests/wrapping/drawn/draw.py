"""Draws a kernel, its signature, and a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from tests.wrapping.drawn.cases import DOORS, NUMBERS, RANGES, REST, Case, Draft, Param
from tests.wrapping.drawn.items import ITEMS, number, scalar
from tests.wrapping.drawn.steps import STEPS


def drawn(rng: Random, name: str) -> Case:
    """Return a case."""
    draft = Draft(rng, rng.choice(DOORS))
    for _ in range(rng.randint(1, 4)):
        rng.choice(ITEMS)(draft)
    if not draft.params:
        scalar(draft)
    types = [*NUMBERS]
    if not draft.results and draft.chance(0.4):
        draft.result = Param("", rng.choice(types))
        draft.results["r"] = f"{draft.result.dtype}"
        draft.returned = number(rng, draft.results["r"])
    elif draft.chance(0.4) and not draft.is_exact:
        ints = [own for own in types if (draft.door != "both") and "int" in NUMBERS[own]]
        draft.result = Param("", rng.choice([*ints, "int"]))
        low, high = RANGES[f"{draft.result.dtype}"]
        if not draft.results:
            draft.returned = rng.choice([0, 0, 0, low, high])
    if draft.results and draft.result.kind != "void" and "r" in [e for _, e in draft.params]:
        draft.result = Param("", "void", "void")
    step = ""
    if draft.chance(0.6):
        step = rng.choice(STEPS)(draft)
    return _finished(draft, name, step)


def _finished(draft: Draft, name: str, step: str) -> Case:
    rng = draft.rng
    args: tuple[object, ...] | dict[str, object] | None
    args = tuple(entry for _, entry in draft.params if entry != REST)
    params = [param for param, _ in draft.params]
    entries = [entry for _, entry in draft.params]
    known = {*draft.types, *draft.sizes, *draft.results}
    plain = [entry in known for entry in entries]
    has_names = draft.door not in ("ctypes", "direct") and REST not in entries
    if has_names and len({*map(str, entries)}) == len(entries) and draft.chance(0.6):
        names = {
            param.name: f"{entry}"
            for param, entry, own in zip(params, entries, plain, strict=True)
            if own and isinstance(entry, str)
        }
        args = {
            param.name: entry
            for param, entry in zip(params, entries, strict=True)
            if param.name not in names
        } or None
        params = [
            replace(
                param,
                name=names.get(param.name, param.name),
                row=tuple(_renamed(size, names) for size in param.row),
            )
            for param in params
        ]
    if draft.door in ("LLVM IR", "both", "direct"):
        for at, param in enumerate(params):
            if param.kind == "pointer" and draft.chance(0.3):
                params[at] = replace(param, align=rng.choice([1, 2, 4, 8]))
    return Case(
        name,
        draft.door,
        step,
        tuple(params),
        draft.result,
        draft.types,
        draft.results,
        args,
        draft.values,
        draft.sizes,
        draft.returned,
    )


def _renamed(size: str, names: Mapping[str, str]) -> str:
    own, *rest = size.split(" ")
    return " ".join([names.get(own, own), *rest])
