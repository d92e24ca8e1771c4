"""Symbols of a drawn signature, and what dimensions, strides and entries are made of them."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from ffi_builder.spec import Dim, Var, ceildiv, maximum, minimum
from ffi_builder.spec.expr import Expr
from ffi_builder.spec.numbers import INT_RANGES

SMALL: Final = st.integers(0, 5)
DIVISORS: Final = st.integers(1, 4)
EXTREME: Final = st.sampled_from([-1, 2**31, 2**62, 2**63 - 1, -(2**63), 2**63 - 2])


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
        """A linear expression of one symbol, which can be solved; now and then it cannot."""
        c = self.constant()
        forms = [x * 2, x * 3, x + c, x * 2 + c, x * 3 + 1, x * 3 - x, x + x, x - c]
        if rarely(self.draw, 3):  # these wait: their numbers do not fit int64
            forms = [x * 2 + 2**62 + 2**62, x - 2**62 - 2**62 - c - 1, x * 2**62 * 2]
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
            maximum(x, y),
            minimum(x + 1, c),
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
