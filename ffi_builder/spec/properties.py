"""The properties of a call that conditions compare: a dtype, a rank, a layout, an address."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field as data_field
from dataclasses import replace
from functools import cached_property, partial
from itertools import count
from typing import Any, Final, NoReturn

from typing_extensions import override

from ffi_builder.errors import SpecError
from ffi_builder.records import dataclass
from ffi_builder.spec._check import integer
from ffi_builder.spec.composite import Optional, Param, required, with_paths
from ffi_builder.spec.dtypes import parse_dtype
from ffi_builder.spec.expr import Condition, Name, Relation, Var, plain_name
from ffi_builder.spec.params import Choice, DataPointer
from ffi_builder.spec.tensors.tensor import Tensor
from ffi_builder.suggest import did_you_mean

_OF_TENSORS: Final = ("dtype", "ndim", "data", "contiguous")
_RANKS: Final = 2**31
_MOST_ALIGNED: Final = 1 << 62


@dataclass(frozen=True)
class Property:
    """A property of a parameter, as an integer: a dtype is its ``DLDataType``, a bool 0 or 1.

    Args:
        param: the parameter: not an Optional, except for ``present``.
        field: ``present`` for an Optional, a handle or a DataPointer; ``dtype``, ``ndim``,
            ``contiguous`` or ``data`` (the address of the first element) for a Tensor. Empty for
            the value itself of a Choice, a bool symbol, a handle or a DataPointer.
        divisor: a power of two; the property is then the remainder of the address divided by it.
        path: where the parameter is in a signature; texts show it in place of the name.

    Raises:
        SpecError: the tensor takes its dtype from another one, which has the property already; or
            the divisor is not a power of two.
    """

    param: Any
    field: str = ""
    divisor: int | None = None
    path: str = data_field(default="", compare=False)

    def __post_init__(self) -> None:
        if self.field == "dtype" and (path := self.param.references.get("dtype")):
            raise SpecError(f"{self} is {path}.dtype; compare that one, which settles both")
        if self.divisor is not None:
            what = f"alignment of {replace(self, divisor=None)}"
            number = integer(what, self.divisor)
            if not 1 <= number <= _MOST_ALIGNED or number & (number - 1):
                words = f"expected a power of two, up to {_MOST_ALIGNED}, but got {number}"
                raise SpecError(f"{what}: {words}")

    @property
    def params(self) -> tuple[Param, ...]:
        """The parameters that the signature must have."""
        return (self.param,)

    @cached_property
    def known(self) -> Mapping[Any, int]:
        """The values of the property, with the integers that stand for them; empty for a number."""
        match self.field, self.param:
            case "dtype", tensor:
                return {dtype: parse_dtype(dtype).word for dtype in tensor.dtypes}
            case ("present" | "contiguous", _) | (_, Var(dtype="bool")):
                return {True: 1, False: 0}
            case _, Choice(choices=choices):
                return choices
            case _:
                return {}

    @property
    def is_flag(self) -> bool:
        """Whether the property is a bool; texts show ``x.present`` and ``not x.present``."""
        return True in self.known

    @property
    def is_address(self) -> bool:
        """Whether the property is an address; only remainders of addresses are compared."""
        return self.field == "data" or (not self.field and is_pointer(self.param))

    @property
    def read(self) -> Property:
        """The property that a call reads: the whole address for its remainder, or for not NULL."""
        is_not_null = self.field == "present" and is_pointer(self.param)
        return replace(self, divisor=None, field="" if is_not_null else self.field)

    @property
    def of_none(self) -> int:
        """The integer for an absent parameter; it is no dtype, rank or choice."""
        if isinstance(self.param, Choice):
            return next(i for i in count() if i not in self.param.choices.values())
        return -1 if self.field == "ndim" else 0

    def numbers(self, *, absent: bool) -> Collection[int]:
        """Return the integers that the property may be; ``absent``: the parameter may be None."""
        if self.divisor is not None:
            return range(self.divisor)
        none = [self.of_none] if absent else []
        if self.field == "ndim":
            ranks = range(-1 if absent else 0, _RANKS)
            return ranks if self.param.any_rank else {self.param.ndim, *none}
        is_certain = self.field == "contiguous" and self.param.order == "C" and not absent
        return {1} if is_certain else {*self.known.values(), *none}

    def within(self, what: str, named: Mapping[str, Sequence[tuple[str, Param]]]) -> Property:
        """Return this property of the signature's own parameter; see :meth:`Comparison.within`."""
        if not self.params:
            raise SpecError(f"{what}: only the when= of a Variant can tell {self}")
        paths = {
            path: each
            for path, param in named.get(self.param.name, ())
            for each in (param, required(param))
            if type(each) is type(self.param)
        }
        own = {path: each for path, each in paths.items() if each == self.param} or paths
        if len(own) != 1:
            there = f"could be each of {' and '.join(own)}" if own else "is no parameter"
            raise SpecError(f"{what}: {self.param.name!r} {there}")
        [(path, param)] = own.items()
        resolved = replace(self, param=param, path=path)
        values = resolved.numbers(absent=False)
        if len(values) == 1:
            words = (word for word, number in resolved.known.items() if number in values)
            value = resolved.shown(next(words, *values))
            raise SpecError(f"{what}: {resolved} is {value} in every call")
        return resolved

    def number(self, value: Any) -> int:
        """Return the integer that stands for a compared value."""
        return self.known.get(value, value)

    def text(self, name: Name) -> str:
        """Return the text of the property: ``x.dtype``."""
        path = self.param.name if isinstance(self.param, Var) else self.path or name(self.param)
        path += f".{self.field}" if self.field else ""
        return path if self.divisor is None else f"{path} % {self.divisor}"

    def __str__(self) -> str:
        return self.text(plain_name)

    def shown(self, value: object) -> str:
        """Return the text of a compared value."""
        return repr(value) if isinstance(self.param, Choice) else str(value)

    def checked(self, op: str, value: Any) -> Any:
        """Return the value to compare with, checked.

        Raises:
            SpecError: the property never has this value, or does not support the operator.
        """
        known = self.known
        if op not in ("==", "!=") and (known or op == "in"):
            raise SpecError(f"{self} has no order: expected == or != but got {op!r}")
        if self.is_address and self.divisor is None:
            null = "" if self.field else f"{self}.present, "
            raise SpecError(
                f"expected {null}{self} % 16 == 0, or another alignment, but got {self}"
            )
        if not known:
            number = integer(str(self), value)
            if self.divisor is not None and not 0 <= number < self.divisor:
                raise SpecError(
                    f"{self}: expected 0 to {self.divisor - 1}, a remainder, but got {number}"
                )
            return number
        given = value
        if self.field == "dtype":
            with suppress(SpecError):  # the value may not be a dtype
                word = parse_dtype(value).word
                given = next((dtype for dtype in known if known[dtype] == word), None)
        if isinstance(given, (str, bool)) and given in known:
            return given
        words = ", ".join(map(self.shown, known))
        words += ", which the tensor declares," if self.field == "dtype" else ""
        hint = "" if self.is_flag else did_you_mean(value, known)
        raise SpecError(f"{self}: expected one of {words} but got {value!r}{hint}")


