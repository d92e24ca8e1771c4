"""Symbols and integer expressions over them: ``n``, ``n * 2``, ``ceildiv(n, 4)``, ``n % 8``.

Values are exact integers: a check fails if the value of its expression, or an intermediate value,
does not fit int64. Division rounds down, as in Python. Divisors are positive ints, so that a call
never divides by zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, NoReturn, TypeAlias, Union, overload

from typing_extensions import override

from ffi_builder.errors import SpecError
from ffi_builder.spec._check import integer, make_plain, one_of, plain, text
from ffi_builder.spec.dtypes import DTypeField, DTypeLike, one_of_dtypes
from ffi_builder.spec.param import Named
from ffi_builder.suggest import nearest

INT_RANGES: Final[dict[str, tuple[int, int]]] = {
    **{f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)},
}
"""The least and greatest value of each integer dtype."""

FLOAT_DTYPES: Final = ("float16", "bfloat16", "float32", "float64")
VAR_DTYPES: Final = (*INT_RANGES, "bool", *FLOAT_DTYPES, "handle")

OPERATORS: Final = {"+": 1, "-": 1, "*": 2, "//": 2, "%": 2, "ceildiv": 3}
"""The operators of expressions and their precedence; the greatest binds tightest."""


class Arithmetic:
    """The operators of symbols and expressions. Each makes an :class:`Expr`."""

    def __add__(self, other: Dim) -> Expr:
        return _binary("+", self, other)

    def __radd__(self, other: Dim) -> Expr:
        return _binary("+", other, self)

    def __sub__(self, other: Dim) -> Expr:
        return _binary("-", self, other)

    def __rsub__(self, other: Dim) -> Expr:
        return _binary("-", other, self)

    def __mul__(self, other: Dim) -> Expr:
        return _binary("*", self, other)

    def __rmul__(self, other: Dim) -> Expr:
        return _binary("*", other, self)

    def __floordiv__(self, divisor: int) -> Expr:
        return _binary("//", self, divisor)

    def __truediv__(self, divisor: object) -> NoReturn:
        raise SpecError(
            f"dimensions are ints, and {self} / {divisor} may not be one; use {self} // {divisor} "
            f"(rounded down) or ceildiv({self}, {divisor})"
        )

    def __mod__(self, divisor: int) -> Expr:
        return _binary("%", self, divisor)

    def __rfloordiv__(self, other: object) -> NoReturn:
        raise SpecError(f"divisor of '//': expected a positive int but got {self}")

    def __rmod__(self, other: object) -> NoReturn:
        raise SpecError(f"divisor of '%': expected a positive int but got {self}")

    def __neg__(self) -> NoReturn:
        raise SpecError("operator '-': expected two operands, as in 0 - n")

    def __pow__(self, other: object) -> NoReturn:
        raise SpecError("there is no operator '**'; write a product, as in n * n")

    def _compare(self, other: object) -> NoReturn:
        raise SpecError(
            f"{self} and {other} cannot be compared before a call; give limits to the Var, as in "
            f"Var('n', 'int64', min=1, max=8)"
        )

    __lt__ = __le__ = __gt__ = __ge__ = _compare


@dataclass(frozen=True, repr=False)
class Var(Named, Arithmetic):
    """A symbol: its first occurrence binds its value, and later ones must be equal.

    As a parameter it is a scalar argument; as a dimension or stride it has the tensor's value.

    Args:
        name: an identifier; one name means one symbol within a signature.
        dtype: int8 to int64, uint8 to uint64, bool, float16, bfloat16, float32, float64 or handle
            (an opaque pointer), or a framework's dtype such as ``np.float32``, which is kept as
            its name. The value must fit; floats are rounded to the nearest value, ties to even.
        divisibility: a positive int that the value must be a multiple of (integers only).
        min, max: inclusive bounds of the value (integers only).

    Raises:
        SpecError: an unknown dtype, a name that is no identifier, or bounds that no value meets.
    """

    dtype: DTypeField
    divisibility: int | None = field(default=None, kw_only=True)
    min: int | None = field(default=None, kw_only=True)
    max: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        what = self.label
        # A framework's dtype, such as np.float32, is kept as its name.
        object.__setattr__(self, "dtype", one_of_dtypes(what, self.dtype, VAR_DTYPES))
        if self.divisibility is not None:
            integer(f"{what}: divisibility", self.divisibility, at_least=1)
        for limit in ("divisibility", "min", "max"):
            value = getattr(self, limit)
            if value is None:
                continue
            if not self.is_integer:
                raise SpecError(
                    f"{what}: {limit} is for integer symbols, but its dtype is {self.dtype}"
                )
            if limit != "divisibility":
                int_of_dtype(f"{what}: {limit}", value, self.dtype)
        if self.min is not None and self.max is not None and self.min > self.max:
            raise SpecError(f"{what}: min {self.min} is greater than max {self.max}")
        if self.divisibility is not None:
            self._check_multiple(what, self.divisibility)

    def __hash__(self) -> int:
        # A hash of all fields would take most of the time of symbol lookups.
        return hash(self.name)

    def _check_multiple(self, what: str, divisor: int) -> None:
        low, high = INT_RANGES[self.dtype]
        low = low if self.min is None else self.min
        high = high if self.max is None else self.max
        if high // divisor * divisor < low:
            raise SpecError(f"{what}: no multiple of {divisor} is between {low} and {high}")

    @property
    def is_integer(self) -> bool:
        """Whether the symbol can be a dimension or stride: neither float, bool nor handle."""
        return self.dtype in INT_RANGES

    @override
    def type_text(self, device: str | None = None, *, outline: bool = False) -> str:
        return self.dtype

    def constraints(self) -> Iterator[str]:
        """Yield the limits of the value, as the ``where`` of a signature has them: ``n <= 8``."""
        if self.divisibility is not None:
            yield f"{self.name} % {self.divisibility} == 0"
        least = "" if self.min is None else f"{self.min} <= "
        greatest = "" if self.max is None else f" <= {self.max}"
        if least or greatest:
            yield f"{least}{self.name}{greatest}"

    def __str__(self) -> str:
        return self.name


def int_of_dtype(what: str, value: object, dtype: str) -> int:
    """Return ``value`` as a plain int, if it is one that fits an integer dtype."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise SpecError(f"{what}: expected an int but got {value!r} ({type(value).__name__})")
    low, high = INT_RANGES[dtype]
    if not low <= value <= high:
        raise SpecError(f"{what}: {value} does not fit {dtype} ({low} to {high})")
    return plain(value)


