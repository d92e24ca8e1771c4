"""Kernels in C that are drawn, with a signature that fits or is one step wrong, and a call.

A kernel writes all that it gets to memory at a fixed address, and reads and writes the elements
that its types have: what it got is compared with what was passed.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final, TypeAlias

CHAR: Final = "uint8" if platform.machine() == "aarch64" else "int8"
NUMBERS: Final = {
    "char": CHAR,
    "signed char": "int8",
    "unsigned char": "uint8",
    "int8_t": "int8",
    "uint8_t": "uint8",
    "short": "int16",
    "unsigned short": "uint16",
    "int": "int32",
    "unsigned": "uint32",
    "uint32_t": "uint32",
    "enum small": "uint32",
    "enum negative": "int32",
    "enum large": "uint64",
    "long": "int64",
    "long long": "int64",
    "int64_t": "int64",
    "unsigned long": "uint64",
    "size_t": "uint64",
    "_Bool": "bool",
    "float": "float32",
    "double": "float64",
    "_Float16": "float16",
}
"""Types of C, and their dtypes."""
COMPLEX: Final = {"float _Complex": "complex64", "double _Complex": "complex128"}
ENUMS: Final = (
    "enum small { SMALL_A }; enum negative { NEGATIVE_A = -1 }; "
    "enum large { LARGE_A = 0x100000000LL };\n"
)
DTYPES: Final = (*dict.fromkeys((*NUMBERS.values(), *COMPLEX.values())), "bfloat16")
BYTES: Final = ("int8", "uint8")
RANGES: Final = {
    **{f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)},
    "bool": (0, 1),
}
DOORS: Final = ("prototype", "header", "LLVM IR", "both", "direct", "ctypes")
"""What says the types; ``both`` is LLVM IR with a prototype, ``direct`` LLVM IR with a provider."""


@dataclass(frozen=True)
class Param:
    """A parameter of a kernel, or its result."""

    name: str
    type: str
    """The number, or what it points to: ``float``, ``void``, ``DLTensor``."""
    kind: str = "number"
    """A ``number``, a ``pointer``, a ``list`` of pointers, ``void`` of a result."""
    is_const: bool = False
    is_restrict: bool = False
    first: int = 0
    row: tuple[str, ...] = ()
    """Sizes of rows as C has them."""
    align: int = 1
    """What LLVM IR says."""
    is_signless: bool = False

    @property
    def dtype(self) -> str | None:
        """The dtype of a number or an element."""
        return {**NUMBERS, **COMPLEX}.get(self.type)

    @property
    def c(self) -> str:
        """The declaration."""
        const = "const " * self.is_const
        match self.kind:
            case "number":
                return f"{self.type} {self.name}"
            case "list":
                return f"{const}{self.type} **{self.name}"
            case _ if self.first:
                rows = "".join(f"[{size}]" for size in self.row)
                restrict = "restrict " * self.is_restrict
                return f"{const}{self.type} {self.name}[{restrict}{self.first}]{rows}"
            case _:
                restrict = "restrict " * self.is_restrict
                rows = "".join(f"[{size}]" for size in self.row)
                name = f"*{restrict}{self.name}"
                return f"{const}{self.type} {f'({name})' if rows else name}{rows}"


@dataclass(frozen=True)
class Array:
    """A tensor that is passed."""

    dtype: str
    shape: tuple[int, ...]
    steps: tuple[int, ...] | None = None
    """Strides in elements, of arrays that are not contiguous."""
    writeable: bool = True
    shift: int = 0
    """Bytes by which the address is not aligned."""
    overlaps: str = ""
    """The tensor of which this one has the memory."""


@dataclass(frozen=True)
class Sizes:
    """A shape that is passed."""

    sizes: tuple[int, ...]


Value: TypeAlias = "Array | Sizes | tuple[Array, ...] | Mapping[str, object] | float | str | None"


@dataclass(frozen=True)
class Tensor:
    """A tensor of the signature."""

    dtype: str
    dims: tuple[str, ...] | None
    """None for any rank."""
    strides: str = ""
    intent: str = ""
    optional: bool = False

    def __str__(self) -> str:
        dims = "..." if self.dims is None else f"[{', '.join(self.dims)}]"
        strides = self.strides and f", strides={self.strides}"
        intent = self.intent and f", intent={self.intent}"
        text = f"Tensor({dims}, {self.dtype}{strides}{intent})"
        return f"Optional({text})" if self.optional else text


@dataclass(frozen=True)
class Case:
    """A kernel, how it is wrapped, and how it is called."""

    name: str
    door: str
    step: str
    """What is wrong, or nothing."""
    params: tuple[Param, ...]
    result: Param
    types: Mapping[str, Tensor | str]
    """The parameters of the signature."""
    results: Mapping[str, str]
    args: tuple[object, ...] | Mapping[str, object] | None
    values: Mapping[str, Value]
    sizes: Mapping[str, int]
    returned: float
    """What the kernel returns, or writes for a result."""

    @property
    def signature(self) -> str:
        """The signature as text."""
        params = ", ".join(f"{name}: {type_}" for name, type_ in self.types.items())
        results = ", ".join(f"{name}: {type_}" for name, type_ in self.results.items())
        results = f"({results})" if len(self.results) > 1 else results
        return f"{self.name}({params}){results and ' -> '}{results}"

    @property
    def prototype(self) -> str:
        """The declaration in C."""
        result = {"void": "void", "pointer": f"{self.result.type} *"}
        params = ", ".join(param.c for param in self.params) or "void"
        return f"{result.get(self.result.kind, self.result.type)} {self.name}({params})"


@dataclass
class Draft:
    """A case that is being drawn."""

    rng: Random
    door: str
    params: list[tuple[Param, object]] = field(default_factory=list[tuple[Param, object]])
    """Parameters of C, each with its entry of ``args=``; the second of a text has none."""
    types: dict[str, Tensor | str] = field(default_factory=dict[str, "Tensor | str"])
    results: dict[str, str] = field(default_factory=dict[str, str])
    values: dict[str, Value] = field(default_factory=dict[str, Any])
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    result: Param = Param("", "void", "void")
    returned: float = 0
    inner: tuple[int, ...] = ()

    def add(self, entry: object, type_: str, **how: Any) -> None:
        self.params.append((Param(f"p{len(self.params)}", type_, **how), entry))

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    @property
    def is_exact(self) -> bool:
        """Whether numbers have the kernel's types."""
        return self.door == "direct"