@dataclass(frozen=True, repr=False)
class Comparison(Condition):
    """A comparison of a property: ``x.dtype == float16``, ``x.data % 16 == 0``, ``x.present``.

    Raises:
        SpecError: the property cannot be compared with the value.
    """

    of: Property
    op: str
    value: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", self.of.checked(self.op, self.value))

    @override
    def text(self, name: Name) -> str:
        text = self.of.text(name)
        return text if self.of.is_flag else f"{text} {self.op} {self.of.shown(self.value)}"

    @override
    def atoms(self) -> Iterator[Condition]:
        yield self

    def within(self, what: str, named: Mapping[str, Sequence[tuple[str, Param]]]) -> Comparison:
        """Return the same comparison of the signature's own parameter.

        ``named`` has the parameters of the signature by name, with their paths.

        Raises:
            SpecError: no parameter matches, or several do; or the property has the same value in
                all calls.
        """
        return replace(self, of=self.of.within(what, named))


def compared(op: str, left: Any, right: Any) -> Condition:
    """Return the condition ``left op right``, which compares numbers or a property.

    Raises:
        SpecError: the two cannot be compared.
    """
    if isinstance(left, Var) and left.dtype == "bool":
        left = Property(left)
    if not isinstance(left, Property):
        return Relation(op, left, right)
    made = Comparison(left, op, right)
    if not left.is_flag:
        return made
    yes = Comparison(left, "==", True)
    return yes if (op == "==") is made.value else ~yes


class Comparable:
    """A property of a call; comparing it makes a condition."""

    __hash__ = None  # pyright: ignore[reportAssignmentType] # == makes a condition

    def __init__(self, compared: object) -> None:
        self._compared = compared

    def __repr__(self) -> str:
        return f"<{self._compared}>"

    def __eq__(self, other: object) -> Condition:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._with("==", other)

    def __ne__(self, other: object) -> Condition:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._with("!=", other)

    def __lt__(self, other: object) -> Condition:
        return self._with("<", other)

    def __le__(self, other: object) -> Condition:
        return self._with("<=", other)

    def __gt__(self, other: object) -> Condition:
        return self._with(">", other)

    def __ge__(self, other: object) -> Condition:
        return self._with(">=", other)

    def _with(self, op: str, other: object) -> Condition:
        right = other._compared if isinstance(other, Comparable) else other
        return compared(op, self._compared, right)

    def __bool__(self) -> NoReturn:
        raise SpecError(f"{self!r} is a value of a call, not known before; compare it")


def is_pointer(param: object) -> bool:
    """Return whether a parameter is an address that may be NULL, unless a condition forbids it."""
    return isinstance(param, DataPointer) or (isinstance(param, Var) and param.dtype == "handle")


def properties(params: Sequence[Param]) -> dict[str, Callable[[], Property]]:
    """Return functions that make the properties of all parameters and elements, by text."""
    makers: dict[str, Callable[[], Property]] = {}
    for path, param in with_paths(params):
        if isinstance(param, Optional):
            makers[f"{path}.present"] = partial(Property, param, "present")
        match inner := required(param):
            case Tensor():
                makers |= {f"{path}.{word}": partial(Property, inner, word) for word in _OF_TENSORS}
            case DataPointer():
                makers[path] = partial(Property, inner)
                makers[f"{path}.present"] = partial(Property, inner, "present")
            case Choice():
                makers[path] = partial(Property, inner)
            case Var(dtype="bool"):
                makers[inner.name] = partial(Property, inner)
            case Var(dtype="handle") if inner is param:
                makers[f"{inner.name}.present"] = partial(Property, inner, "present")
            case _:
                pass
    return makers
