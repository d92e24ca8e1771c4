"""Hypothesis strategies for signatures: everything :mod:`ffi_builder.spec` accepts, kept small.

A signature draws its symbols from a pool of a few, so that they recur: across tensors, tuples and
scalars, within Optionals and without, alone and in expressions. What nothing would bind is bound by
one more argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import EllipsisType
from typing import Final

from hypothesis import strategies as st

from ffi_builder.errors import SpecError
from ffi_builder.spec import (
    INT_RANGES,
    Array,
    Bytes,
    Choice,
    ConstBool,
    ConstFloat,
    ConstInt,
    ConstNone,
    DataPointer,
    Device,
    Dim,
    DType,
    EnvStream,
    Expr,
    Function,
    Map,
    Object,
    Optional,
    Param,
    Relation,
    Shape,
    Signature,
    Stream,
    String,
    Struct,
    Tensor,
    TupleParam,
    Var,
    ceildiv,
    device_tensors,
    is_comparable,
    linear,
    maximum,
    minimum,
    occurrences,
    one_of,
    required,
    short_text,
    variables,
    with_paths,
)
from tests.differential.pool import EXTREME, SMALL, Pool, rarely
from tests.differential.registered import LONG, TYPES

DTYPES: Final[tuple[str, ...]] = (
    "float32",
    "uint8",
    "bool",
    "bfloat16",
    "float8_e4m3fn",
    "float32x4",
)
PACKED: Final = (
    ("float4_e2m1fn", "float4_e2m1fnx2"),
    ("int4", "int8"),
    ("uint1", "uint8"),
    ("int1", "int1x3"),
    ("float32", "int32"),
)
"""dtype and storage_dtype: 2, 2, 8, 3 and 1 elements to a stored one."""
DEVICES: Final = (*["cpu"] * 12, *["cuda"] * 5, "rocm", "any", "any")

MOST_DIMENSIONS: Final = 5
FLOATS: Final = st.sampled_from([0.0, 0.5, -1.25, 0.1, 2.0**53, float("nan"), float("inf")])

TYPE_KEYS: Final = (
    *(None, None, "test.Base", "test.Base", "test.Middle", "test.Leaf", TYPES[LONG][0]),
    *("test.Unregistered", "ffi.Object", "ffi.Module", "ffi.Array", "ffi.Tensor", "ffi.String"),
    *("ffi.BigInt", "ffi.Function"),
)
CHOICES: Final[tuple[Mapping[str, int], ...]] = (
    {"relu": 1, "gelu": 2, "silu": 3},
    {"relu": 0, "rel": -1, "relu6": 127},
    {"a": 0},
    {"ab": 5, "ba": 6, "a": 7, "b": 8},
    {" ": 1, "$~|": 2, "`": 3},
    {"x" * 63: 1, "x" * 64: 2, "y" * 255: 3},
    {"x" * 62 + "y": 1, "x" * 63: 2, "z" * 7: 4, "z" * 8: 5},
    {f"choice_{index}": index for index in range(30)},
)
OTHERS: Final[tuple[Callable[[str], Param], ...]] = (
    *(String, String, Bytes, Bytes, DType, Device, Stream, DataPointer),
    *(Function, Array, Map, ConstNone),
)
"""Kinds that need a name and nothing else."""


def draw_tensor(pool: Pool, name: str) -> Tensor:
    draw = pool.draw
    storage: str | None = None
    shape: list[Dim | None] | EllipsisType = ...
    strides: list[Dim | None] | str | None = None
    if not rarely(draw, 8):
        ndim = draw(st.sampled_from([0, 1, 1, 2, 2, 2, 2, 2, 3, 3, MOST_DIMENSIONS]))
        shape = [pool.entry(optional=True) for _ in range(ndim)]
        if rarely(draw, 45):
            strides = [pool.entry(optional=True, low=-(2**63)) for _ in shape]
    if strides is None:
        strides = draw(st.sampled_from([None] * 6 + ["C", "F", "F", "any"]))
    dtypes = [draw(st.sampled_from(DTYPES[:1] * 3 + DTYPES))]
    if isinstance(shape, list) and shape and rarely(draw, 15):
        dtype, storage = draw(st.sampled_from(PACKED))
        dtypes = [dtype]
        shape, strides = packed(draw, shape, strides, dtype, storage)
    elif rarely(draw, 12):
        dtypes = draw(st.permutations(DTYPES))[: draw(st.integers(2, 4))]
    return Tensor(
        name,
        shape,
        dtypes,
        storage_dtype=storage,
        device_type=draw(st.sampled_from(DEVICES)),
        device_id=draw(st.sampled_from([None] * 7 + [0, 1, *pool.integers])),
        strides=strides,
        data_alignment=draw(st.sampled_from([None] * 3 + [1, 4, 16, 128, 2**40])),
    )


def packed(
    draw: st.DrawFn,
    shape: list[Dim | None],
    strides: list[Dim | None] | str | None,
    dtype: str,
    storage: str,
) -> tuple[list[Dim | None], list[Dim | None] | str | None]:
    """Shape and strides that a tensor of these dtypes can have."""
    packing = Tensor("x", [0], dtype, device_type="cpu", storage_dtype=storage).packing
    if packing > 1 and strides == "any":  # which does not say what is packed
        strides = "F"
    if isinstance(strides, list):
        axis = draw(st.integers(0, len(shape) - 1))
    else:
        axis = 0 if strides == "F" else len(shape) - 1
    shape[axis] = divisible(shape[axis], packing)
    if isinstance(strides, list) and packing > 1:
        strides = [divisible(entry, packing) for entry in strides]
        strides[axis] = 1
    return shape, strides


def divisible(entry: Dim | None, packing: int) -> Dim | None:
    """The entry, where it is an int as a multiple of the packing that is not 1."""
    if not isinstance(entry, int):
        return entry
    return entry // packing * packing if entry >= 0 else -(-entry // packing * packing)


def draw_param(pool: Pool, name: str, depth: int) -> Param:
    """Any parameter, a quarter of them Optional. A symbol has its own name, not this one."""
    param = draw_plain(pool, name, depth)
    if not rarely(pool.draw, 25):
        return param
    try:
        return Optional(param)
    except SpecError:  # it takes None already
        return param


def draw_plain(pool: Pool, name: str, depth: int) -> Param:
    draw = pool.draw
    match draw(st.integers(0, 23 if depth < 2 else 20)):
        case 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8:
            return draw_tensor(pool, name)
        case 9 | 10:
            entries = [pool.entry(optional=False) for _ in range(draw(st.integers(0, 3)))]
            return Shape(name, [entry for entry in entries if entry is not None])
        case 11 | 12 | 13 | 14:
            return pool.scalar()
        case 15 | 16:
            return draw(st.sampled_from(OTHERS))(name)
        case 17:
            return Object(name, draw(st.sampled_from(TYPE_KEYS)))
        case 18 | 19:
            return draw_choice(draw, name)
        case 20:
            number = draw(SMALL | EXTREME)
            constants = [
                ConstInt(name, number),
                ConstBool(name, number % 2 == 0),
                ConstFloat(name, draw(FLOATS)),
            ]
            return draw(st.sampled_from(constants))
        case _:
            inner = draw_params(pool, draw(st.integers(0, 3)), f"{name}_", depth + 1)
            return draw(st.sampled_from([TupleParam, Struct]))(name, inner)


def draw_choice(draw: st.DrawFn, name: str) -> Choice:
    choices, dtype = draw(st.sampled_from(CHOICES)), draw(st.sampled_from(sorted(INT_RANGES)))
    low, high = INT_RANGES[dtype]
    if rarely(draw, 30):
        choices = {**choices, "last": draw(st.sampled_from([low, high]))}
    return Choice(name, {word: max(low, value) for word, value in choices.items()}, dtype)


def draw_params(pool: Pool, count: int, prefix: str, depth: int) -> list[Param]:
    """Parameters with names of their own; a symbol that is there already comes in a tuple."""
    params: list[Param] = []
    for index in range(count):
        name = f"{prefix}{'ABCDEFGH'[index]}"
        param = draw_param(pool, name, depth)
        if param.name in {other.name for other in params}:
            param = TupleParam(name, [param])
        params.append(param)
    return params


@st.composite
def signatures(draw: st.DrawFn) -> Signature:
    """A signature that spec accepts."""
    pool = Pool(draw)
    params = draw_params(pool, draw(st.sampled_from([1, 2, 3, 4, 2, 3, 4, 3, 5, 0])), "", 0)
    for var in unbound(params):
        param: Param = Optional(var) if rarely(draw, 30) else var
        params.insert(draw(st.sampled_from([0, len(params)])), param)
    if device_tensors(params) and rarely(draw, 30):
        params.insert(draw(st.integers(0, len(params))), EnvStream("stream"))
    short = Signature("f", params)
    length = draw(st.sampled_from([0] * 9 + [399, 400, 401, 500]))
    name = "f" * max(1, length - len(short_text(short)) + 1)
    return Signature(
        name, params, where=draw_where(pool, params), no_overlap=draw_no_overlap(draw, params)
    )


def draw_where(pool: Pool, params: Sequence[Param]) -> list[Relation]:
    """Now and then, relations between symbols of the parameters."""
    draw = pool.draw
    symbols = [var for var in symbols_of(params) if var.is_integer]
    if not symbols or not rarely(draw, 20):
        return []
    made: list[Relation] = []
    for _ in range(draw(st.integers(1, 3))):
        relation = draw_relation(pool, draw(st.sampled_from(symbols)), symbols)
        if relation is not None and relation not in made:
            made.append(relation)
    try:
        return [*Signature("f", params, where=made).where]
    except SpecError:  # always true or false
        return []


def draw_relation(pool: Pool, x: Var, symbols: Sequence[Var]) -> Relation | None:
    """A relation of a symbol; None where the drawn one would be the limit of a symbol."""
    draw, c = pool.draw, pool.constant()
    y, z = (draw(st.sampled_from(symbols)) for _ in range(2))
    lhs = draw(st.sampled_from([x, x, x + 1, x * y, x % 4, x // 3, ceildiv(x, 2), maximum(x, y)]))
    if rarely(draw, 4):
        members = draw(st.lists(st.integers(-1, 12), min_size=1, max_size=4, unique=True))
        return one_of(lhs, members)
    rhs = draw(st.sampled_from([y, y, z, z + 2, z * 2, c, x * z, minimum(z, 3)]))
    try:
        return Relation(draw(st.sampled_from(["<=", "<=", "<", ">=", ">", "==", "!="])), lhs, rhs)
    except SpecError:
        return None


def draw_no_overlap(draw: st.DrawFn, params: Sequence[Param]) -> list[str]:
    """Now and then, where tensors can overlap, some of them."""
    tensors = [path for path, tensor in tensors_of(params) if is_comparable(tensor)]
    if len(tensors) < 2 or not rarely(draw, 25):
        return []
    return draw(st.lists(st.sampled_from(tensors), min_size=1, max_size=3, unique=True))


def tensors_of(params: Sequence[Param]) -> Iterator[tuple[str, Tensor]]:
    """Each tensor with its path; tuples, structs and Optionals are looked into."""
    for path, param in with_paths(params):
        plain = required(param)
        if isinstance(plain, Tensor):
            yield path, plain


def symbols_of(params: Sequence[Param]) -> list[Var]:
    """Each symbol once, in the order in which they are met."""
    return list(dict.fromkeys(var for _, entry in occurrences(params) for var in variables(entry)))


def unbound(params: Sequence[Param]) -> list[Var]:
    """The symbols that no argument gives a value."""
    entries = [entry for _, entry in occurrences(params)]
    bound = {entry for entry in entries if isinstance(entry, Var)}
    forms = [linear(entry) for entry in entries if isinstance(entry, Expr)]
    bound |= {form[1] for form in forms if form is not None}
    return [var for var in symbols_of(params) if var not in bound]
