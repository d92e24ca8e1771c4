"""Symbols, integer expressions over them, and conditions: ``n``, ``n * 2``, ``n * 2 <= m``.

Values are exact integers: a check fails if the value of its expression, or an intermediate value,
does not fit int64. Division rounds down, as in Python. Divisors are positive ints: a call never
divides by zero.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import field
from typing import Any, Final, NoReturn, TypeAlias, Union, cast

from typing_extensions import override

from ffi_builder.errors import SpecError
from ffi_builder.records import dataclass
from ffi_builder.spec import numbers
from ffi_builder.spec._check import identifier, integer, make_plain, one_of, text
from ffi_builder.spec.dtypes import DTypeField, one_of_dtypes
from ffi_builder.spec.param import Named

_LARGEST: Final = 127
"""The most operators and operands in an expression; evaluating its 64 leaves stores 64 values."""


class Arithmetic:
    """The operators of symbols and expressions.

    Arithmetic makes an :class:`Expr`, and ``<=``, ``<``, ``>=`` and ``>`` make a :class:`Relation`.
    ``==`` compares specs; :func:`~ffi_builder.spec.equal` makes a relation.
    """

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

    def __rfloordiv__(self, other: int) -> Expr:
        return _binary("//", other, self)

    def __rmod__(self, other: int) -> Expr:
        return _binary("%", other, self)

    def __neg__(self) -> NoReturn:
        raise SpecError("operator '-': expected two operands, as in 0 - n")

    def __pow__(self, other: object) -> NoReturn:
        raise SpecError("there is no operator '**'; write a product, as in n * n")

    def __le__(self, other: Dim) -> Relation:
        return _compare("<=", self, other)

    def __lt__(self, other: Dim) -> Relation:
        return _compare("<", self, other)

    def __ge__(self, other: Dim) -> Relation:
        return _compare(">=", self, other)

    def __gt__(self, other: Dim) -> Relation:
        return _compare(">", self, other)


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
        min: the least value (integers only).
        max: the greatest value (integers only).
        destroy: of a handle, the name of the function, in the same module, that destroys what it
            points to. A result is an object with ``close()`` for callers in Python; the function
            itself says so of its parameter.
        pointee: of a handle, what C calls that to which it points, such as ``struct sqlite3``. Such
            objects of another pointee are refused. A result of a known pointee is such an object.

    Raises:
        SpecError: an unknown dtype, a name that is no identifier, bounds that no value meets, or a
            ``destroy`` or ``pointee`` of something else than a handle.

    Examples:
        >>> from ffi_builder import spec, testing
        >>> batch = spec.Var("batch", "int32", min=1, max=64)
        >>> layer_norm = spec.Signature("layer_norm", [batch, spec.Var("eps", "float32")])
        >>> testing.check(layer_norm, 0, 1e-6)
        Traceback (most recent call last):
        ...
        ValueError: Mismatched batch on argument #0 when calling: `...`, expected at least 1
            (min of batch) but got 0
    """

    dtype: DTypeField
    divisibility: int | None = field(default=None, kw_only=True)
    min: int | None = field(default=None, kw_only=True)
    max: int | None = field(default=None, kw_only=True)
    destroy: str | None = field(default=None, kw_only=True, compare=False)
    pointee: str | None = field(default=None, kw_only=True, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        what = self.label
        object.__setattr__(self, "dtype", one_of_dtypes(what, self.dtype, numbers.VAR_DTYPES))
        if self.divisibility is not None:
            integer(f"{what}: divisibility", self.divisibility, at_least=1)
        for limit in ("divisibility", "min", "max"):
            value = getattr(self, limit)
            if value is None:
                continue
            if not self.is_integer:
                raise SpecError(
                    f"{what}: {limit} is for integer symbols, but its dtype is {self.dtype}; let "
                    "the kernel check it and return a status (CheckStatus)"
                )
            if limit != "divisibility":
                numbers.int_of_dtype(f"{what}: {limit}", value, self.dtype)
        for own, check in (("destroy", identifier), ("pointee", text)):
            if (given := getattr(self, own)) is not None:
                check(f"{what}: {own}", given)
                if self.dtype != "handle":
                    raise SpecError(f"{what}: {own} is for handles, but its dtype is {self.dtype}")
        if self.divisibility == 1:  # any int is a multiple of 1
            object.__setattr__(self, "divisibility", None)
        if self.min is not None and self.max is not None and self.min > self.max:
            raise SpecError(f"{what}: min {self.min} is greater than max {self.max}")
        if self.divisibility is not None:
            self._check_multiple(what, self.divisibility)

    def __hash__(self) -> int:
        # A hash of all fields would take most of the time of symbol lookups.
        return hash(self.name)

    def _check_multiple(self, what: str, divisor: int) -> None:
        low, high = numbers.INT_RANGES[self.dtype]
        low = low if self.min is None else self.min
        high = high if self.max is None else self.max
        if high // divisor * divisor < low:
            raise SpecError(f"{what}: no multiple of {divisor} is between {low} and {high}")

    @property
    def is_integer(self) -> bool:
        """Whether the symbol can be a dimension or stride: neither float, bool nor handle."""
        return self.dtype in numbers.INT_RANGES

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


@dataclass(frozen=True, repr=False)
class Expr(Arithmetic):
    """``lhs op rhs``, an integer.

    The operators of Var make expressions, as do :func:`~ffi_builder.spec.ceildiv`,
    :func:`~ffi_builder.spec.maximum` and :func:`~ffi_builder.spec.minimum`.

    Raises:
        SpecError: an unknown operator, an operand that is not an integer, no Var, a divisor
            that is not a positive int, or more than 127 operators, symbols and ints.

    Examples:
        >>> from ffi_builder import spec
        >>> n, k = spec.dims("n k")
        >>> size = n * 2 + k
        >>> print(size, size.op)
        n * 2 + k +
    """

    op: str
    lhs: Dim
    rhs: Dim

    def __post_init__(self) -> None:
        make_plain(self)
        one_of("expression operator", self.op, numbers.OPERATORS)
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
            if not isinstance(self.rhs, int):
                cure = f"write a number, or a quotient: {self.lhs} == q * {self.rhs}"
                what = f"divisor of {self.op!r}: expected a positive int but got {self.rhs}"
                raise SpecError(f"{what}, which may be 0; {cure}")
            integer(f"divisor of {self.op!r}", self.rhs, at_least=1)

    def __str__(self) -> str:
        if self.op in numbers.FUNCTIONS:
            return f"{self.op}({self.lhs}, {self.rhs})"
        return self._infix(str)

    def __repr__(self) -> str:
        if self.op in numbers.FUNCTIONS:
            return f"{numbers.FUNCTIONS[self.op]}({self.lhs!r}, {self.rhs!r})"
        return self._infix(repr)

    def _infix(self, show: Callable[[object], str]) -> str:
        lhs, rhs, precedence = show(self.lhs), show(self.rhs), numbers.OPERATORS
        if isinstance(self.lhs, Expr) and precedence[self.lhs.op] < precedence[self.op]:
            lhs = f"({lhs})"
        # `a - (b + c)`, `a * (b // c)`: operators group from the left, so an operand on the right
        # keeps its brackets at equal precedence too.
        if isinstance(self.rhs, Expr) and precedence[self.rhs.op] <= precedence[self.op]:
            rhs = f"({rhs})"
        return f"{lhs} {self.op} {rhs}"


Dim: TypeAlias = Union[int, Var, Expr]
"""A dimension, stride or operand, once it is checked.

Examples:
    >>> from ffi_builder import spec
    >>> n = spec.Var("n", "int64")
    >>> shape: list[spec.Dim] = [n, n * 2, 4]
"""


def _size(value: object) -> int:
    return int(getattr(value, "_size", 1))


Name: TypeAlias = Callable[[Any], str]
"""Returns how texts show a parameter: its name, or its path in a signature."""
_DEEPEST: Final = 32
"""The most levels of ``and``, ``or`` and ``not``. The parser reads texts that combine this many
levels with the deepest brackets of an expression."""
_PRECEDENCE: Final = {"or": 0, "and": 1, "not": 2}


def plain_name(param: Any) -> str:
    """Return the name of a parameter, for texts in which no signature gives its path."""
    return param.name


class Condition(ABC):
    """A condition of a call. Combine conditions with ``&``, ``|`` and ``~``.

    Conditions go into the ``where`` of a :class:`~ffi_builder.spec.Signature` or the ``when`` of a
    :class:`~ffi_builder.providers.Variant`.
    """

    def __and__(self, other: Condition) -> Condition:
        return combined("and", self, other)

    def __or__(self, other: Condition) -> Condition:
        return combined("or", self, other)

    def __invert__(self) -> Condition:
        return Combined("not", (self,))

    def __bool__(self) -> NoReturn:
        raise SpecError(
            f"{self} holds or not in a call, not before; {self._where_it_goes()}, one comparison "
            f"at a time. &, | and ~ stand for 'and', 'or' and 'not', spec.maximum and spec.minimum "
            f"for max and min"
        )

    def _where_it_goes(self) -> str:
        return "put it into where= of the Signature, or when= of a Variant"

    def __str__(self) -> str:
        return self.text(plain_name)

    def __repr__(self) -> str:
        return f"<{self}>"

    @abstractmethod
    def text(self, name: Name) -> str:
        """Return the condition as text; ``name`` names its parameters."""

    @abstractmethod
    def atoms(self) -> Iterator[Condition]:
        """Yield the comparisons of the condition, from left to right."""


@dataclass(frozen=True, repr=False)
class Combined(Condition):
    """Conditions joined by ``and`` or ``or``, or a single condition after ``not``."""

    op: str
    parts: tuple[Condition, ...]

    def __post_init__(self) -> None:
        depth = 1 + max(getattr(part, "_depth", 0) for part in self.parts)
        if depth > _DEEPEST:
            raise SpecError(
                f"conditions may be nested at most {_DEEPEST} deep, each 'not' and each change "
                f"between 'and' and 'or' being a level; make fewer levels"
            )
        object.__setattr__(self, "_depth", depth)

    @override
    def text(self, name: Name) -> str:
        parts = [self._part(part, name) for part in self.parts]
        return f"not {parts[0]}" if self.op == "not" else f" {self.op} ".join(parts)

    def _part(self, part: Condition, name: Name) -> str:
        """Return the text of a part, in brackets unless it binds tighter."""
        text = part.text(name)
        tighter = not isinstance(part, Combined) or _PRECEDENCE[part.op] > _PRECEDENCE[self.op]
        return text if tighter else f"({text})"

    @override
    def atoms(self) -> Iterator[Condition]:
        for part in self.parts:
            yield from part.atoms()


def combined(op: str, *conditions: Condition) -> Condition:
    """Return ``a and b and c``, or the same with ``or``.

    Raises:
        SpecError: an operand is not a condition, or the result has too many levels.
    """
    parts: list[Condition] = []
    for each in map(checked_condition, conditions):
        parts += each.parts if isinstance(each, Combined) and each.op == op else [each]
    return parts[0] if len(parts) == 1 else Combined(op, tuple(parts))


def checked_condition(given: object, what: str = "") -> Condition:
    """Return ``given`` if it is a condition.

    Args:
        given: the object to check.
        what: the beginning of the error message.

    Raises:
        SpecError: ``given`` is not a condition.
    """
    if isinstance(given, Condition):
        return given
    hint = "compare it with something, as in when.dtype(x) == 'float16'"
    if isinstance(given, bool):  # the value of `n % 16 == 0` for a Var `n`
        hint = (
            "== compares specs themselves, so write when.divisible(n, 16), when.value(n) == 0 or "
            "when.dtype(x) == 'float16'"
        )
    if isinstance(given, str):
        hint = "Signature.parse and when.parse read texts"
    raise SpecError(f"{what}expected a condition but got {given!r}; {hint}")


@dataclass(frozen=True, repr=False)
class Relation(Condition):
    """A comparison of symbols: ``n * 2 <= m``, ``n != m``, ``n in {64, 128}``.

    ``<=``, ``<``, ``>=`` and ``>`` between expressions make relations, as do
    :func:`~ffi_builder.spec.equal`, :func:`~ffi_builder.spec.not_equal` and
    :func:`~ffi_builder.spec.one_of`. An int stands on the right: ``8 <= n * 2`` is stored as
    ``n * 2 >= 8``.

    Args:
        op: ``<=``, ``<``, ``>=``, ``>``, ``==``, ``!=`` or ``in``.
        lhs: a Var, or an expression.
        rhs: an int, a Var or an expression; with ``in``, different ints, which are stored sorted.

    Raises:
        SpecError: no Var, an operand that is not an integer, or more than 127 operators,
            symbols and ints.

    Examples:
        >>> from ffi_builder import spec, testing
        >>> n, m = spec.dims("n m")
        >>> print(n * 2 <= m)
        n * 2 <= m
        >>> testing.check(spec.Signature("pad", [n, m], where=[n * 2 <= m]), 3, 5)
        Traceback (most recent call last):
        ...
        ValueError: Mismatched m on argument #1 when calling: `...`, expected n * 2 <= m with
            n = 3 from n, m = 5 from m but got 6 and 5
    """

    op: str
    lhs: Dim
    rhs: Dim | tuple[int, ...]

    def __post_init__(self) -> None:
        make_plain(self)
        one_of("operator of a relation", self.op, numbers.RELATIONS)
        check_dim(f"operand of {self.op!r}", self.lhs)
        if self.op == "in":
            object.__setattr__(self, "rhs", _members(self.lhs, self.rhs))
        else:
            rhs = self._right()
            if isinstance(self.lhs, int) and not isinstance(rhs, int):
                object.__setattr__(self, "rhs", self.lhs)
                object.__setattr__(self, "lhs", rhs)
                object.__setattr__(self, "op", numbers.MIRRORED[self.op])
        if isinstance(self.lhs, int):
            raise SpecError(f"relation {self}: expected at least one Var")
        size = 1 + _size(self.lhs)
        size += len(self.rhs) if isinstance(self.rhs, tuple) else _size(self.rhs)
        if size > _LARGEST:
            raise SpecError(f"a relation of {size} parts is too large; at most {_LARGEST}")

    def _right(self) -> Dim:
        """Return the right side; only beside a uint64 symbol may it be an int above int64."""
        what, is_uint64 = f"operand of {self.op!r}", getattr(self.lhs, "dtype", "") == "uint64"
        if is_uint64 and isinstance(self.rhs, int) and self.rhs >= 2**63:
            return numbers.int_of_dtype(what, self.rhs, "uint64")
        return check_dim(what, self.rhs)

    @override
    def atoms(self) -> Iterator[Condition]:
        yield self

    @override
    def text(self, name: Name) -> str:
        if isinstance(self.rhs, tuple):
            return f"{self.lhs} in {{{', '.join(map(str, self.rhs))}}}"
        return f"{self.lhs} {self.op} {self.rhs}"

    @override
    def _where_it_goes(self) -> str:
        if isinstance(self.lhs, Var) and isinstance(self.rhs, int):
            return "give limits to the Var, or put it into when= of a Variant"
        return super()._where_it_goes()

    def __repr__(self) -> str:
        if isinstance(self.rhs, tuple):
            return f"one_of({self.lhs!r}, {[*self.rhs]!r})"
        if self.op in ("==", "!="):
            function = "equal" if self.op == "==" else "not_equal"
            return f"{function}({self.lhs!r}, {self.rhs!r})"
        return f"{self.lhs!r} {self.op} {self.rhs!r}"


def _members(lhs: object, given: object) -> tuple[int, ...]:
    """Return the ints that the left side may be equal to, sorted."""
    what = f"values of {lhs}"
    if isinstance(given, str) or not isinstance(given, (Sequence, Set)):
        raise SpecError(f"{what}: expected a list of ints such as [64, 128] but got {given!r}")
    members = [integer(what, value) for value in cast("Iterable[object]", given)]
    if not members:
        raise SpecError(f"{what}: expected at least one int but got {given!r}")
    if twice := [value for value in members if members.count(value) > 1]:
        raise SpecError(f"{what}: {twice[0]} is given twice")
    return tuple(sorted(members))


def check_dim(what: str, value: object) -> Dim:
    """Return ``value`` if it can be a dimension: an int64, an integer Var or an expression."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, Var):
        if value.is_integer:
            return value
        hint = f"; {value} is not NULL where {value}.present" if value.dtype == "handle" else ""
        raise SpecError(
            f"{what}: {value.name!r} is a {value.dtype} symbol, not an integer one{hint}"
        )
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


def _binary(op: str, lhs: Any, rhs: Any) -> Expr:
    return Expr(op, lhs, rhs)


def _compare(op: str, lhs: object, rhs: object) -> Relation:
    return Relation(op, check_dim(f"operand of {op!r}", lhs), check_dim(f"operand of {op!r}", rhs))


def two_meanings(what: str, one: Var, where: str, other: Var, there: str) -> SpecError:
    """Return the error for two different symbols of one name, and where each of them is."""
    return SpecError(
        f"{what}: symbol {one.name!r} has two meanings: {one!r} {where} and {other!r} {there}; use "
        f"another name, or the same fields"
    )