REST: Final = "the rest of an entry"


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
    dims = rng.choice([(n,), (n, m), (n, "4"), ("3", "3"), (n, m, "2"), (), ("5",), (n, f"{n} * 2")])
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
    draft.values[name] = tuple(
        Array(dtype, (size,)) for _ in range(draft.rng.randint(1, 3))
    )
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
    draft.add(name, draft.rng.choice(["char", "void", "signed char"]), kind="pointer", is_const=True)
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
    if sizes := [size for size in draft.sizes if size[0] != "s"]:
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
    args: Any = [entry for _, entry in draft.params if entry != REST]
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
        if isinstance(args, dict) and draft.door == "direct":
            args = [*entries]
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
        args if args is None or isinstance(args, dict) else tuple(args),
        draft.values,
        draft.sizes,
        draft.returned,
    )


def _renamed(size: str, names: Mapping[str, str]) -> str:
    own, *rest = size.split(" ")
    return " ".join([names.get(own, own), *rest])


# ---- steps


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
    names = [own for own, type_ in draft.types.items() if own[0] == "a"]
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


def described(case: Case) -> str:
    """Return a case as lines."""
    lines: Sequence[object] = (
        f"{case.door}: {case.step or 'right'}",
        case.signature,
        case.prototype,
        f"args={case.args!r}",
        f"values={dict(case.values)!r} sizes={dict(case.sizes)!r} returned={case.returned!r}",
    )
    return "\n  ".join(map(str, lines))
