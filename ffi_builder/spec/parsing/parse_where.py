"""Parses what follows ``where`` in a signature: relations, conditions, limits, ``no_overlap``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from typing_extensions import override

from ffi_builder.spec._check import one_of
from ffi_builder.spec.composite import Param, required
from ffi_builder.spec.expr import Condition, Dim, Expr, Relation, Var
from ffi_builder.spec.numbers import MIRRORED, RELATIONS, VAR_DTYPES
from ffi_builder.spec.overlap import tensors_of
from ffi_builder.spec.params import Choice, DataPointer
from ffi_builder.spec.parsing.parse_dims import Declaration, DimParser
from ffi_builder.spec.parsing.tokens import Token, Tokens
from ffi_builder.spec.tensors.tensor import Tensor
from ffi_builder.suggest import did_you_mean

if TYPE_CHECKING:
    from ffi_builder.spec.parsing.parse_conditions import ConditionParser


def _has_relation_in_brackets(tokens: Sequence[Token]) -> bool:
    """Tell ``(n <= m)``, which is a condition, from ``(n + 1) * 2 <= m``."""
    depth = 0
    for token in tokens:
        depth += (token.text == "(") - (token.text == ")")
        if depth and token.text in RELATIONS:
            return True
    return False


class WhereParser(DimParser):
    """Adds the constraints of one pass over a signature."""

    def __init__(self, tokens: Tokens, device: str | None, symbols: dict[str, Var] | None) -> None:
        super().__init__(tokens, device, symbols)
        self.conditions: list[Condition] = []
        self.no_overlap: list[str] = []
        self._in_where = False
        self._params: list[Param] = []
        self._compared = {"and", "or", "not", ".", "["}
        """Tokens that mark a constraint as a condition."""
        self._tensors: dict[str, Tensor] = {}
        """The tensors among the parameters, by path."""

    def where(self, params: list[Param]) -> None:
        """Parse the constraints of these parameters, and what their symbols mean."""
        self._in_where = True
        self._params, self._tensors = params, tensors_of(params)
        self._compared |= {p.name for p in params if isinstance(required(p), (Choice, DataPointer))}
        self._constraint()
        while self.tokens.accept(","):
            self._constraint()

    def _constraint(self) -> None:
        """Parse ``n: int32``, ``1 <= n <= 8``, ``n <= m or x.present`` or ``no_overlap(y)``."""
        t = self.tokens
        first = t.next
        # No symbol is followed by a bracket, so a symbol may be named no_overlap.
        if t.sees("no_overlap") and t.second.text == "(":
            self._no_overlap()
            return
        tokens = t.item()
        if any(map(self._is_condition, tokens)) or _has_relation_in_brackets(tokens):
            self._condition(tokens)
            return
        lhs = self._expression(1)
        if isinstance(lhs, Var) and t.accept(":"):
            self._declare(self.declarations[lhs.name], t.next)
            return
        operator, rhs = self.comparison()
        is_mirrored = False
        if isinstance(lhs, int) and isinstance(rhs, (Var, Expr)):
            lhs, operator, rhs, is_mirrored = rhs, MIRRORED[operator], lhs, True
        match lhs, operator, rhs:
            case Var(), "<=" | "<" | ">=" | ">", int():
                self._limit(lhs, operator, rhs, first)
                if is_mirrored and operator == ">=" and t.accept("<="):
                    self._limit(lhs, "<=", t.integer("an int"), first)
            case Expr("%", Var() as var, int(divisor)), "==", 0:
                self._limit(var, "%", divisor, first)
            case _:
                self._relate(operator, lhs, rhs, t.since(first))

    def _relate(self, operator: str, lhs: Dim, rhs: Dim | tuple[int, ...], token: Token) -> None:
        """Add a relation; the first pass does not know the dtypes of its symbols."""
        if self.symbols is not None:
            with self.tokens.at(token):
                self.conditions.append(Relation(operator, lhs, rhs))

    def _is_condition(self, token: Token) -> bool:
        """Tell whether a token makes a constraint a condition, not a limit or a relation."""
        if token.text in self.declarations:
            return self.declarations[token.text].dtype == "bool"
        return token.kind == "reference" or token.text in self._compared

    def _condition(self, tokens: Sequence[Token]) -> None:
        """Parse a condition; the first pass does not know the dtypes of its symbols."""
        if self._condition_parser is not None:
            self.conditions.append(self._condition_parser.condition())
        else:
            for _ in tokens:
                self.tokens.advance()

    @cached_property
    def _condition_parser(self) -> ConditionParser | None:
        # Few signatures have conditions.
        from ffi_builder.spec.parsing.parse_conditions import ConditionParser
        from ffi_builder.spec.properties import properties

        if self.symbols is None:
            return None
        return ConditionParser(self.tokens, self.symbols, properties(self._params))

    def _no_overlap(self) -> None:
        t = self.tokens
        word = t.advance()
        t.expect("(")
        if not (paths := t.list_of(")", self._tensor_path)):
            raise t.error(t.since(word), "expected the name of a tensor in the brackets")
        self.no_overlap += paths

    def _tensor_path(self) -> str:
        t = self.tokens
        first = t.name("the name of a tensor")
        path = self.path(first)
        with t.at(t.since(first)):
            return one_of("no_overlap", path, self._tensors) if self._tensors else path

    @override
    def declaration(self, token: Token) -> Declaration:
        """Return the declarations of a symbol; constraints may only mention known symbols."""
        if self._in_where and token.text not in self.declarations:
            meant = did_you_mean(token.text, self.declarations)
            words = f"no parameter mentions a symbol {token.text!r}{meant}"
            raise self.tokens.error(token, words)
        return super().declaration(token)

    def _declare(self, declared: Declaration, token: Token) -> None:
        t = self.tokens
        name = t.name("a dtype").text
        if declared.scalar or declared.dtype is not None:
            where = "its parameter" if declared.scalar else "an earlier constraint"
            raise t.error(token, f"{where} says the dtype already: {declared.dtype}")
        with t.at(token):
            declared.dtype = one_of("dtype of a symbol", name, VAR_DTYPES)

    def _limit(self, var: Var, operator: str, value: int, token: Token) -> None:
        """Note a limit of a symbol: ``< 8`` is the same as ``<= 7``."""
        name, value = {
            "<=": ("max", value),
            "<": ("max", value - 1),
            ">=": ("min", value),
            ">": ("min", value + 1),
            "%": ("divisibility", value),
        }[operator]
        declared = self.declarations[var.name]
        if name in declared.limits:
            raise self.tokens.error(token, f"the {name} of this symbol is given twice")
        declared.limits[name], declared.token = value, token
