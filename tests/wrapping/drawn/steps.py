"""Steps that make a kernel, its signature or its call differ from each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from tests.wrapping.drawn.cases import COMPLEX, DTYPES, NUMBERS, REST, Array, Draft, Param, Tensor
from tests.wrapping.drawn.items import number


def _at(draft: Draft, *kinds: str) -> int | None:
    places = [at for at, (param, _) in enumerate(draft.params) if param.kind in kinds]
    return draft.rng.choice(places) if places else None


def _changed(draft: Draft, at: int, **how: Any) -> str:
    param, entry = draft.params[at]
    after = replace(param, **how)
    is_int = after.kind == "number" and "int" in f"{after.dtype}"
    if not is_int and any(param.name in size for own, _ in draft.params for size in own.row):
        return ""
    draft.params[at] = after, entry
    return f"{param.c} is {draft.params[at][0].c}"


def other_number(draft: Draft) -> str:
    at = _at(draft, "number")
    return "" if at is None else _changed(draft, at, type=draft.rng.choice([*NUMBERS]))


def other_elements(draft: Draft) -> str:
    at = _at(draft, "pointer", "list")
    types = [*NUMBERS, *COMPLEX, "void", "DLTensor", "char"]
    if at is None:
        return ""
    type_, row = draft.rng.choice(types), draft.params[at][0].row
    return _changed(draft, at, type=type_, row=row if type_ not in ("void", "DLTensor") else ())


def other_kind(draft: Draft) -> str:
    at = _at(draft, "pointer", "list", "number")
    kind, type_ = draft.rng.choice(["pointer", "list", "number"]), draft.rng.choice([*NUMBERS])
    return "" if at is None else _changed(draft, at, kind=kind, type=type_, row=(), first=0)


def other_const(draft: Draft) -> str:
    at = _at(draft, "pointer", "list")
    return "" if at is None else _changed(draft, at, is_const=not draft.params[at][0].is_const)


def other_rows(draft: Draft) -> str:
    at = _at(draft, "pointer")
    if at is None or draft.params[at][0].type in ("void", "DLTensor"):
        return ""
    sizes = ["2", "3", "4", "5"]
    sizes += [p.name for p, _ in draft.params[:at] if p.kind == "number" and "int" in f"{p.dtype}"]
    row = [draft.rng.choice(sizes) for _ in range(draft.rng.randint(0, 2))]
    return _changed(draft, at, row=tuple(row), first=draft.rng.choice([0, 0, 2, 3, 4]))


def fewer(draft: Draft) -> str:
    at = draft.rng.randrange(len(draft.params))
    users = [p for p, _ in draft.params if any(draft.params[at][0].name in s for s in p.row)]
    if users:
        return ""
    (param, entry) = draft.params.pop(at)
    if draft.chance(0.5):
        return f"without {param.c} and {entry}"
    draft.params.insert(at, (param, entry))
    return _dropped_entry(draft)


def _dropped_entry(draft: Draft) -> str:
    at = draft.rng.randrange(len(draft.params))
    param, entry = draft.params[at]
    draft.params[at] = (param, REST)
    return f"without the entry {entry}"


def more(draft: Draft) -> str:
    at = draft.rng.randrange(len(draft.params) + 1)
    draft.params.insert(at, (Param("more", draft.rng.choice([*NUMBERS])), REST))
    return "one parameter more"


def other_restrict(draft: Draft) -> str:
    at = _at(draft, "pointer")
    how = {} if at is None else {"is_restrict": not draft.params[at][0].is_restrict}
    return "" if at is None else _changed(draft, at, **how)


def as_text(draft: Draft) -> str:
    """Write a constant as text."""
    places = [at for at, (param, _) in enumerate(draft.params) if param.kind == "number"]
    if not places:
        return ""
    at = draft.rng.choice(places)
    draft.params[at] = draft.params[at][0], draft.rng.choice(["200", "-1", "3", "40000"])
    return f"a constant as text for {draft.params[at][0].c}"


def swapped(draft: Draft) -> str:
    """Swap entries, and not the parameters."""
    one, two = (draft.rng.randrange(len(draft.params)) for _ in range(2))
    (a, entry), (b, other) = draft.params[one], draft.params[two]
    if one == two or entry == other:
        return ""
    draft.params[one], draft.params[two] = (a, other), (b, entry)
    return f"{entry} and {other} swapped"


def other_result(draft: Draft) -> str:
    kinds = ["number", "number", "void", "pointer"]
    draft.result = Param("", draft.rng.choice([*NUMBERS]), draft.rng.choice(kinds))
    return f"returns {draft.result.type} {draft.result.kind}"


def _tensor(draft: Draft) -> str | None:
    names = [own for own, type_ in draft.types.items() if isinstance(type_, Tensor)]
    return draft.rng.choice(names) if names else None


def other_tensor(draft: Draft) -> str:
    """Change a tensor of the signature, and what is passed for it."""
    name = _tensor(draft)
    if name is None:
        return ""
    before, value = draft.types[name], draft.values[name]
    assert isinstance(before, Tensor)
    dims, dtype, intent, strides = before.dims, before.dtype, before.intent, before.strides
    match draft.rng.choice(["dtype", "several", "intent", "rank", "swap", "size", "strides"]):
        case "dtype":
            dtype = draft.rng.choice([*DTYPES, "int4x2", "float32x2", "float8_e4m3fn"])
        case "several":
            dtype = f"{dtype} | {draft.rng.choice([d for d in DTYPES if d != dtype])}"
        case "intent":
            intent = draft.rng.choice(["", "in", "out", "inout"])
        case "rank" if dims:
            dims, strides = dims[1:] if draft.chance(0.5) else ("2", *dims), ""
        case "swap" if dims:
            dims = tuple(reversed(dims))
        case "size" if dims:
            dims = (*dims[:-1], draft.rng.choice(["2", "3", "5", "6"]))
        case "strides" if dims is not None and len(dims) == 2:
            strides = draft.rng.choice(["F", "any", "[1, 6]", "[6, 1]", "[q, r]", ""])
        case _:
            return ""
    after = Tensor(dtype, dims, strides, intent, before.optional)
    draft.types[name] = after
    if isinstance(value, Array):
        one = dtype.split(" | ")[-1]
        shape = value.shape
        if dims is not None:
            sizes = draft.sizes
            shape = tuple(int(eval(dim, dict(sizes))) if _has(dim, sizes) else 2 for dim in dims)
        steps = value.steps
        if strides != before.strides or dims != before.dims:
            many = {"F": (1, *shape[:1]), "any": (7, 1), "[1, 6]": (1, 6), "[6, 1]": (6, 1)}
            steps = {**many, "[q, r]": (13, 2)}.get(strides)
            if strides == "[q, r]" and len(shape) == 2:
                draft.sizes.update({} if shape[0] < 2 or shape[1] < 2 else {"q": 13, "r": 2})
        if strides[:2] == "[s" and strides == before.strides and shape != value.shape:
            if len(shape) != 2 or shape[0] < 2:
                draft.types[name] = before
                return ""
            steps = shape[1] + 1, 1
            draft.sizes[strides[1:].partition(",")[0]] = steps[0]
        steps = steps if steps and len(steps) == len(shape) else None
        draft.values[name] = Array(one, shape, steps, value.writeable)
    return f"{name} is {after} and not {before}"


def _has(dim: str, sizes: Mapping[str, int]) -> bool:
    return all(word.isdecimal() or word == "*" or word in sizes for word in dim.split())


def unaligned(draft: Draft) -> str:
    name = _tensor(draft)
    value = draft.values.get(name or "")
    if name is None or not isinstance(value, Array) or value.steps:
        return ""
    draft.values[name] = replace(value, shift=1)
    return f"{name} is not aligned"


def overlapping(draft: Draft) -> str:
    arrays = {n: v for n, v in draft.values.items() if isinstance(v, Array)}
    if len(arrays) < 2:
        return ""
    one, two = draft.rng.sample([*arrays], 2)
    draft.values[one] = replace(arrays[one], overlaps=two)
    return f"{one} has the memory of {two}"


def read_only(draft: Draft) -> str:
    name = _tensor(draft)
    value = draft.values.get(name or "")
    if name is None or not isinstance(value, Array):
        return ""
    draft.values[name] = replace(value, writeable=False)
    return f"{name} is read-only"


def other_constant(draft: Draft) -> str:
    places = [at for at, (_, e) in enumerate(draft.params) if isinstance(e, (bool, int, float))]
    at = draft.rng.choice(places) if places else _at(draft, "number", "pointer")
    if at is None:
        return ""
    entry = draft.rng.choice([-1, 200, 2**31, 2**63, 1.5, 3, True, None, b"abc"])
    draft.params[at] = draft.params[at][0], entry
    return f"the constant {entry!r}"


def other_scalar(draft: Draft) -> str:
    names = [own for own in draft.types if own[0] == "a"]
    if not names:
        return ""
    name = draft.rng.choice(names)
    dtype = draft.rng.choice([*dict.fromkeys(NUMBERS.values())])
    before, draft.types[name] = draft.types[name], dtype
    draft.values[name] = number(draft.rng, dtype)
    return f"{name} is {dtype} and not {before}"


STEPS: Final = (
    *(other_number, other_elements, other_kind, other_const, other_rows, fewer, more, swapped),
    *(other_result, other_tensor, other_tensor, other_tensor, unaligned, overlapping, read_only),
    *(other_constant, other_scalar, other_scalar, other_restrict, as_text),
)
