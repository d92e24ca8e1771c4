"""Values and symbols: what binds a symbol, and what each occurrence is compared with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ffi_builder.spec import (
    Dim,
    List,
    Param,
    Shape,
    Struct,
    Tensor,
    TensorList,
    TupleParam,
    Var,
    Variant,
    required,
)
from ffi_builder.spec.expr import Expr, Relation
from ffi_builder.spec.functions import variables
from ffi_builder.spec.numbers import INT_RANGES
from tests.oracle.words import INT64_MAX, Place, Value, show_int, show_value


@dataclass(frozen=True)
class Where:
    """The place of a value, and for a stride what is particular to it."""

    place: Place
    in_strides: bool = False
    free: bool = False
    layout: str = ""
    """`` (shape=…, strides=…)``, which strides show where the value is not equal."""

    def differs(self, expected: str, value: int) -> None:
        """Make the error for a value that differs from an int or expression."""
        self.place.wrong_value(expected, show_int(value) + self.layout)


@dataclass(frozen=True)
class Binding:
    """The value of a symbol.

    It is provisional unless ``certain``. It is ``firm`` if an occurrence other than an unconstrained
    stride gave the value.
    """

    value: Value
    place: str
    certain: bool
    firm: bool


class OverflowInExpression(Exception):
    """The value of an expression, or of a part of one, does not fit int64."""


@dataclass
class Symbols:
    """The state of a signature's symbols while one call is checked."""

    params: Sequence[Param]
    bindings: dict[str, Binding] = field(default_factory=dict[str, Binding])
    waiting: list[tuple[Expr, int, Where]] = field(default_factory=list[tuple[Expr, int, Where]])

    def __post_init__(self) -> None:
        entries = list(entries_of(self.params))
        self.occurrences = Counter(
            name for entry in entries for name in {var.name for var in variables(entry)}
        )
        self.stands_alone = {entry.name for entry in entries if isinstance(entry, Var)}
        self.variables = {var.name: var for entry in entries for var in variables(entry)}
        self.in_each = set(names_in_each(self.params))
        """The symbols with a value for each element of a list."""
        self.of_elements: dict[str, list[Binding]] = {}
        """Bindings of symbols in the elements of the first list that has them in its ``each``."""
        self.of_length: dict[int | Var, set[str]] = {}
        """The symbols that lists of this length bind, if they have elements."""

    @property
    def values(self) -> dict[str, Value]:
        """Every symbol's value; 0 if nothing has bound it."""
        return {
            name: self.bindings[name].value if name in self.bindings else zero(var)
            for name, var in self.variables.items()
            if name not in self.in_each
        }

    def certain(self) -> set[str]:
        """The symbols whose binding is not provisional."""
        return {name for name, binding in self.bindings.items() if binding.certain}

    def leave_optional(self, certain_before: Collection[str]) -> None:
        """Make everything provisional again that was bound within an Optional."""
        for name, binding in self.bindings.items():
            if name not in certain_before:
                self.bindings[name] = replace(binding, certain=False)

    def enter_list(self, param: TensorList) -> None:
        """Make certain what lists of this length have bound, which have elements if this has."""
        if param.length is not None:
            for name in self.of_length.get(param.length, ()):
                if name in self.bindings:
                    self.bindings[name] = replace(self.bindings[name], certain=True)

    def enter_element(self, param: TensorList, index: int) -> None:
        """Bind the symbols of each element that an earlier list has bound, and forget others."""
        for var in param.each:
            self.bindings.pop(var.name, None)
            bound = self.of_elements.get(var.name, ())
            if index < len(bound):
                self.bindings[var.name] = bound[index]

    def leave_element(self, param: TensorList, index: int) -> None:
        """Note what the symbols of each element are bound to here."""
        for var in param.each:
            bound = self.of_elements.setdefault(var.name, [])
            if index == len(bound):
                bound.append(self.bindings[var.name])

    def leave_list(
        self, param: TensorList, certain_before: Collection[str], *, inside: bool
    ) -> None:
        """Make provisional what the list has bound, unless it is never empty.

        ``inside`` says whether the list is in an Optional.
        """
        for var in param.each:
            self.bindings.pop(var.name, None)
        length = param.length
        certain = length.min or 0 if isinstance(length, Var) else length or 0
        if certain > 0:
            return
        found = self.certain() - set(certain_before)
        if length is not None and not inside:
            self.of_length.setdefault(length, set()).update(found)
        self.leave_optional(certain_before)

    def check_entry(self, entry: Dim | None, value: int, where: Where) -> None:
        """Check an entry of a shape or strides, or a device id (*Values* of docs/checks.md)."""
        match entry:
            case None:
                pass
            case int():
                if not where.free and value != entry:
                    where.differs(show_int(entry), value)
            case Var():
                self.check_integer(entry, value, where)
            case Expr():
                self.check_expression(entry, value, where)

    def check_integer(self, var: Var, value: int, where: Where) -> None:
        """Check one occurrence of an integer symbol."""
        check_fits(var.dtype, value, where.place)
        if not where.free:
            check_bounds(var, value, where.place)
        self.meet(var, value, where)

    def meet(self, var: Var, value: Value, where: Where) -> None:
        """Bind the symbol to a value that has passed the symbol's own checks, or compare them."""
        place = where.place.path
        before = self.bindings.get(var.name)
        if before is None:
            certain = not where.in_strides or self.occurrences[var.name] == 1
            self.bindings[var.name] = Binding(value, place, certain, firm=not where.free)
        elif where.free:
            pass
        elif not before.firm:
            self.bindings[var.name] = Binding(value, place, not where.in_strides, firm=True)
        else:
            if not same(value, before.value):
                expected = f"{show_value(var, before.value)} ({var} = {before.place})"
                where.place.wrong_value(expected, show_value(var, value) + where.layout)
            certain = before.certain or not where.in_strides
            self.bindings[var.name] = replace(before, certain=certain)

    def check_expression(self, expression: Expr, value: int, where: Where) -> None:
        if all(self.is_certain(var) for var in variables(expression)):
            self.check_equal(expression, value, where)
            return
        form = linear_form(expression)
        if form is not None and form[1].name not in self.stands_alone:
            self.solve(expression, form, value, where)
        else:
            self.waiting.append((expression, value, where))

    def is_certain(self, var: Var) -> bool:
        binding = self.bindings.get(var.name)
        return binding is not None and binding.certain

    def check_equal(self, expression: Expr, value: int, where: Where) -> None:
        """Compare a value with an expression whose symbols are all bound."""
        if where.free:
            return
        known = self.show_known(expression)
        try:
            expected = self.evaluate(expression)
        except OverflowInExpression:
            where.place.wrong_value(f"{expression} within int64, with {known}", show_int(value))
        if value != expected:
            where.differs(f"{expected} ({expression} with {known})", value)

    def show_known(self, expression: Var | Expr | Relation) -> str:
        """Return ``n = 3 from A.shape[0], m = 4 from A.shape[1]``."""
        known = [(var, self.bindings[var.name]) for var in dict.fromkeys(variables(expression))]
        return ", ".join(
            f"{var} = {show_value(var, binding.value)} from {binding.place}"
            for var, binding in known
        )

    def evaluate(self, value: Dim) -> int:
        match value:
            case int():
                return value
            case Var():
                result = int(self.bindings[value.name].value)
            case Expr(op, lhs, rhs):
                result = apply(op, self.evaluate(lhs), self.evaluate(rhs))
        if not fits("int64", result):
            raise OverflowInExpression
        return result

    def solve(self, expression: Expr, form: tuple[int, Var, int], value: int, where: Where) -> None:
        """Solve ``a * x + b`` = value for x, or fail if there is no solution."""
        scale, var, offset = form
        difference = value - offset
        solution, rest = divmod(difference, scale)
        if rest or not fits("int64", difference) or not fits("int64", solution):
            if not where.free:
                expected = f"a value of {expression} for an integer {var}"
                where.place.wrong_value(expected, show_int(value))
            solution = 0
        place = Place(where.place.argument, f"{var} in {where.place.path}")
        self.check_integer(var, solution, replace(where, place=place))

    def check_waiting(self) -> None:
        """Check what had to wait for a later argument, if all of its symbols are bound now."""
        for expression, value, where in self.waiting:
            if all(var.name in self.bindings for var in variables(expression)):
                self.check_equal(expression, value, where)


