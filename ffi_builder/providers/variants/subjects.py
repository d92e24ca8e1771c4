"""The properties that conditions compare: a dtype, a rank, a layout, an address, a number."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from typing import ClassVar, Final

from typing_extensions import override

from ffi_builder import spec
from ffi_builder.errors import SpecError
from ffi_builder.ir import CheckingBuilder, Value
from ffi_builder.providers.context import CallContext
from ffi_builder.providers.variants.subject import (
    Domain,
    Name,
    Subject,
    int_of,
    name_of,
    plain_name,
    show_bool,
)
from ffi_builder.records import dataclass
from ffi_builder.suggest import did_you_mean

_NO_DTYPE: Final = 0
_NO_RANK: Final = -1
_BOOL: Final = frozenset((0, 1))
_MOST_DIMENSIONS: Final = 2**31 - 1
_WORD: Final = 2**64
_MOST_ALIGNED: Final = 1 << 62


@dataclass(frozen=True)
class _OfParam(Subject):
    """A property of one parameter."""

    param: spec.Param

    @property
    @override
    def parts(self) -> tuple[spec.Param, ...]:
        return (self.param,)


@dataclass(frozen=True)
class _OfTensor(_OfParam):
    """A property of a tensor, as 32 bits."""

    param: spec.Tensor

    @property
    @override
    def bits(self) -> int:
        return 32


@dataclass(frozen=True)
class DTypeOf(_OfTensor):
    """The dtype of a tensor; 0 if it is absent.

    Raises:
        SpecError: the tensor takes its dtype from another one, so that there would be two subjects
            for one property.
    """

    def __post_init__(self) -> None:
        path = self.param.references.get("dtype")
        if path is not None:
            raise SpecError(
                f"{self.param.name}.dtype is {path}.dtype; compare that one, which settles both"
            )

    @override
    def text(self, name: Name) -> str:
        return f"{name(self.param)}.dtype"

    @override
    def domain(self, *, absent: bool) -> Domain:
        return frozenset((*map(dtype_word, self.param.dtypes), *([_NO_DTYPE] if absent else ())))

    @override
    def number(self, given: object) -> int:
        with suppress(SpecError):  # the name may be no dtype
            word = dtype_word(given)
            if word in self.domain(absent=False):
                return word
        declared = self.param.dtypes
        raise SpecError(
            f"{self.text(plain_name)}: expected one of {', '.join(declared)}, which the tensor "
            f"declares, but got {given!r}{did_you_mean(given, declared)}"
        )

    @override
    def shown(self, number: int) -> str:
        return next(dtype for dtype in self.param.dtypes if dtype_word(dtype) == number)

    @override
    def emit(self, context: CallContext) -> Value:
        if self.param.storage_dtype is None:
            return context.dtype(self.param)
        # The tensor that came has the storage dtype. There is a single dtype for the kernel.
        b, word = context.builder, dtype_word(self.param.dtypes[0])
        return b.select(context.present(self.param), b.i32(word), b.i32(_NO_DTYPE))

    @override
    def show(self, b: CheckingBuilder, value: Value) -> Value:
        return name_of(b, value, 32, {dtype_word(dtype): dtype for dtype in self.param.dtypes})


def dtype_word(dtype: object) -> int:
    """Return a ``DLDataType`` as the integer that it is in memory."""
    found = spec.parse_dtype(dtype)
    return found.code | found.bits << 8 | found.lanes << 16


@dataclass(frozen=True)
class Ndim(_OfTensor):
    """The number of dimensions of a tensor; -1 if it is absent."""

    ordered: ClassVar[bool] = True

    @override
    def text(self, name: Name) -> str:
        return f"{name(self.param)}.ndim"

    @override
    def domain(self, *, absent: bool) -> Domain:
        if self.param.any_rank:
            return (_NO_RANK if absent else 0, _MOST_DIMENSIONS)
        return frozenset((self.param.ndim, *([_NO_RANK] if absent else ())))

    @override
    def emit(self, context: CallContext) -> Value:
        b, found = context.builder, context.ndim(self.param)
        if not context.may_be_absent(self.param):
            return found
        return b.select(context.present(self.param), found, b.i32(_NO_RANK))


@dataclass(frozen=True)
class Address(_OfParam):
    """The address of a tensor's first element, or of a DataPointer; 0 if it is absent."""

    param: spec.Tensor | spec.DataPointer

    @property
    @override
    def signed(self) -> bool:
        return False

    @override
    def text(self, name: Name) -> str:
        is_tensor = isinstance(self.param, spec.Tensor)
        return f"{name(self.param)}.data" if is_tensor else name(self.param)

    @override
    def check_divisor(self, divisor: object) -> int:
        number = int_of(f"alignment of {self.text(plain_name)}", divisor)
        if not 1 <= number <= _MOST_ALIGNED or number & (number - 1):
            raise SpecError(
                f"alignment of {self.text(plain_name)}: expected a power of two, up to "
                f"{_MOST_ALIGNED}, but got {divisor!r}"
            )
        return number

    @override
    def domain(self, *, absent: bool) -> Domain:
        return (0, _WORD - 1)

    @override
    def emit(self, context: CallContext) -> Value:
        is_tensor = isinstance(self.param, spec.Tensor)
        pointer = (context.address if is_tensor else context.scalar)(self.param)
        return context.builder.to_int(pointer)

    @override
    def describe(
        self, context: CallContext, name: Name, divisors: Sequence[int]
    ) -> list[tuple[str, list[Value]]]:
        b, largest = context.builder, max(divisors)
        rest = b.and_(self.emit(context), b.i64(largest - 1))
        return [(f"{self.remainder(largest, name)} = {{}}", [rest])]


