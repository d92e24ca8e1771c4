"""Steps that concern symbols, interpreted."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias, Union

from typing_extensions import assert_never

from ffi_builder import spec
from ffi_builder.plan import Place
from ffi_builder.plan import steps as s
from ffi_builder.plan.messages import BINDING
from ffi_builder.testing.evaluate import evaluate
from ffi_builder.testing.message import Mismatch, Scalar, require, same, show
from ffi_builder.testing.reading import Found

BoundStep: TypeAlias = Union[s.AtLeast, s.AtMost, s.Divisible]
SymbolStep: TypeAlias = Union[BoundStep, s.Bind, s.EqualSymbol, s.BindOrEqual, s.Solve, s.EqualExpr]


@dataclass
class Bound:
    """A symbol's value, where it was bound, and whether for certain."""

    value: Scalar
    place: Place
    certain: bool = True


@dataclass
class Symbols:
    """The symbols that are bound so far."""

    found: Found
    bound: dict[spec.Var, Bound] = field(default_factory=dict[spec.Var, Bound])

    def values(self, signature: spec.Signature) -> dict[str, Scalar]:
        """The value of every symbol by name, 0 where nothing has bound it."""
        entries = (entry for _, entry in spec.occurrences(signature.params))
        return {
            var.name: self._python_value(var) for entry in entries for var in spec.variables(entry)
        }

    def take(self, step: SymbolStep) -> None:
        """Bind, compare or solve.

        Raises:
            Mismatch: a value is not right.
        """
        match step:
            case s.AtLeast() | s.AtMost() | s.Divisible():
                self._check_bounds(step)
            case s.Bind(place, symbol):
                self.bound[symbol] = Bound(self.found.value(place), place)
            case s.EqualSymbol(place, symbol, free):
                if not (free and self.found.is_free(place)):
                    self._compare(step, symbol)
            case s.BindOrEqual():
                self._bind_or_equal(step)
            case s.Solve():
                self._solve(step)
            case s.EqualExpr():
                self._equal_expr(step)
            case _:
                assert_never(step)

    def value(self, var: spec.Var) -> Scalar:
        """As it was bound; 0 where nothing has bound it."""
        return self.bound[var].value if var in self.bound else 0

    def _python_value(self, var: spec.Var) -> Scalar:
        value = self.value(var)
        if var.dtype == "bool":
            return bool(value)
        return float(value) if var.dtype in spec.FLOAT_DTYPES else value

    def _check_bounds(self, step: BoundStep) -> None:
        if step.free and self.found.is_free(step.place):
            return
        value, symbol = self.found.value(step.place), step.symbol
        match step:
            case s.AtLeast():
                bound = symbol.min
                fine = bound is None or value >= bound
            case s.AtMost():
                bound = symbol.max
                fine = bound is None or value <= bound
            case s.Divisible():
                bound = symbol.divisibility
                fine = bound is None or value % bound == 0
        require(fine, step, expected=str(bound), symbol=symbol.name, got=show(value))

    def _compare(self, step: s.EqualSymbol | s.BindOrEqual, symbol: spec.Var) -> None:
        value, bound = self.found.value(step.place), self.bound[symbol]
        require(
            same(value, bound.value),
            step,
            expected=show(bound.value, symbol.dtype),
            got=show(value, symbol.dtype),
            symbol=symbol.name,
            origin=str(bound.place),
        )

    def _bind_or_equal(self, step: s.BindOrEqual) -> None:
        free = step.free and self.found.is_free(step.place)
        bound = self.bound.get(step.symbol)
        if bound is not None and bound.certain:
            if not free:
                self._compare(step, step.symbol)
            return
        if bound is None or not free:
            value = self.found.value(step.place)
            self.bound[step.symbol] = Bound(value, step.place, certain=not free)

    def _solve(self, step: s.Solve) -> None:
        difference = int(self.found.value(step.place)) - step.offset
        solution = Fraction(difference, step.scale)
        # The wrapper computes in int64.
        fine = (
            -(2**63) <= difference < 2**63
            and solution.denominator == 1
            and -(2**63) <= solution < 2**63
        )
        free = step.free and self.found.is_free(step.place)
        require(
            fine or free,
            step,
            text=str(step.expr),
            symbol=step.symbol.name,
            got=show(self.found.value(step.place)),
        )
        self.found.values[step.solved] = int(solution) if fine else 0

    def _equal_expr(self, step: s.EqualExpr) -> None:
        symbols = dict.fromkeys(spec.variables(step.expr))
        if any(var not in self.bound for var in symbols):  # because an Optional is absent
            return
        if step.free and self.found.is_free(step.place):
            return
        bindings = ", ".join(
            BINDING.format(
                symbol=var.name,
                bound=show(self.bound[var].value, var.dtype),
                origin=self.bound[var].place,
            )
            for var in symbols
        )
        value = self.found.value(step.place)
        shown = {"text": str(step.expr), "bindings": bindings, "got": show(value)}
        expected = evaluate(step.expr, lambda var: self.bound[var].value)
        if expected is None:
            raise Mismatch(step.place, step.overflow, shown)
        require(value == expected, step, expected=str(expected), **shown)
