"""Hypothesis strategies for signatures: everything :mod:`ffi_builder.spec` accepts, kept small.

A signature draws its symbols from a pool of a few, so that they recur: across tensors, tuples and
scalars, alone and in expressions. What nothing would bind is bound by one more argument.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from hypothesis import strategies as st

from ffi_builder.spec import (
    INT_RANGES,
    ConstBool,
    ConstFloat,
    ConstInt,
    ConstNone,
    DataPointer,
    Dim,
    EnvStream,
    Expr,
    Param,
    Shape,
    Signature,
    Stream,
    Tensor,
    TupleParam,
    Var,
    ceildiv,
    first_device_tensor,
    linear,
    short_text,
    variables,
)

DTYPES: Final = ("float32", "uint8", "bool", "bfloat16", "float8_e4m3fn", "float32x4")
PACKED: Final = (
    ("float4_e2m1fn", "float4_e2m1fnx2"),
    ("int4", "int8"),
    ("uint1", "uint8"),
    ("int1", "int1x3"),
    ("float32", "int32"),
)
"""dtype and storage_dtype: 2, 2, 8, 3 and 1 elements to a stored one."""

MOST_DIMENSIONS: Final = 5
SMALL: Final = st.integers(0, 5)
DIVISORS: Final = st.integers(1, 4)
EXTREME: Final = st.sampled_from([-1, 2**31, 2**62, 2**63 - 1, -(2**63), 2**63 - 2])
FLOATS: Final = st.sampled_from([0.0, 0.5, -1.25, 0.1, 2.0**53, float("nan"), float("inf")])


def rarely(draw: st.DrawFn, percent: int) -> bool:
    """True in about that many of a hundred draws."""
    return draw(st.integers(0, 99)) >= 100 - percent


@st.composite
def integer_vars(draw: st.DrawFn, name: str, bounded: int = 20) -> Var:
    """An integer symbol; in so many of a hundred with a least or greatest value."""
    dtype = draw(st.sampled_from(["int64"] * 5 + ["int32"] * 2 + list(INT_RANGES)))
    low, high = INT_RANGES[dtype]
    divisibility = draw(st.sampled_from([None] * 8 + [1, 2, 3, 16, 2**62 + 1]))
    least = greatest = None
    if rarely(draw, bounded):
        least = max(low, draw(st.sampled_from([1, 2, 2, 3, 0, -4, low, low + 1])))
    if rarely(draw, bounded):
        greatest = draw(st.sampled_from([4, 8, 100, high, high - 1]))
    if least is not None and greatest is not None and greatest < least:
        greatest = least
    top = high if greatest is None else greatest
    if divisibility and top // divisibility * divisibility < (low if least is None else least):
        divisibility = None  # no value would do
    return Var(name, dtype, divisibility=divisibility, min=least, max=greatest)


@st.composite
def other_vars(draw: st.DrawFn, name: str) -> Var:
    """A symbol that can only be a scalar argument."""
    dtypes = ("bool", "float16", "bfloat16", "float32", "float64", "handle", "handle", "bool")
    return Var(name, draw(st.sampled_from(dtypes)))


class Pool:
    """The symbols of one signature, and draws of what is made of them.

    A ``shy`` symbol never stands alone, so that it has to be solved for.
    """

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.integers = [draw(integer_vars(name)) for name in "nkm"[: draw(st.integers(1, 3))]]
        self.others = [draw(other_vars(name)) for name in "ab"]
        self.shy = draw(integer_vars("s", bounded=40)) if rarely(draw, 60) else None

    def integer(self) -> Var:
        return self.draw(st.sampled_from(self.integers))

    def scalar(self) -> Var:
        return self.draw(st.sampled_from([*self.integers, *self.others, *self.others]))

    def entry(self, *, optional: bool, low: int = 0) -> Dim | None:
        """A dimension, or with ``low`` below 0 a stride."""
        kind = self.draw(st.integers(0, 19))
        if kind < 8:
            return self.integer()
        if kind < 11:
            return max(low, self.draw(EXTREME if rarely(self.draw, 4) else SMALL))
        if kind < 15:
            return self.expression(least=low)
        if kind < 18:
            return self.integer() if self.shy is None else self.line(self.shy, least=low)
        return None if optional else self.integer()

    def line(self, x: Var, *, least: int) -> Expr:
        """A linear expression of one symbol, which can be solved."""
        c = self.constant()
        forms = [x * 2, x * 3, x + c, x * 2 + c, x * 3 + 1, x * 3 - x, x + x, x - c]
        if least < 0:
            forms += [c - x, 0 - x * 2]
        return self.draw(st.sampled_from(forms))

    def expression(self, *, least: int) -> Expr:
        """One or two operators, the way authors write sizes; now and then with huge numbers."""
        x, y, c = self.integer(), self.integer(), self.constant()
        divisor = max(1, self.draw(EXTREME)) if rarely(self.draw, 3) else self.draw(DIVISORS)
        forms: list[Expr] = [
            x * y,
            x + y,
            x // divisor,
            x % divisor,
            ceildiv(x, divisor),
            (x + c) * y,
            ceildiv(x, divisor) * divisor,
            c + 50 - x * divisor if c < 2**40 else c - x,
            (x + y) // divisor,
            x * c * c // divisor,
        ]
        if least < 0:
            forms += [(x - y) // divisor, c - x, 0 - x % divisor]
        found = self.draw(st.sampled_from([*forms, self.line(x, least=least)]))
        if not rarely(self.draw, 15):
            return found
        nested = [found + y // divisor, y * 2 + found, found * y, ceildiv(found, divisor)]
        if least < 0:
            nested += [y - found, found % divisor - y, (c - found) // divisor]
        return self.draw(st.sampled_from(nested))

    def constant(self) -> int:
        return self.draw(EXTREME if rarely(self.draw, 5) else SMALL)


def draw_tensor(pool: Pool, name: str) -> Tensor:
    draw = pool.draw
    ndim = draw(st.sampled_from([0, 1, 1, 2, 2, 2, 2, 2, 3, 3, MOST_DIMENSIONS]))
    shape = [pool.entry(optional=True) for _ in range(ndim)]
    strides = [pool.entry(optional=True, low=-(2**63)) for _ in shape] if rarely(draw, 45) else None
    dtype, storage = draw(st.sampled_from(DTYPES[:1] * 3 + DTYPES)), None
    if ndim and rarely(draw, 15):
        dtype, storage = draw(st.sampled_from(PACKED))
        packing = Tensor("x", [0], dtype, device_type="cpu", storage_dtype=storage).packing
        axis = draw(st.integers(0, ndim - 1)) if strides else ndim - 1
        shape[axis] = divisible(shape[axis], packing)
        if strides is not None and packing > 1:
            strides = [divisible(entry, packing) for entry in strides]
            strides[axis] = 1
    return Tensor(
        name,
        shape,
        dtype,
        storage_dtype=storage,
        device_type=draw(st.sampled_from(["cpu"] * 6 + ["cuda"] * 3 + ["rocm"])),
        device_id=draw(st.sampled_from([None] * 7 + [0, 1, *pool.integers])),
        strides=strides,
        data_alignment=draw(st.sampled_from([None] * 3 + [1, 4, 16, 128, 2**40])),
    )


def divisible(entry: Dim | None, packing: int) -> Dim | None:
    """The entry, where it is an int as a multiple of the packing that is not 1."""
    if not isinstance(entry, int):
        return entry
    return entry // packing * packing if entry >= 0 else -(-entry // packing * packing)


def draw_param(pool: Pool, name: str, depth: int) -> Param:
    """Any parameter with that name; a symbol is wrapped into a tuple, to keep its own name."""
    draw = pool.draw
    match draw(st.integers(0, 19 if depth < 2 else 17)):
        case 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9:
            return draw_tensor(pool, name)
        case 10 | 11:
            entries = [pool.entry(optional=False) for _ in range(draw(st.integers(0, 3)))]
            return Shape(name, [entry for entry in entries if entry is not None])
        case 12 | 13 | 14 | 15:
            return pool.scalar()
        case 16:
            return draw(st.sampled_from([Stream(name), DataPointer(name)]))
        case 17:
            number = draw(SMALL | EXTREME)
            constants = [
                ConstNone(name),
                ConstInt(name, number),
                ConstBool(name, number % 2 == 0),
                ConstFloat(name, draw(FLOATS)),
            ]
            return draw(st.sampled_from(constants))
        case _:
            count = draw(st.integers(0, 3))
            return TupleParam(name, draw_params(pool, count, f"{name}_", depth + 1))


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
        params.insert(draw(st.sampled_from([0, len(params)])), var)
    if first_device_tensor(params) is not None and rarely(draw, 30):
        params.insert(draw(st.integers(0, len(params))), EnvStream("stream"))
    short = Signature("f", params)
    length = draw(st.sampled_from([0] * 9 + [399, 400, 401, 500]))
    return Signature("f" * max(1, length - len(short_text(short)) + 1), params)


def entries_of(params: Sequence[Param]) -> Iterator[Dim | None]:
    """Everything that may mention a symbol."""
    for param in params:
        match param:
            case Var():
                yield param
            case Tensor():
                yield from (param.device_id, *param.shape, *(param.stride_entries or ()))
            case Shape():
                yield from param.shape
            case TupleParam():
                yield from entries_of(param.params)
            case _:
                pass


def tensors_of(params: Sequence[Param], prefix: str = "") -> Iterator[tuple[str, Tensor]]:
    """Each tensor with its path, tuples looked into."""
    arguments = [param for param in params if not isinstance(param, EnvStream)]
    for index, param in enumerate(arguments):
        path = f"{prefix}[{index}]" if prefix else param.name
        if isinstance(param, Tensor):
            yield path, param
        elif isinstance(param, TupleParam):
            yield from tensors_of(param.params, path)


def symbols_of(params: Sequence[Param]) -> list[Var]:
    """Each symbol once, in the order in which they are met."""
    return list(dict.fromkeys(var for entry in entries_of(params) for var in variables(entry)))


def unbound(params: Sequence[Param]) -> list[Var]:
    """The symbols that no argument gives a value."""
    entries = list(entries_of(params))
    bound = {entry for entry in entries if isinstance(entry, Var)}
    forms = [linear(entry) for entry in entries if isinstance(entry, Expr)]
    bound |= {form[1] for form in forms if form is not None}
    return [var for var in symbols_of(params) if var not in bound]