@dataclass(frozen=True)
class _Flag(_OfParam):
    """A bool that is a property of one parameter."""

    @property
    @override
    def is_flag(self) -> bool:
        return True

    @property
    @override
    def bits(self) -> int:
        return 1

    @override
    def domain(self, *, absent: bool) -> Domain:
        return _BOOL

    @override
    def show(self, b: CheckingBuilder, value: Value) -> Value:
        return show_bool(b, value)


@dataclass(frozen=True)
class Present(_Flag):
    """Whether an Optional is there."""

    param: spec.Optional

    @override
    def text(self, name: Name) -> str:
        return f"{name(self.param)}.present"

    @override
    def emit(self, context: CallContext) -> Value:
        return context.present(self.param)


@dataclass(frozen=True)
class Contiguous(_Flag):
    """Whether a tensor is there and row-major contiguous."""

    param: spec.Tensor

    @override
    def text(self, name: Name) -> str:
        return f"{name(self.param)}.contiguous"

    @override
    def domain(self, *, absent: bool) -> Domain:
        always = self.param.order == "C" and not absent
        return frozenset((1,)) if always else _BOOL

    @override
    def emit(self, context: CallContext) -> Value:
        return context.is_contiguous(self.param)


@dataclass(frozen=True)
class Chosen(_OfParam):
    """The int that a Choice stands for; if it is absent, one that no choice stands for."""

    param: spec.Choice

    @property
    def _nothing(self) -> int:
        return next(i for i in count() if i not in self.param.choices.values())

    @override
    def text(self, name: Name) -> str:
        return name(self.param)

    @override
    def domain(self, *, absent: bool) -> Domain:
        values = self.param.choices.values()
        return frozenset((*values, *([self._nothing] if absent else ())))

    @override
    def number(self, given: object) -> int:
        choices = self.param.choices
        if not isinstance(given, str) or given not in choices:
            raise SpecError(
                f"{self.param.name}: expected one of {', '.join(map(repr, choices))} but got "
                f"{given!r}{did_you_mean(given, choices)}"
            )
        return choices[given]

    @override
    def shown(self, number: int) -> str:
        return " or ".join(f"'{c}'" for c, value in self.param.choices.items() if value == number)

    @override
    def emit(self, context: CallContext) -> Value:
        b, value = context.builder, context.scalar(self.param)
        if value.type != b.types.i64:
            extend = b.zext if self.param.dtype.startswith("u") else b.sext
            value = extend(value, b.types.i64)
        if not context.may_be_absent(self.param):
            return value
        return b.select(context.present(self.param), value, b.i64(self._nothing))

    @override
    def show(self, b: CheckingBuilder, value: Value) -> Value:
        numbers = self.param.choices.values()
        return name_of(b, value, 64, {number: self.shown(number) for number in numbers})


@dataclass(frozen=True)
class Number(Subject):
    """An integer or bool symbol, or an expression, which may overflow."""

    ordered: ClassVar[bool] = True

    dim: spec.Var | spec.Expr

    @property
    @override
    def parts(self) -> tuple[spec.Param, ...]:
        return tuple(dict.fromkeys(spec.variables(self.dim)))

    @property
    @override
    def is_flag(self) -> bool:
        return self._dtype == "bool"

    @property
    def _dtype(self) -> str:
        return self.dim.dtype if isinstance(self.dim, spec.Var) else "int64"

    @property
    @override
    def signed(self) -> bool:
        return not self._dtype.startswith("u")

    @property
    @override
    def may_fail(self) -> bool:
        return isinstance(self.dim, spec.Expr)

    @property
    @override
    def bits(self) -> int:
        return 1 if self.is_flag else int(self._dtype.lstrip("uint"))

    @override
    def text(self, name: Name) -> str:
        return str(self.dim)

    @override
    def remainder(self, divisor: int, name: Name) -> str:
        return str(spec.Expr("%", self.dim, divisor))

    @override
    def check_divisor(self, divisor: object) -> int:
        number = int_of(f"divisor of {self.dim}", divisor)
        spec.Expr("%", self.dim, number)  # which checks both
        return number

    @property
    @override
    def remainder_of(self) -> tuple[Subject, int] | None:
        match self.dim:
            case spec.Expr("%", (spec.Var() | spec.Expr()) as dividend, int(divisor)):
                return Number(dividend), divisor
            case _:
                return None

    @override
    def domain(self, *, absent: bool) -> Domain:
        # Limits of a Var do not count: a stride of a dimension of size 1 may exceed them.
        return _BOOL if self.is_flag else spec.INT_RANGES[self._dtype]

    @override
    def number(self, given: object) -> int:
        if self.is_flag:
            if not isinstance(given, bool):
                raise SpecError(f"{self.dim}: expected True or False but got {given!r}")
            return int(given)
        return int_of(str(self.dim), given)

    @override
    def emit(self, context: CallContext) -> Value:
        return context.value(self.dim)

    @override
    def describe(
        self, context: CallContext, name: Name, divisors: Sequence[int]
    ) -> list[tuple[str, list[Value]]]:
        """Show the symbols: computing an expression may raise an error of its own."""
        b = context.builder
        found: list[tuple[str, list[Value]]] = []
        for var in dict.fromkeys(spec.variables(self.dim)):
            value = context.value(var)
            if var.dtype == "bool":
                value = show_bool(b, value)
            elif var.dtype.startswith("u") and value.type != b.types.i64:
                value = b.zext(value, b.types.i64)
            found.append((f"{var.name} = {{}}", [value]))
        return found