def entries_of(params: Sequence[Param]) -> Iterator[Dim | None]:
    """Yield everything that may mention a symbol: scalars, device ids, dimensions, strides, entries."""
    for param in params:
        match required(param):
            case Var() as var:
                yield var
            case Tensor() as tensor:
                yield tensor.device_id
                yield from tensor.dims
                yield from tensor.stride_entries or ()
            case TensorList(tensor=tensor) as tensors:
                yield tensors.length
                entries = (tensor.device_id, *tensor.dims, *(tensor.stride_entries or ()))
                yield from entries
                # Symbols that all elements share have several occurrences.
                yield from (e for e in entries if not set(variables(e)) <= set(tensors.each))
            case List(length=length):
                yield length
            case Shape(shape=shape):
                yield from shape
            case TupleParam(params=inner) | Struct(fields=inner):
                yield from entries_of(inner)
            case Variant(params=inner):
                yield from entries_of([each for each in inner if isinstance(each, Tensor)])
            case _:
                pass


def names_in_each(params: Sequence[Param]) -> Iterator[str]:
    """Yield the symbols in the ``each`` of a list."""
    for param in params:
        match required(param):
            case TensorList(each=each):
                yield from (var.name for var in each)
            case TupleParam(params=inner) | Struct(fields=inner):
                yield from names_in_each(inner)
            case _:
                pass


