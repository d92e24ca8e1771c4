"""Steps that bind symbols, and compare with symbols, expressions and relations of them."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, TypeAlias, Union

from typing_extensions import override

from ffi_builder import spec
from ffi_builder.plan.messages import Words, value_error
from ffi_builder.plan.path import Place
from ffi_builder.plan.step import STRIDE_GOT, Check, Instruction, Operand, Texts
from ffi_builder.records import dataclass

__all__ = [
    "Bind",
    "BindOrEqual",
    "CheckRelation",
    "EqualExpr",
    "EqualSymbol",
    "Solve",
    "SymbolCheck",
]


@dataclass(frozen=True)
class Bind(Instruction):
    """Bind the symbol to the value. This cannot fail."""

    symbol: spec.Var
    op = "BIND"

    @property
    @override
    def operands(self) -> tuple[Operand, ...]:
        return (self.symbol,)

    @override
    def row(self, origins: Texts) -> tuple[str, str, str]:
        return self.subject, f"binds {self.symbol}", ""


@dataclass(frozen=True)
class _CompareSymbol(Instruction):
    """A comparison with the value of a symbol."""

    symbol: spec.Var
    free: bool = False
    plain: ClassVar = value_error("{expected} ({symbol} = {origin})")
    of_stride: ClassVar = value_error("{expected} ({symbol} = {origin})", STRIDE_GOT)

    @property
    @override
    def error(self) -> Words:
        return self.of_stride if self.free else self.plain

    @property
    @override
    def operands(self) -> tuple[Operand, ...]:
        return self.symbol, self.error

    @override
    def placeholders(self, origins: Texts) -> Texts:
        name = self.symbol.name
        return {"expected": f"{{{name}}}", "symbol": name, "origin": _origin(name, origins)}


@dataclass(frozen=True)
class EqualSymbol(_CompareSymbol):
    """The value equals that of a symbol which is certainly bound."""

    op = "EQSYM"


@dataclass(frozen=True)
class BindOrEqual(_CompareSymbol):
    """Bind the symbol to the value, or compare them if it is bound already.

    A free stride (only possible with ``free``) binds an unbound symbol provisionally; the first
    occurrence that is not free replaces that value. Two occurrences that are not free must be
    equal.
    """

    op = "BINDEQ"

    @override
    def row(self, origins: Texts) -> tuple[str, str, str]:
        if self.symbol.name not in origins:
            return self.subject, f"binds {self.symbol}, for now", ""
        return super().row(origins)


@dataclass(frozen=True)
class Solve(Instruction):
    """The value is ``scale * symbol + offset``; later steps at ``solved`` see the symbol's value.

    If the stride is free and the equation has no solution, the symbol is 0.
    """

    symbol: spec.Var
    expr: spec.Expr
    scale: int
    offset: int
    free: bool = False
    words = value_error("a value of {text} for an integer {symbol}")
    op = "SOLVE"

    @property
    @override
    def operands(self) -> tuple[Operand, ...]:
        return self.symbol, self.scale, self.offset, str(self.expr)

    @property
    def solved(self) -> Place:
        """The place at which later steps see the value of the symbol."""
        return replace(self.place, solved=self.symbol.name)

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"text": str(self.expr), "symbol": self.symbol.name}


@dataclass(frozen=True)
class EqualExpr(Check):
    """The value equals that of the expression, if all symbols of the expression are bound.

    A late step may have a symbol that is bound only within an absent Optional; it then passes.
    """

    expr: spec.Expr
    free: bool = False
    plain: ClassVar = value_error("{expected} ({text} with {bindings})")
    of_stride: ClassVar = value_error("{expected} ({text} with {bindings})", STRIDE_GOT)
    overflow: ClassVar = value_error("{text} within int64, with {bindings}")

    @property
    @override
    def error(self) -> Words:
        return self.of_stride if self.free else self.plain

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"expected": f"{{{self.expr}}}", **_evaluated(self.expr, origins)}


@dataclass(frozen=True)
class CheckRelation(Check):
    """The relation holds, if all of its symbols are bound; no part of it exceeds int64.

    ``place`` is where ``symbol`` is bound first, the one of its symbols for which that comes last.
    Errors show the place where that symbol was bound in the call.
    """

    relation: spec.Relation
    symbol: spec.Var
    plain: ClassVar = value_error("{text} with {bindings}")
    of_two: ClassVar = value_error("{text} with {bindings}", "{got} and {expected}")
    overflow: ClassVar = value_error("{text} with {bindings}", "a value beyond int64")

    @property
    @override
    def error(self) -> Words:
        symbolic = isinstance(self.relation.rhs, (spec.Var, spec.Expr))
        return self.of_two if symbolic else self.plain

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return _evaluated(self.relation, origins)


def _evaluated(value: spec.Expr | spec.Relation, origins: Texts) -> Texts:
    """The text of an expression or relation, and where its symbols are bound."""
    names = dict.fromkeys(var.name for var in spec.variables(value))
    bindings = (f"{name} = {{{name}}} from {_origin(name, origins)}" for name in names)
    return {"text": str(value), "bindings": ", ".join(bindings)}


def _origin(name: str, origins: Texts) -> str:
    return origins.get(name, "where it is bound")


SymbolCheck: TypeAlias = Union[
    Bind,
    EqualSymbol,
    BindOrEqual,
    Solve,
    EqualExpr,
    CheckRelation,
]
