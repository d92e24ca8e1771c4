"""Random specs: every kind of parameter, every field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ffi_builder import SpecError, spec
from ffi_builder.spec.composite import DEEPEST
from ffi_builder.spec.dtypes import NAMES
from ffi_builder.spec.expr import Expr, Relation
from ffi_builder.spec.functions import variables
from ffi_builder.spec.lists import ELEMENTS
from ffi_builder.spec.numbers import INT_RANGES, MIRRORED, VAR_DTYPES
from ffi_builder.spec.overlap import can_overlap, is_comparable, tensors_of
from ffi_builder.spec.places import device_tensors, occurrences
from ffi_builder.spec.results import Result
from ffi_builder.spec.tensors.devices import DEVICES
from ffi_builder.spec.tensors.entries import MOST_ELEMENTS
from ffi_builder.spec.tensors.tensor import INTENTS, MOST_DIMENSIONS

INT64 = st.integers(-(2**63), 2**63 - 1)
ODD = (
    *(
        "None",
        "True",
        "nan",
        "inf",
        "where",
        "ceildiv",
        "max",
        "in",
        "any",
        "strides",
        "Tensor",
        "Shape",
        "Tuple",
        "no_overlap",
    ),
    *("Struct", "Optional", "Choice", "Literal", "int32", "float32", "F", "_", "__", "x" * 300),
)
"""Names that mean something elsewhere in a text."""
names = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]{0,4}", fullmatch=True) | st.sampled_from(ODD)
docs = st.sampled_from(["", "the rows", 'it\'s "quoted"\n'])
defaults = st.sampled_from([spec.MISSING, None, 0, 1.5, "x", (1, 2), [3]])


@st.composite
def metadata(draw: st.DrawFn) -> dict[str, Any]:
    """Keywords that every parameter takes."""
    return {"default": draw(defaults), "kw_only": draw(st.booleans()), "doc": draw(docs)}


@st.composite
def int_vars(draw: st.DrawFn) -> spec.Var:
    """Integer symbols; one name has one dtype, so that they can stand together."""
    symbols = (*"abcdefgh", *ODD)
    name = draw(st.sampled_from(symbols))
    dtypes = list(INT_RANGES)
    return spec.Var(name, dtypes[symbols.index(name) % len(dtypes)])


@st.composite
def any_vars(draw: st.DrawFn) -> spec.Var:
    """Symbols of every dtype, with every field."""
    dtype = draw(st.sampled_from(VAR_DTYPES))
    kwargs = draw(metadata())
    if dtype in INT_RANGES:
        low, high = INT_RANGES[dtype]
        bounds = sorted(draw(st.tuples(st.integers(low, high), st.integers(low, high))))
        kwargs |= draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "min": st.just(bounds[0]),
                    "max": st.just(bounds[1]),
                    "divisibility": st.integers(1, 2**63 - 1),
                },
            )
        )
        top, bottom = kwargs.get("max", high), kwargs.get("min", low)
        if (
            "divisibility" in kwargs
            and top // kwargs["divisibility"] * kwargs["divisibility"] < bottom
        ):
            del kwargs["divisibility"]  # no value would do
    return spec.Var(draw(names), dtype, **kwargs)


def _grow(dims: SearchStrategy[spec.Dim]) -> SearchStrategy[spec.Dim]:
    symbolic = dims.filter(lambda dim: not isinstance(dim, int))
    sides = st.one_of(st.tuples(symbolic, dims), st.tuples(dims, symbolic))
    infix = st.tuples(st.sampled_from(["+", "-", "*"]), sides).map(
        lambda made: Expr(made[0], *made[1])
    )
    divided = st.builds(
        Expr, st.sampled_from(["//", "%", "ceildiv"]), symbolic, st.integers(1, 2**63 - 1)
    )
    picked = st.tuples(st.sampled_from(["max", "min"]), sides).map(
        lambda made: Expr(made[0], *made[1])
    )
    return st.one_of(infix, divided, picked)


DIMS: SearchStrategy[spec.Dim] = st.recursive(
    st.one_of(int_vars(), st.integers(-9, 9), INT64), _grow, max_leaves=6
)


def exprs() -> SearchStrategy[Expr]:
    """Expressions over integer symbols."""
    return DIMS.filter(lambda dim: isinstance(dim, Expr)).map(_as_expr)


def _as_expr(dim: spec.Dim) -> Expr:
    assert isinstance(dim, Expr)
    return dim


def dimensions() -> SearchStrategy[spec.Dim]:
    """Entries of shapes."""
    return st.one_of(int_vars(), st.integers(0, 2**63 - 1), exprs())


LAYOUTS = st.sampled_from([None, "C", "F", "any"])
DTYPES = st.builds(str.__add__, st.sampled_from(NAMES), st.sampled_from(["", "x2"]))


@st.composite
def tensors(draw: st.DrawFn) -> spec.Tensor:
    """Tensors with every field; packed ones too, and of any rank."""
    kwargs = draw(metadata())
    kwargs |= draw(
        st.fixed_dictionaries(
            {"device_type": st.sampled_from(DEVICES)},
            optional={
                "device_id": st.one_of(st.none(), st.integers(0, 2**31 - 1), int_vars()),
                "data_alignment": st.sampled_from([None, 1, 16, 2**62]),
                "intent": st.sampled_from([None, *INTENTS]),
            },
        )
    )
    name, dtypes = draw(names), draw(st.lists(DTYPES, min_size=1, max_size=3, unique=True))
    if draw(st.integers(0, 4)) == 0:
        return spec.Tensor(name, ..., dtypes, strides=draw(LAYOUTS), **kwargs)
    shape = draw(st.lists(st.one_of(st.none(), dimensions()), max_size=4))
    entries = st.lists(st.one_of(st.none(), DIMS), min_size=len(shape), max_size=len(shape))
    strides: str | Sequence[spec.Dim | None] | None = draw(st.one_of(LAYOUTS, entries))
    if shape and strides in (None, "F") and draw(st.booleans()):
        dtypes, kwargs["storage_dtype"] = ["float4_e2m1fn"], "float4_e2m1fnx2"
        shape[0 if strides == "F" else -1] = 6
    return spec.Tensor(name, shape, dtypes, strides=strides, **kwargs)


@st.composite
def choices(draw: st.DrawFn) -> spec.Choice:
    """Choices with every character that may be in one, and ints of every dtype."""
    dtype = draw(st.sampled_from(list(INT_RANGES)))
    words = st.text(sorted(CHOICE_CHARACTERS), min_size=1, max_size=6)
    ints = st.integers(*INT_RANGES[dtype])
    found = draw(st.dictionaries(words, ints, min_size=1, max_size=3))
    fields = draw(metadata())
    if isinstance(fields["default"], str):
        fields["default"] = draw(st.sampled_from(list(found)))
    return spec.Choice(draw(names), found, dtype, **fields)


CHOICE_CHARACTERS = {chr(code) for code in range(32, 127)} - set("'\"\\")
KEYS = st.sampled_from([None, "ffi.Module", "my_lib.Sub-Type$1"])
NAMED = (
    *(spec.Stream, spec.DataPointer, spec.ConstNone, spec.String, spec.Bytes, spec.DType),
    *(spec.Device, spec.Object, spec.Function, spec.Array, spec.Map, spec.Any),
)
"""The kinds that need a name and nothing else."""


@st.composite
def variants(draw: st.DrawFn) -> spec.Variant:
    """Variants of two to four types."""
    name = draw(names)
    kinds = [
        spec.Var(name, draw(st.sampled_from(list(INT_RANGES)))),
        spec.Var(name, "bool"),
        spec.Var(name, "float16"),
        spec.Tensor(name, [draw(dimensions())], "int8", device_type="cpu"),
        *(kind(name) for kind in (spec.String, spec.Bytes, spec.DType, spec.Device)),
    ]
    found = draw(st.permutations(kinds))[: draw(st.integers(2, 4))]
    return spec.Variant(found, kw_only=draw(st.booleans()), doc=draw(st.sampled_from(["", "x"])))


def _is_short(length: spec.Dim) -> bool:
    return not isinstance(length, int) or length <= MOST_ELEMENTS


def _leaves() -> SearchStrategy[spec.Param]:
    shapes = st.tuples(names, st.lists(dimensions(), max_size=4), metadata()).map(
        lambda made: spec.Shape(made[0], made[1], **made[2])
    )
    plain = st.tuples(st.sampled_from(NAMED), names, metadata()).map(
        lambda made: made[0](made[1], **made[2])
    )
    rows = spec.List("row", "int64"), spec.List("row", "bool", 3)
    lists = st.builds(
        spec.List,
        names,
        st.sampled_from((*ELEMENTS, *rows)),
        st.none() | dimensions().filter(_is_short),
    )
    return st.one_of(
        any_vars(),
        tensors(),
        shapes,
        lists,
        plain,
        choices(),
        variants(),
        st.builds(spec.Object, names, KEYS),
        st.builds(spec.DataPointer, names, address_space=st.sampled_from([None, 0, 3])),
        st.builds(spec.ConstInt, names, INT64),
        st.builds(spec.ConstBool, names, st.booleans()),
        st.builds(spec.ConstFloat, names, st.floats()),
    )


def _distinct(params: SearchStrategy[spec.Param]) -> SearchStrategy[list[spec.Param]]:
    return st.lists(params, max_size=4, unique_by=lambda param: param.name)


@st.composite
def _optionals(draw: st.DrawFn, inner: SearchStrategy[spec.Param]) -> spec.Param:
    param = draw(inner)
    try:
        return spec.Optional(param, **draw(metadata()))
    except SpecError:  # it takes None already
        return param


def _compose(inner: SearchStrategy[spec.Param]) -> SearchStrategy[spec.Param]:
    return st.one_of(
        st.builds(spec.TupleParam, names, _distinct(inner)),
        st.builds(spec.Struct, names, _distinct(inner)),
        _optionals(inner),
    )


def params() -> SearchStrategy[spec.Param]:
    """Any parameter that is an argument: Optionals, structs and tuples, in one another too."""
    return st.recursive(_leaves(), _compose, max_leaves=6)


@st.composite
def allocated_fields(
    draw: st.DrawFn, symbols: list[spec.Var], tensors: list[str]
) -> tuple[Any, str, str]:
    """Shape, dtype and device of a tensor to allocate; some those of the tensors at these paths."""
    dims = st.integers(0, 9) | (st.sampled_from(symbols) if symbols else st.just(1))
    shape: Any = draw(st.lists(dims | dims.map(lambda dim: dim + 3), max_size=3))
    fields = [shape, "float32", "cpu"]
    for index, name in enumerate(("shape", "dtype", "device_type")):
        if tensors and draw(st.booleans()):
            fields[index] = f"{draw(st.sampled_from(tensors))}.{name}"
    return fields[0], fields[1], fields[2]


@st.composite
def workspaces(draw: st.DrawFn, name: str, symbols: list[spec.Var], tensors: list[str]) -> Any:
    """Workspaces with every field."""
    shape, dtype, device_type = draw(allocated_fields(symbols, tensors))
    return spec.Workspace(
        name,
        shape,
        dtype,
        device_type=device_type,
        data_alignment=draw(st.sampled_from([None, 1, 64])),
        zero=draw(st.booleans()),
        doc=draw(docs),
    )


@st.composite
def results(draw: st.DrawFn, symbols: list[spec.Var], tensors: list[str]) -> Any:
    """None, one result, or a list; sizes in these symbols."""
    made: list[Result] = []
    for index in range(draw(st.integers(0, 3))):
        name = f"result_{index}"
        kind = draw(st.integers(0, 3))
        if kind == 0:
            made.append(spec.Var(name, draw(st.sampled_from(VAR_DTYPES))))
        elif kind == 1:
            kinds = (
                spec.String,
                spec.Bytes,
                spec.DType,
                spec.Device,
                spec.Object,
                spec.Function,
                spec.Array,
                spec.Map,
            )
            made.append(draw(st.sampled_from(kinds))(name))
        elif kind == 2:
            made.append(spec.Shape(name, draw(st.lists(st.sampled_from(symbols or [4])))))
        else:
            shape, dtype, device_type = draw(allocated_fields(symbols, tensors))
            made.append(spec.Tensor(name, shape, dtype, device_type=device_type))
    if not made:
        return None
    return made[0] if len(made) == 1 and draw(st.booleans()) else made


def no_overlap(params: Sequence[spec.Param]) -> SearchStrategy[list[str]]:
    """Tensors and lists that must not overlap; none where no two tensors could."""
    if not can_overlap(params):
        return st.just([])
    found = [path for path, t in tensors_of(params).items() if is_comparable(t)]
    return st.lists(st.sampled_from(found), max_size=3, unique=True)


def where(symbols: list[spec.Var]) -> SearchStrategy[list[Relation]]:
    """Relations between these symbols, none that is the limit of one or that decides nothing."""
    if not symbols:
        return st.just([])
    sides = st.recursive(st.sampled_from(symbols) | st.integers(-9, 9) | INT64, _grow, max_leaves=4)
    compared = st.builds(_relation, st.sampled_from([*MIRRORED]), sides, sides)
    members = st.lists(INT64, min_size=1, max_size=3, unique=True).map(tuple)
    listed = st.builds(_relation, st.just("in"), sides, members)
    found = st.one_of(compared, listed).filter(lambda made: made is not None)
    return st.lists(found, max_size=3, unique=True)  # pyright: ignore[reportReturnType]


def _relation(op: str, lhs: spec.Dim, rhs: Any) -> Relation | None:
    try:
        return Relation(op, lhs, rhs)
    except SpecError:
        return None


@st.composite
def with_taken_dtypes(draw: st.DrawFn, params: list[spec.Param]) -> list[spec.Param]:
    """The parameters, of which tensors at the top may have the dtype of an earlier one."""
    found: list[spec.Param] = []
    for param in params:
        tensor = spec.required(param)
        before = [p for p, t in spec.with_paths(found) if isinstance(t, spec.Tensor)]
        if before and isinstance(tensor, spec.Tensor) and tensor.storage_dtype is None:
            dtypes = st.just(tensor.dtype) | st.sampled_from(before).map("{}.dtype".format)
            tensor = replace(tensor, dtype=draw(dtypes))
            is_optional = isinstance(param, spec.Optional)
            param = replace(param, param=tensor) if is_optional else tensor
        found.append(param)
    return found


@st.composite
def signatures(draw: st.DrawFn) -> spec.Signature:
    """Signatures of these; what nothing would bind is bound by one more argument."""
    made = draw(_distinct(params()))
    symbols = {
        var.name: var
        for _, value in occurrences(made)
        for var in variables(value)
        if var.is_integer
    }
    made.insert(draw(st.integers(0, len(made))), spec.Shape("all_symbols", [*symbols.values()]))
    if device_tensors(made) and draw(st.booleans()):
        made.insert(draw(st.integers(0, len(made))), spec.EnvStream("env_stream"))
    made = draw(with_taken_dtypes(made))
    every = spec.with_paths(made)
    tensors = [path for path, param in every if isinstance(param, spec.Tensor)]
    try:
        for index in range(draw(st.integers(0, 2))):
            workspace = draw(workspaces(f"workspace_{index}", [*symbols.values()], tensors))
            made.insert(draw(st.integers(0, len(made))), workspace)
        returns = draw(results(list(symbols.values()), tensors))
        name = draw(st.sampled_from(["f", "where", "None", "no_overlap"]))
        related = draw(where(list(symbols.values())))
        apart = draw(no_overlap(made))
        return spec.Signature(name, made, returns, where=related, no_overlap=apart)
    except (
        SpecError
    ):  # a symbol with two meanings, a source that may be absent, a constant relation
        reject()


@st.composite
def largest_exprs(draw: st.DrawFn) -> Expr:
    """Expressions of 127 parts, or a little less, that are as deep as can be on one side."""
    left = draw(st.booleans())
    ops = draw(
        st.lists(st.sampled_from(["+", "-", "*", "//", "ceildiv", "max"]), min_size=60, max_size=63)
    )
    made: spec.Dim = draw(int_vars())
    for op in ops:
        if op in ("//", "ceildiv"):
            made = Expr(op, made, draw(st.integers(1, 9)))
        else:
            other = draw(int_vars())
            made = Expr(op, made, other) if left else Expr(op, other, made)
    return _as_expr(made)


@st.composite
def extreme_signatures(draw: st.DrawFn) -> spec.Signature:
    """A parameter that is as large and as deep as can be."""
    dims = draw(st.lists(int_vars() | st.none(), min_size=4, max_size=4))
    rank = draw(st.integers(MOST_DIMENSIONS - 3, MOST_DIMENSIONS))
    shape = [*(dims * 64)[: rank - 1], draw(largest_exprs())]
    strides = [*(dims * 64)[:rank]] if draw(st.booleans()) else draw(LAYOUTS)
    param: spec.Param = spec.Tensor(
        draw(names), shape, "float32", device_type="cpu", strides=strides
    )
    for _ in range(draw(st.integers(DEEPEST - 2, DEEPEST))):
        if draw(st.booleans()):
            param = param if isinstance(param, spec.Optional) else spec.Optional(param)
        kind = draw(st.sampled_from([spec.TupleParam, spec.Struct]))
        param = kind(draw(names), [param])
    symbols = {var.name: var for _, value in occurrences([param]) for var in variables(value)}
    return spec.Signature(
        "f", [spec.Optional(param), spec.Shape("all_symbols", [*symbols.values()])]
    )