@dataclass(frozen=True, repr=False)
class Expr(Arithmetic):
    """``lhs op rhs``, an integer. The operators of Var and :func:`ceildiv` make it.

    Raises:
        SpecError: an unknown operator, an operand that is not an integer, no Var in it, a divisor
            that is not a positive int, or more than 127 operators, symbols and ints.
    """

    op: str
    lhs: Dim
    rhs: Dim

    def __post_init__(self) -> None:
        make_plain(self)
        one_of("expression operator", self.op, OPERATORS)
        for operand in (self.lhs, self.rhs):
            check_dim(f"operand of {self.op!r}", operand)
        if isinstance(self.lhs, int) and isinstance(self.rhs, int):
            raise SpecError(
                f"expression {self.lhs} {self.op} {self.rhs}: expected at least one Var; write the "
                f"int itself"
            )
        size = 1 + _size(self.lhs) + _size(self.rhs)
        if size > _LARGEST:
            raise SpecError(f"an expression of {size} parts is too large; at most {_LARGEST}")
        object.__setattr__(self, "_size", size)
        if self.op in ("//", "%", "ceildiv"):
            integer(f"divisor of {self.op!r}", self.rhs, at_least=1)

    def __str__(self) -> str:
        if self.op == "ceildiv":
            return f"ceildiv({self.lhs}, {self.rhs})"
        return self._infix(str)

    def __repr__(self) -> str:
        if self.op == "ceildiv":
            return f"ceildiv({self.lhs!r}, {self.rhs!r})"
        return self._infix(repr)

    def _infix(self, show: Callable[[object], str]) -> str:
        lhs, rhs = show(self.lhs), show(self.rhs)
        if isinstance(self.lhs, Expr) and OPERATORS[self.lhs.op] < OPERATORS[self.op]:
            lhs = f"({lhs})"
        # `a - (b + c)`, `a * (b // c)`: operators group from the left, so an operand on the right
        # keeps its brackets at equal precedence too.
        if isinstance(self.rhs, Expr) and OPERATORS[self.rhs.op] <= OPERATORS[self.op]:
            rhs = f"({rhs})"
        return f"{lhs} {self.op} {rhs}"


Dim: TypeAlias = Union[int, Var, Expr]
"""A dimension, a stride or an operand that is checked."""


