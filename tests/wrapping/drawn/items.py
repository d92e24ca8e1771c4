"""What is drawn: parameters of a signature, and what a kernel takes for them."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any, Final

from tests.wrapping.drawn.cases import (
    COMPLEX,
    DTYPES,
    NUMBERS,
    RANGES,
    REST,
    Array,
    Draft,
    Sizes,
    Tensor,
)


def of_dtype(rng: Random, dtype: str) -> str:
    """Return a type of C of a dtype."""
    if dtype == "bfloat16":
        return "unsigned short"
    return rng.choice([name for name, own in {**NUMBERS, **COMPLEX}.items() if own == dtype])


def number(rng: Random, dtype: str) -> float:
    """Return a number of a dtype, often the least or greatest."""
    if dtype.startswith(("float", "bfloat")):
        return rng.choice([0.0, -1.5, 0.25, 1024.0, float("inf")])
    low, high = RANGES[dtype]
    return rng.choice([low, high, max(low, -1), min(high, 5), high // 2 + 1])


def scalar(draft: Draft) -> None:
    type_ = draft.rng.choice([*NUMBERS])
    name, dtype = f"a{len(draft.types)}", NUMBERS[type_]
    draft.types[name] = dtype
    draft.values[name] = number(draft.rng, dtype)
    draft.add(name, type_)


def choice(draft: Draft) -> None:
    dtype = draft.rng.choice(["int8", "int32", "int64", "uint8", "uint64"])
    number_ = draft.rng.choice([0, 3, 100, *([] if dtype[0] == "u" else [-1])])
    name = f"c{len(draft.types)}"
    draft.types[name] = f"Choice({{'one': 1, 'two': {number_}}}, {dtype})"
    draft.values[name] = f"two={number_}"
    draft.add(name, of_dtype(draft.rng, dtype))


def tensor(draft: Draft, *, optional: bool = False) -> None:
    """Add a tensor, and perhaps its sizes and strides."""
    rng, at = draft.rng, len(draft.types)
    name, n, m = f"x{at}", f"n{at}", f"m{at}"
    dtype = rng.choice(DTYPES)
    sizes = {n: rng.randint(1, 4), m: rng.randint(1, 4)}
    dims = rng.choice(
        [(n,), (n, m), (n, "4"), ("3", "3"), (n, m, "2"), (), ("5",), (n, f"{n} * 2")]
    )
    shape = tuple(eval(dim, dict(sizes)) for dim in dims)
    used = [size for size in (n, m) if size in dims]
    strides, steps, extra, step = "", None, dict[str, int](), 0
    if len(dims) == 2 and draft.chance(0.25):
        kind = rng.choice(["rows", "F", "int"])
        if kind == "F":
            strides, steps = "F", (1, shape[0])
        else:
            step = shape[1] + rng.randint(0, 2) if kind == "rows" else 4
            step = -step if kind == "rows" and draft.chance(0.2) else step
            if kind == "int" and dims[1] in ("3", "4"):
                strides, steps = "[4, 1]", (4, 1)
            elif kind == "rows":
                strides, steps = f"[s{at}, 1]", (step, 1)
                extra = {f"s{at}": step} if shape[0] > 1 else {}
    is_const = draft.chance(0.4)
    intent = rng.choice(["", "in"] if is_const else ["", "out", "inout"])
    writeable = not is_const or intent != "in" or draft.chance(0.5)
    draft.types[name] = Tensor(dtype, dims, strides, intent, optional)
    draft.sizes.update({size: sizes[size] for size in used} | extra)
    is_given = not optional or draft.chance(0.6)
    draft.values[name] = Array(dtype, shape, steps, writeable) if is_given else None
    if not is_given:
        draft.sizes.update(dict.fromkeys([*used, *extra], 0))
    if not optional:
        for size in [*used, *extra]:
            if draft.chance(0.7) or f"[{size}]" in str(dims):
                types = ["int64_t", "long"] + ["size_t", "unsigned long"] * (step >= 0)
                if not draft.is_exact:
                    types += ["int", "short", "signed char"] + ["unsigned"] * (step >= 0)
                draft.add(size, rng.choice(types))
    passed = {entry: param.name for param, entry in draft.params}
    how: dict[str, Any] = {"kind": "pointer", "is_const": is_const}
    how["is_restrict"] = draft.chance(0.2)
    entry = name if draft.chance(0.7) else f"{name}.data"
    type_ = of_dtype(rng, dtype)
    if draft.chance(0.2):
        type_ = rng.choice(["void", "char", "unsigned char"])
    elif len(dims) > 1 and (strides in ("", "[4, 1]")) and not draft.is_exact and draft.chance(0.6):
        row = [passed.get(dim, dim) for dim in dims[1:]]
        row = ["4"] if strides else row
        row = [f"{passed[n]} * 2" if "*" in size and n in passed else size for size in row]
        if all(size.isdecimal() or size[0] == "p" for size in row):
            how["row"] = tuple(row)
            how["first"] = int(dims[0]) if dims[0].isdecimal() and not strides else 0
    draft.add(entry, type_, **how)
    if optional and draft.chance(0.5):
        draft.add(f"{name}.present", "_Bool")


def optional_tensor(draft: Draft) -> None:
    tensor(draft, optional=True)


def any_rank(draft: Draft) -> None:
    name, dtype = f"x{len(draft.types)}", draft.rng.choice(DTYPES)
    draft.types[name] = Tensor(dtype, None)
    draft.values[name] = Array(dtype, draft.rng.choice([(), (2,), (2, 3)]))
    entry = draft.rng.choice([name, f"{name}.data"])
    type_ = "DLTensor" if entry == name else of_dtype(draft.rng, dtype)
    draft.add(entry, type_, kind="pointer")
    if draft.chance(0.5):
        draft.add(f"{name}.ndim", "int")


def descriptor(draft: Draft) -> None:
    name, dtype = f"x{len(draft.types)}", draft.rng.choice(DTYPES)
    draft.types[name] = Tensor(dtype, ("3", "2"))
    draft.values[name] = Array(dtype, (3, 2))
    draft.add(f"{name}.dltensor", "DLTensor", kind="pointer", is_const=draft.chance(0.4))


def tensors(draft: Draft) -> None:
    at = len(draft.types)
    name, n, dtype = f"xs{at}", f"n{at}", draft.rng.choice(DTYPES)
    size, is_const = draft.rng.randint(1, 3), draft.chance(0.4)
    draft.types[name] = f"TensorList(Tensor([{n}], {dtype}))"
    draft.values[name] = tuple(Array(dtype, (size,)) for _ in range(draft.rng.randint(1, 3)))
    draft.sizes[n] = size
    type_ = of_dtype(draft.rng, dtype)
    if draft.chance(0.3):
        draft.add(name, type_, kind="list", is_const=is_const)
        for part in ("long", "int64_t"):
            draft.add(REST, part, kind="pointer", is_const=True)
        draft.add(REST, "int64_t")
        return
    draft.add(f"{name}.pointers", type_, kind="list", is_const=is_const)
    draft.add(f"{name}.shapes", "int64_t", kind="pointer", is_const=True)
    draft.add(f"{name}.length", draft.rng.choice(["int64_t", "long"]))


def text(draft: Draft) -> None:
    name = f"t{len(draft.types)}"
    draft.types[name] = draft.rng.choice(["String", "Bytes"])
    draft.values[name] = draft.rng.choice(["", "abc", "a long text that is no small string"])
    draft.add(
        name, draft.rng.choice(["char", "void", "signed char"]), kind="pointer", is_const=True
    )
    draft.add(REST, draft.rng.choice(["int64_t", "size_t", "long"]))


def null(draft: Draft) -> None:
    draft.add(None, draft.rng.choice(["void", "float", "int"]), kind="pointer")


def constant(draft: Draft) -> None:
    type_ = draft.rng.choice([name for name, dtype in NUMBERS.items() if dtype != "float16"])
    value: object = number(draft.rng, NUMBERS[type_])
    if NUMBERS[type_] == "uint64":
        value = draft.rng.choice([0, 7, 2**63 - 1])
    draft.add(bool(value) if type_ == "_Bool" and not draft.is_exact else value, type_)


def again(draft: Draft) -> None:
    """Pass the elements of a tensor a second time."""
    names = [own for own, type_ in draft.types.items() if isinstance(type_, Tensor) and type_.dims]
    places = [(p, e) for p, e in draft.params if f"{e}".removesuffix(".data") in names]
    if places:
        param, entry = draft.rng.choice(places)
        at = next(i for i, (own, _) in enumerate(draft.params) if own is param)
        draft.params[at] = replace(param, is_restrict=False), entry
        draft.params.append((replace(draft.params[at][0], name=f"p{len(draft.params)}"), entry))


def shape(draft: Draft) -> None:
    name, n, m = (f"{letter}{len(draft.types)}" for letter in "wnm")
    draft.types[name] = f"Shape([{n}, 3, {m}])"
    values = draft.rng.randint(0, 4), draft.rng.choice([0, 100])
    draft.sizes.update({n: values[0], m: values[1]})
    draft.values[name] = Sizes((values[0], 3, values[1]))
    if draft.chance(0.5):
        draft.add(name, draft.rng.choice(["long", "size_t"]))
        draft.add(REST, draft.rng.choice(["int64_t", "unsigned long"]))
        return
    draft.add(m, draft.rng.choice(["long", "size_t"]))


def optional_number(draft: Draft) -> None:
    type_ = draft.rng.choice([*NUMBERS])
    name, dtype = f"o{len(draft.types)}", NUMBERS[type_]
    draft.types[name] = f"Optional({dtype})"
    draft.values[name] = number(draft.rng, dtype)
    draft.add(name, type_)


def constant_bytes(draft: Draft) -> None:
    draft.add(b"abc", draft.rng.choice(["char", "void", "uint8_t"]), kind="pointer", is_const=True)


def expression(draft: Draft) -> None:
    # of an absent Optional, which has 0, no condition is checked
    if sizes := [size for size, value in draft.sizes.items() if size[0] != "s" and value]:
        entry = draft.rng.choice(["{} * 2", "{} + 7", "{} - 1", "3 * {}"])
        types = ["int", "long", "size_t", "unsigned"] if not draft.is_exact else ["long", "int"]
        draft.add(entry.format(draft.rng.choice(sizes)), draft.rng.choice(types))


def struct(draft: Draft) -> None:
    name = f"f{len(draft.types)}"
    types = [draft.rng.choice([*NUMBERS]) for _ in range(draft.rng.randint(1, 3))]
    fields = {f"v{len(draft.types)}{at}": NUMBERS[type_] for at, type_ in enumerate(types)}
    kind = draft.rng.choice(["Struct", "Tuple"])
    draft.types[name] = f"{kind}({', '.join(f'{own}: {dtype}' for own, dtype in fields.items())})"
    draft.values[name] = {own: number(draft.rng, dtype) for own, dtype in fields.items()}
    whole = draft.chance(0.5)
    for at, (own, type_) in enumerate(zip(fields, types, strict=True)):
        part = f"{name}.{own}" if kind == "Struct" else f"{name}[{at}]"
        draft.add(part if not whole else name if at == 0 else REST, type_)


def handle(draft: Draft) -> None:
    name = f"h{len(draft.types)}"
    draft.types[name] = "handle"
    draft.values[name] = draft.rng.choice([None, 4096])
    draft.add(name, "void", kind="pointer")


def result_by_pointer(draft: Draft) -> None:
    if draft.results:
        return
    type_ = draft.rng.choice([*NUMBERS])
    draft.results["r"] = NUMBERS[type_]
    draft.returned = number(draft.rng, NUMBERS[type_])
    draft.add("r", type_, kind="pointer")


ITEMS: Final = (
    *(scalar, scalar, choice, tensor, tensor, tensor, optional_tensor, any_rank, descriptor),
    *(tensors, text, null, constant, constant_bytes, expression, struct, handle),
    *(result_by_pointer, again, again, shape, optional_number),
)
