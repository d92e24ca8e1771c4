"""Parsing conditions: ``x.dtype == float16 and (n + m) % 16 == 0``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from typing_extensions import override

from ffi_builder.errors import SpecError
from ffi_builder.spec._check import text as checked_text
from ffi_builder.spec.expr import Condition, Dim, Var, combined
from ffi_builder.spec.numbers import RELATIONS
from ffi_builder.spec.parsing.parse_dims import DimParser
from ffi_builder.spec.parsing.tokens import Token, Tokens
from ffi_builder.spec.properties import Property, compared
from ffi_builder.suggest import did_you_mean


def condition(
    text: str, symbols: Iterable[Var], properties: Mapping[str, Callable[[], Property]]
) -> Condition:
    """Parse a condition of these symbols, and of these properties, which are given by text.

    Raises:
        SpecError: the text is not a condition, or has an unknown name.
    """
    tokens = Tokens(checked_text("condition", text))
    parser = ConditionParser(tokens, {var.name: var for var in symbols}, properties)
    parsed = parser.condition()
    parser.end()
    return parsed


class ConditionParser(DimParser):
    """The parser of conditions. Its methods may also return numbers and properties."""

    words = ("name", "quoted", "reference")
    deepest = 100  # each level takes more calls than a level of a signature

    def __init__(
        self,
        tokens: Tokens,
        symbols: dict[str, Var],
        properties: Mapping[str, Callable[[], Property]],
    ) -> None:
        super().__init__(tokens, None, symbols)
        self.properties = properties

    def condition(self) -> Condition:
        """Parse a condition."""
        first = self.tokens.next
        return self._holding(self._in_brackets(), first)

    @override
    def _in_brackets(self) -> Any:
        return self._several("or", lambda: self._several("and", self._comparison))

    def _several(self, word: str, parse: Callable[[], Any]) -> Any:
        t = self.tokens
        first, value = t.next, parse()
        while t.sees(word):
            left, _, first = self._holding(value, first), t.advance(), t.next
            value = combined(word, left, self._holding(parse(), first))
        return value

    def _comparison(self) -> Any:
        """Parse ``not a``, ``a`` or ``a == b``."""
        t = self.tokens
        first = t.next
        if t.accept("not"):
            with self.deeper(first):
                inner = t.next
                return ~self._holding(self._comparison(), inner)
        left: Any = self._expression(1)
        if not t.sees(*RELATIONS):
            return left
        is_property = isinstance(left, Property)
        if is_property:
            op, right = t.advance().text, self._value()
        else:
            op, right = self.comparison()
        with t.at(t.since(first)):
            return compared(op, left if is_property else _number(left), _number(right))

    def _holding(self, value: Any, first: Token) -> Condition:
        """Return ``value`` if it is a condition or a bool; ``first`` is its first token."""
        t = self.tokens
        if isinstance(value, Condition):
            return value
        if isinstance(value, Property) and value.is_flag:
            return compared("==", value, True)
        words = "expected a comparison such as n >= 8, a bool symbol or x.present"
        raise t.error(t.since(first), words)

    def _value(self) -> object:
        """Parse the value that a property is compared with: a word, an int, True or ``(9, 0)``."""
        t = self.tokens
        if t.next.kind in ("name", "quoted"):
            token = t.advance()
            is_bool = token.kind == "name" and token.text in ("True", "False")
            return token.text == "True" if is_bool else token.text
        if t.accept("("):
            return tuple(t.list_of(")", lambda: t.integer("an int")))
        return t.integer("an int, a str, True, False or a pair")

    @override
    def _arithmetic(self, op: str, left: Any, right: Dim) -> Any:
        if isinstance(left, Property) and op == "%" and left.is_address:
            return replace(left, divisor=right)
        return super()._arithmetic(op, _number(left), _number(right))

    @override
    def symbol(self, token: Token) -> Any:
        path = self.path(token)
        if path in self.properties:
            with self.tokens.at(self.tokens.since(token)):
                return self.properties[path]()
        symbols = self.symbols or {}
        if path in symbols:
            return super().symbol(token)
        names = [*self.properties, *symbols]
        listed = f"one of {', '.join(names)}, or " if names else ""
        words = f"expected {listed}an expression of symbols"
        raise self.tokens.error(self.tokens.since(token), words + did_you_mean(path, names))


def _number(value: Any) -> Any:
    """Return ``value`` if it is an int, symbol or expression."""
    if isinstance(value, (Property, Condition)):
        raise SpecError(f"expected an int, a symbol or an expression but got {value}")
    return value