def zero(var: Var) -> Value:
    """Return the value of a symbol that nothing has bound."""
    if var.dtype == "bool":
        return False
    return 0 if var.is_integer or var.dtype == "handle" else 0.0


def fits(dtype: str, value: int) -> bool:
    low, high = INT_RANGES[dtype]
    return low <= value <= high


def check_fits(dtype: str, value: int, place: Place) -> None:
    if not fits(dtype, value):
        low, high = INT_RANGES[dtype]
        place.wrong_value(f"a value that fits {dtype} ({low} to {high})", show_int(value))


def check_bounds(var: Var, value: int, place: Place) -> None:
    """Check minimum, maximum and divisibility of an integer symbol."""
    if var.min is not None and value < var.min:
        place.wrong_value(f"at least {var.min} (min of {var})", show_int(value))
    if var.max is not None and value > var.max:
        place.wrong_value(f"at most {var.max} (max of {var})", show_int(value))
    if var.divisibility is not None and value % var.divisibility:
        expected = f"a multiple of {var.divisibility} (divisibility of {var})"
        place.wrong_value(expected, show_int(value))


def check_not_negative(place: Place, value: int) -> None:
    if value < 0:
        place.wrong_value("a non-negative value", show_int(value))


def check_packable(place: Place, value: int, packing: int) -> None:
    """Check that the value times the elements in a stored one fits, if there are several."""
    limit = INT64_MAX // packing
    if packing > 1 and abs(value) > limit:
        expected = f"at most {limit} in magnitude, as elements are packed"
        place.wrong_value(expected, show_int(value))


def same(left: Value, right: Value) -> bool:
    """Return whether two values are equal; NaN equals NaN."""
    return left == right or (left != left and right != right)


def apply(op: str, lhs: int, rhs: int) -> int:
    match op:
        case "+":
            return lhs + rhs
        case "-":
            return lhs - rhs
        case "*":
            return lhs * rhs
        case "//":
            return lhs // rhs
        case "%":
            return lhs % rhs
        case "max":
            return max(lhs, rhs)
        case "min":
            return min(lhs, rhs)
        case _:
            assert op == "ceildiv"
            return -(-lhs // rhs)


def linear_form(expression: Expr) -> tuple[int, Var, int] | None:
    """Return ``(a, x, b)`` of a linear expression ``a * x + b``; None for others."""
    symbols = set(variables(expression))
    if len(symbols) != 1 or not _may_be_linear(expression):
        return None
    offset = _exactly(expression, 0)
    scale = _exactly(expression, 1) - offset
    if scale == 0 or not fits("int64", scale) or not fits("int64", offset):
        return None
    return scale, symbols.pop(), offset


def _may_be_linear(value: Dim) -> bool:
    """Return whether it has only sums, differences, and products with a constant side."""
    if not isinstance(value, Expr):
        return True
    if value.op not in ("+", "-", "*"):
        return False
    if value.op == "*" and [*variables(value.lhs)] and [*variables(value.rhs)]:
        return False
    return _may_be_linear(value.lhs) and _may_be_linear(value.rhs)


def _exactly(value: Dim, symbol: int) -> int:
    """Evaluate an expression of one symbol, without overflow."""
    match value:
        case int():
            return value
        case Var():
            return symbol
        case Expr(op, lhs, rhs):
            return apply(op, _exactly(lhs, symbol), _exactly(rhs, symbol))
