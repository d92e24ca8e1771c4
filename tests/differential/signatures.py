"""Hypothesis strategies for signatures: everything :mod:`ffi_builder.spec` accepts, kept small.

A signature draws its symbols from a pool of a few, so that they recur: across tensors, tuples and
scalars, within Optionals and without, alone and in expressions. What nothing would bind is bound by
one more argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, cast

from hypothesis import strategies as st

from ffi_builder.errors import SpecError
from ffi_builder.spec import (
    Any as AnyValue,
)
from ffi_builder.spec import (
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
    Function,
    List,
    Map,
    Object,
    Optional,
    Param,
    Shape,
    Signature,
    Stream,
    String,
    Struct,
    Tensor,
    TensorList,
    TupleParam,
    Var,
    VarArgs,
    Variant,
    ceildiv,
    maximum,
    minimum,
    one_of,
    outline,
    required,
    with_paths,
)
from ffi_builder.spec.composite import elements
from ffi_builder.spec.expr import Condition, Expr, Relation
from ffi_builder.spec.functions import linear, variables
from ffi_builder.spec.lists import ELEMENTS
from ffi_builder.spec.numbers import FLOAT_DTYPES, INT_RANGES, NUMBER_DTYPES
from ffi_builder.spec.overlap import can_overlap, is_comparable
from ffi_builder.spec.places import device_tensors, occurrences, symbols_of_elements
from ffi_builder.spec.properties import compared, properties
from ffi_builder.spec.tensors.entries import MOST_ELEMENTS
from ffi_builder.spec.variant import Alternative
from tests.differential.drawn_tensors import draw_tensor
from tests.differential.pool import EXTREME, SMALL, Pool, rarely
from tests.differential.registered import LONG, TYPES

EACH: Final = (Var("i", "int64"), Var("j", "int32", min=1), Var("k", "int64", divisibility=2))
"""Symbols with a value for each element of a list."""
LENGTHS: Final = (Var("g", "int64"), Var("h", "int32", min=1, max=4))

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
OF_ARRAYS: Final = ("int8", "uint64", "bool", "float32", String("a"), Bytes("a"), Function("a"))
"""What the elements of an Array may be, beside Optionals of these and Arrays."""


def draw_array(draw: st.DrawFn, name: str) -> Array:
    of = Array("a", draw(st.sampled_from(OF_ARRAYS))).of
    if rarely(draw, 30):
        of = Optional(cast("Param", of))
    if rarely(draw, 30):
        of = Array("a", of)
    return Array(name, of)


OTHERS: Final[tuple[Callable[[str], Param], ...]] = (
    *(String, String, Bytes, Bytes, DType, Device, Stream, DataPointer),
    *(Function, Array, Map, AnyValue, ConstNone),
)
"""Kinds that need a name and nothing else."""


def draw_param(pool: Pool, name: str, depth: int) -> Param:
    """Any parameter, a quarter of them Optional. A symbol has its own name, not this one."""
    param = draw_plain(pool, name, depth)
    if not rarely(pool.draw, 25):
        return param
    try:
        return Optional(param)
    except SpecError:  # it takes None already
        return param


def draw_variant(pool: Pool, name: str) -> Variant:
    """Two to four parameters, each of another type."""
    draw = pool.draw
    made: list[Callable[[], Alternative]] = [
        lambda: draw_tensor(pool, name),
        lambda: Var(name, draw(st.sampled_from(sorted(INT_RANGES)))),
        lambda: Var(name, draw(st.sampled_from(FLOAT_DTYPES))),
        lambda: Var(name, "bool"),
        *(partial(kind, name) for kind in (String, Bytes, DType, Device)),
        lambda: draw_array(draw, name),
    ]
    first, *others = draw(st.permutations(made))[: draw(st.integers(2, 4))]
    if rarely(draw, 60) and made[0] not in (first, *others):
        first = made[0]
    return Variant([each() for each in (first, *others)])


def draw_plain(pool: Pool, name: str, depth: int) -> Param:
    draw = pool.draw
    match draw(st.integers(-8, 23 if depth < 2 else 20)):
        case -8:
            return draw_array(draw, name)
        case -7 | -6:
            return draw_variant(pool, name)
        case -5 | -4:
            length = pool.entry(optional=True)
            most = min(length, MOST_ELEMENTS) if isinstance(length, int) else length
            dtype = draw(st.sampled_from(ELEMENTS))
            if dtype in NUMBER_DTYPES and rarely(draw, 30):
                return List(name, List("row", dtype, draw(st.sampled_from([None, 0, 2]))), most)
            return List(name, dtype, most)
        case -3 | -2 | -1:
            return draw_list(pool, name)
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


def draw_list(pool: Pool, name: str) -> TensorList:
    """A list, of which some dimensions are of each element."""
    draw = pool.draw
    tensor = draw_tensor(pool, name)
    tensor = replace(tensor, dtype=tensor.dtypes[0])  # kernels are not told which of several
    length = draw(st.sampled_from([None, None, *LENGTHS * 2, 0, 1, 2, *pool.integers]))
    if tensor.any_rank:
        tensor = replace(tensor, shape=[pool.entry(optional=True)], strides=None)
    shape = [
        entry if isinstance(entry, int) or not rarely(draw, 40) else draw(st.sampled_from(EACH))
        for entry in tensor.dims
    ]
    tensor = replace(tensor, shape=shape)
    return TensorList(tensor, length=length, each=[var for var in EACH if var in shape])


def draw_group(pool: Pool) -> list[Param]:
    """Lists of one length that share symbols of each element."""
    draw = pool.draw
    length = draw(st.sampled_from([*LENGTHS, *LENGTHS, 2]))
    known = draw(st.permutations(EACH))[: draw(st.integers(1, 2))]
    made: list[Param] = []
    for index in range(draw(st.integers(2, 3))):
        shape: list[Dim | None] = [*known]
        if index:
            derived = [var * 2 for var in known] + [var + 1 for var in known]
            shape = draw(st.lists(st.sampled_from([*known, *known, *derived]), max_size=3))
        shape += draw(st.lists(st.sampled_from([*pool.integers, None, 3]), max_size=2))
        strides = draw(st.sampled_from([None, None, "F", "any"]))
        tensor = draw_tensor(pool, f"L{index}")
        tensor = replace(
            tensor, dtype=tensor.dtypes[0], shape=shape, strides=strides, storage_dtype=None
        )
        symbols = {var for entry in shape for var in variables(entry)}
        made.append(TensorList(tensor, length=length, each=[var for var in EACH if var in symbols]))
    return made


def accepted_lists(params: list[Param]) -> list[Param]:
    """The parameters, with lists changed as far as a signature of them needs it."""
    for change in (_as_it_is, _with_plain_entries, _without_length):
        made = [_changed(param, change) for param in params]
        try:
            Signature("f", [*made, *unbound(made)])
        except SpecError:
            continue
        return made
    raise AssertionError(params)


def draw_taken_dtypes(draw: st.DrawFn, params: Sequence[Param]) -> list[Param]:
    """The parameters, in which some tensors have the dtype of an earlier one, likely of several."""
    earlier: list[str] = []

    def taken(path: str, param: Param, *, always: bool) -> Param:
        match param:
            case Optional(param=inner):
                return replace(param, param=taken(path, inner, always=False))
            case TupleParam():
                inner = [taken(*each, always=always) for each in elements(param, path)]
                return replace(param, params=inner)
            case Struct():
                inner = [taken(*each, always=always) for each in elements(param, path)]
                return replace(param, fields=inner)
            case Tensor(storage_dtype=None):
                if earlier and not rarely(draw, 30):
                    param = replace(param, dtype=f"{draw(st.sampled_from(earlier))}.dtype")
                elif rarely(draw, 70):
                    param = replace(param, dtype=["float32", "float16", "int8"])
                if always:
                    earlier.append(path)
                return param
            case _:
                return param

    return [taken(param.name, param, always=True) for param in params]


def _changed(param: Param, change: Callable[[TensorList], Param]) -> Param:
    match param:
        case Optional(param=inner):
            return replace(param, param=_changed(inner, change))
        case TupleParam(params=inner):
            return replace(param, params=[_changed(each, change) for each in inner])
        case Struct(fields=inner):
            return replace(param, fields=[_changed(each, change) for each in inner])
        case TensorList():
            return change(param)
        case _:
            return param


def _as_it_is(param: TensorList) -> TensorList:
    return param


def _with_plain_entries(param: TensorList) -> TensorList:
    """Without expressions, which need symbols that are known by then."""
    tensor, strides = param.tensor, param.tensor.strides
    shape = [None if isinstance(dim, Expr) else dim for dim in tensor.dims]
    if isinstance(strides, (tuple, list)):
        strides = [None if isinstance(each, Expr) else each for each in strides]
    tensor = replace(tensor, shape=shape, strides=strides)
    each = [var for var in param.each if var in shape]
    return TensorList(tensor, length=param.length if each else None, each=each)


def _without_length(param: TensorList) -> TensorList:
    """Without any symbol of each element, too."""
    plain = _with_plain_entries(param)
    shape = [None if dim in param.each else dim for dim in plain.tensor.dims]
    return TensorList(replace(plain.tensor, shape=shape))


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
    if rarely(draw, 12):
        at = draw(st.integers(0, len(params)))
        params[at:at] = draw_group(pool)
    params = accepted_lists(params)
    if rarely(draw, 40):
        params = draw_taken_dtypes(draw, params)
    for var in unbound(params):
        param: Param = Optional(var) if rarely(draw, 30) else var
        params.insert(draw(st.sampled_from([0, len(params)])), param)
    if device_tensors(params) and rarely(draw, 30):
        params.insert(draw(st.integers(0, len(params))), EnvStream("stream"))
    if rarely(draw, 10):
        params.append(VarArgs("rest"))
    short = Signature("f", params)
    length = draw(st.sampled_from([0] * 9 + [399, 400, 401, 500]))
    name = "f" * max(1, length - len(outline(short)) + 1)
    return Signature(
        name, params, where=draw_where(pool, params), no_overlap=draw_no_overlap(draw, params)
    )


def draw_where(pool: Pool, params: Sequence[Param]) -> list[Condition]:
    """Now and then, relations between symbols of the parameters, and other conditions."""
    draw = pool.draw
    symbols = [var for var in symbols_of(params) if var.is_integer]
    if not rarely(draw, 20):
        return []
    made: list[Condition] = []
    if rarely(draw, 50) and (atoms := [*draw_comparisons(draw, params)]):
        made.append(draw_condition(pool, atoms, symbols, draw(st.integers(0, 2))))
    if not symbols:
        return made
    for _ in range(draw(st.integers(1, 3))):
        relation = draw_relation(pool, draw(st.sampled_from(symbols)), symbols)
        if relation is not None and relation not in made:
            made.append(relation)
    try:
        return [*Signature("f", params, where=made).where]
    except SpecError:  # always true or false
        return []


def draw_comparisons(draw: st.DrawFn, params: Sequence[Param]) -> Iterator[Condition]:
    """Comparisons of some of the properties that differ between calls."""
    for make in draw(st.permutations([*properties(params).values()]))[:4]:
        try:
            of = make()
            if of.is_address:
                yield compared("==", replace(of, divisor=draw(st.sampled_from([2, 8, 64]))), 0)
                continue
            values = [*of.known] or [0, 1, 2, 3]
            op = "==" if of.known else draw(st.sampled_from(["==", "<", ">="]))
            condition = compared(op, of, draw(st.sampled_from(values)))
            Signature("f", params, where=[condition])
        except SpecError:  # a dtype of another tensor, or the same in every call
            continue
        yield condition


def draw_condition(
    pool: Pool, atoms: Sequence[Condition], symbols: Sequence[Var], depth: int
) -> Condition:
    draw = pool.draw
    kind = draw(st.sampled_from(["atom", "and", "or", "not"])) if depth else "atom"
    if kind == "not":
        return ~draw_condition(pool, atoms, symbols, depth - 1)
    if kind != "atom":
        left, right = (draw_condition(pool, atoms, symbols, depth - 1) for _ in range(2))
        return left & right if kind == "and" else left | right
    if symbols and rarely(draw, 30):
        relation = draw_relation(pool, draw(st.sampled_from(symbols)), symbols)
        if relation is not None:
            return relation
    return draw(st.sampled_from(atoms))


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
    lists = [
        path
        for path, param in with_paths(params)
        if isinstance(plain := required(param), TensorList) and is_comparable(plain.tensor)
    ]
    tensors += lists
    if not can_overlap(params) or not rarely(draw, 25 + 15 * bool(lists)):
        return []
    return draw(st.lists(st.sampled_from(tensors), min_size=1, max_size=3, unique=True))


def tensors_of(params: Sequence[Param]) -> Iterator[tuple[str, Tensor]]:
    """Each tensor with its path; tuples, structs and Optionals are looked into."""
    for path, param in with_paths(params):
        plain = required(param)
        if isinstance(plain, Tensor):
            yield path, plain


def lists_of(params: Sequence[Param]) -> list[TensorList]:
    """Each list of tensors."""
    plain = (required(param) for _, param in with_paths(params))
    return [param for param in plain if isinstance(param, TensorList)]


def symbols_of(params: Sequence[Param]) -> list[Var]:
    """Each symbol once, in the order in which they are met; none of each element of a list."""
    found = dict.fromkeys(var for _, entry in occurrences(params) for var in variables(entry))
    return [var for var in found if var not in symbols_of_elements(params)]


def unbound(params: Sequence[Param]) -> list[Var]:
    """The symbols that no argument gives a value."""
    entries = [entry for _, entry in occurrences(params)]
    bound = {entry for entry in entries if isinstance(entry, Var)}
    forms = [linear(entry) for entry in entries if isinstance(entry, Expr)]
    bound |= {form[1] for form in forms if form is not None}
    return [var for var in symbols_of(params) if var not in bound]