_LARGEST: Final = 127
"""The most operators and operands in an expression: evaluating one with 64 leaves needs a stack of
at most 64 values."""


def _size(value: object) -> int:
    return int(getattr(value, "_size", 1))


def check_dim(what: str, value: object) -> Dim:
    """Return ``value`` if it can be a dimension: an int64, an integer Var or an expression."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, Var):
        if value.is_integer:
            return value
        raise SpecError(f"{what}: {value.name!r} is a {value.dtype} symbol, not an integer one")
    if isinstance(value, bool) or not isinstance(value, int):
        raise SpecError(
            f"{what}: expected an int, a Var or an expression of Vars but got {value!r} "
            f"({type(value).__name__}){_what_instead(value)}"
        )
    return integer(what, value)


def _what_instead(value: object) -> str:
    if isinstance(value, str) and value.isidentifier():
        return f"; Var({value!r}, 'int64') is a symbol of that name"
    if isinstance(value, (tuple, list)):
        return "; each entry is one dimension, so unpack it"
    return ""


def _binary(op: str, lhs: object, rhs: object) -> Expr:
    return Expr(op, check_dim(f"operand of {op!r}", lhs), check_dim(f"operand of {op!r}", rhs))


@overload
def ceildiv(value: int, divisor: int) -> int: ...
@overload
def ceildiv(value: Var | Expr, divisor: int) -> Expr: ...
def ceildiv(value: Dim, divisor: int) -> int | Expr:
    """Return ``value / divisor`` rounded up: an int if ``value`` is one, else an :class:`Expr`.

    Raises:
        SpecError: ``divisor`` is not a positive int, or ``value`` is not an integer.
    """
    if isinstance(value, int):
        return -(-integer("ceildiv", value) // integer("divisor of 'ceildiv'", divisor, at_least=1))
    return _binary("ceildiv", value, divisor)


def dims(names: str, dtype: DTypeLike = "int64") -> tuple[Var, ...]:
    """Return a Var for each name in ``"n k m"`` or ``"n, k, m"``.

    Raises:
        SpecError: no name, a name that is no identifier, or an unknown dtype.
    """
    if isinstance(dtype, str) and dtype.isidentifier() and nearest(dtype, VAR_DTYPES) is None:
        raise SpecError(
            f"dims: dtype: expected one of {', '.join(VAR_DTYPES)} but got {dtype!r}; several "
            f"names stand in one str, as in dims('n k m')"
        )
    found = text("dims", names).replace(",", " ").split()
    if not found:
        raise SpecError(f"dims: expected names such as 'n k m' but got {names!r}")
    return tuple(Var(name, dtype) for name in found)


def variables(value: object) -> Iterator[Var]:
    """Yield every Var in an expression, left to right, with repeats; none for an int or None."""
    match value:
        case Var():
            yield value
        case Expr(_, lhs, rhs):
            yield from variables(lhs)
            yield from variables(rhs)
        case _:
            return


def linear(value: Expr) -> tuple[int, Var, int] | None:
    """Return ``(a, x, b)`` if the expression is ``a * x + b`` with one Var x and a != 0, else None.

    Such an expression consists of ``+``, ``-`` and ``*``, and no product has x on both sides. If a
    or b does not fit int64, the result is None: the expression is not solved for x, but compared
    once x is known.
    """
    form = _linear_form(value)
    if form is None:
        return None
    scale, symbol, offset = form
    if symbol is None or scale == 0:
        return None
    if not all(-(2**63) <= number < 2**63 for number in (scale, offset)):
        return None
    return scale, symbol, offset


def _linear_form(value: Dim) -> tuple[int, Var | None, int] | None:
    if isinstance(value, int):
        return 0, None, value
    if isinstance(value, Var):
        return 1, value, 0
    lhs, rhs = _linear_form(value.lhs), _linear_form(value.rhs)
    if lhs is None or rhs is None or value.op not in ("+", "-", "*"):
        return None
    if lhs[1] is not None and rhs[1] is not None and lhs[1] != rhs[1]:
        return None
    symbol = lhs[1] or rhs[1]
    if value.op == "*":
        if lhs[1] is not None and rhs[1] is not None:
            return None
        scale = lhs[2] if lhs[1] is None else rhs[2]
        return (lhs[0] + rhs[0]) * scale, symbol, lhs[2] * rhs[2]
    sign = 1 if value.op == "+" else -1
    return lhs[0] + sign * rhs[0], symbol, lhs[2] + sign * rhs[2]
