"""Parsing dimensions, strides and expressions, and collecting the symbols in them."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import field
from typing import Any, Final, cast

from ffi_builder.errors import SpecError
from ffi_builder.records import dataclass
from ffi_builder.spec._check import text as checked_text
from ffi_builder.spec.expr import Dim, Expr, Var
from ffi_builder.spec.numbers import FUNCTIONS, OPERATORS, RELATIONS
from ffi_builder.spec.parsing.tokens import Token, Tokens
from ffi_builder.suggest import did_you_mean

_DEEPEST: Final = 164
"""The most levels of brackets and types. 50 tuples in Optionals around a type that holds an
expression of 127 parts need 164."""


@dataclass
class Declaration:
    """The declarations of a symbol in the text. Errors of its Var point at ``token``."""

    token: Token
    dtype: str | None = None
    scalar: bool = False
    limits: dict[str, Any] = field(default_factory=dict[str, Any])
    """divisibility, min and max."""


def expression(text: str, symbols: Iterable[Var] | None = None) -> Dim:
    """Parse an int, a symbol or an expression: ``n``, ``ceildiv(n * 4, 128)``.

    The grammar is that of :meth:`~ffi_builder.spec.Signature.parse`.

    Args:
        text: the text.
        symbols: the Vars that names in the text refer to. By default each name is an int64 symbol.

    Raises:
        SpecError: the text does not follow the grammar, or has a name that is not in ``symbols``;
            the message shows the line, with carets under the place. Or ``symbols`` holds an object
            that is not a Var, or different Vars with the same name.

    Examples:
        >>> from ffi_builder import spec
        >>> n = spec.Var("n", "int32")
        >>> spec.expression("ceildiv(n * 4, 128)", [n]) == spec.ceildiv(n * 4, 128)
        True
        >>> spec.expression("ceildiv(m, 128)", [n])
        Traceback (most recent call last):
        ...
        ffi_builder.errors.SpecError: there is no symbol 'm', but n
            ceildiv(m, 128)
                    ^
    """
    tokens = Tokens(checked_text("expression", text))
    known = None if symbols is None else _by_name(symbols)
    return DimParser(tokens, None, known).whole()


def _by_name(symbols: object) -> dict[str, Var]:
    if isinstance(symbols, str) or not isinstance(symbols, Iterable):
        raise SpecError(f"expression: symbols: expected a list of Vars but got {symbols!r}")
    known: dict[str, Var] = {}
    for var in cast("Iterable[object]", symbols):
        if not isinstance(var, Var):
            raise SpecError(f"expression: symbols: expected Vars but got {var!r}")
        if known.setdefault(var.name, var) != var:
            raise SpecError(
                f"expression: symbols: {known[var.name]!r} and {var!r} have the same name"
            )
    return known


class DimParser:
    """One pass over a text. The first pass has no ``symbols``: each symbol is an int64."""

    words: tuple[str, ...] = ("name", "quoted")
    """The kinds of tokens that an operand may begin with."""
    deepest = _DEEPEST

    def __init__(self, tokens: Tokens, device: str | None, symbols: dict[str, Var] | None) -> None:
        self.tokens, self.device, self.symbols = tokens, device, symbols
        self.declarations: dict[str, Declaration] = {}
        self.depth = 0

    def whole(self) -> Dim:
        """Parse an expression up to the end of the text."""
        value = self._expression(1)
        self.end()
        return value

    def end(self) -> None:
        """Require that the text ends here."""
        t = self.tokens
        if t.next.kind != "end":
            raise t.error(t.next, f"expected an operator or the end but got {t.next.shown}")

    def entries(self) -> list[Dim | None]:
        """Parse the entries of a shape or of strides."""
        self.tokens.expect("[")
        return self.tokens.list_of("]", self._entry)

    def _entry(self) -> Dim | None:
        t = self.tokens
        if t.sees("None") and t.second.kind == "mark" and t.second.text in (",", "]", ")"):
            t.advance()
            return None
        if t.sees("..."):
            raise t.error(t.next, "'...' is the whole shape of a Tensor and cannot be an entry")
        return self._expression(1)

    def _expression(self, precedence: int) -> Dim:
        """Parse operators of at least this precedence; they group from the left."""
        t = self.tokens
        left = self._expression(precedence + 1) if precedence < 2 else self._operand()
        while t.sees(*(op for op in OPERATORS if OPERATORS[op] == precedence)):
            operator = t.advance()
            right = self._expression(precedence + 1) if precedence < 2 else self._operand()
            with t.at(operator):
                left = self._arithmetic(operator.text, left, right)
        return left

    def _arithmetic(self, op: str, left: Dim, right: Dim) -> Dim:
        return Expr(op, left, right)

    def _operand(self) -> Dim:
        t = self.tokens
        token = t.next
        if t.accept("("):
            with self.deeper(token):
                value = self._in_brackets()
            t.close()
            return value
        if token.kind in self.words:
            t.advance()
            if token.kind == "name" and token.text in FUNCTIONS and t.accept("("):
                return self._call(token)
            if token.kind == "name" and t.sees("("):
                meant = did_you_mean(token.text, FUNCTIONS)
                raise t.error(token, f"expected {', '.join(FUNCTIONS)} before '('{meant}")
            return self.symbol(token)
        words = "an int, a symbol or an expression"
        if token.kind == "float":
            words += " (no float: let the kernel check one, and return a status)"
        return t.integer(words)

    def _in_brackets(self) -> Dim:
        return self._expression(1)

    def _call(self, token: Token) -> Expr:
        """Parse the operands of ``ceildiv(n, 4)``, ``max(n, m)`` or ``min(n, m)``."""
        t = self.tokens
        with self.deeper(token):
            first = self._expression(1)
            t.expect(",")
            second = self._expression(1)
        t.close()
        with t.at(token):
            return Expr(token.text, first, second)

    def comparison(self) -> tuple[str, Dim | tuple[int, ...]]:
        """Parse what follows the left side of a relation: ``<= m`` or ``in {64, 128}``."""
        t = self.tokens
        if not t.sees(*RELATIONS):
            raise t.error(t.next, f"expected a comparison such as '<=' but got {t.next.shown}")
        operator = t.advance().text
        if operator != "in":
            return operator, self._expression(1)
        t.expect("{")
        return operator, tuple(t.list_of("}", lambda: t.integer("an int")))

    def path(self, first: Token) -> str:
        """Return a path that begins with a token: ``y``, ``cfg[1]`` or ``cfg.mask``."""
        t, path = self.tokens, first.text
        while t.sees("[", "."):
            if t.advance().text == ".":
                path += f".{t.name('the name of a field').text}"
            else:
                path += f"[{t.integer('the index of an element')}]"
                t.expect("]")
        return path

    def symbol(self, token: Token) -> Var:
        """Return the integer symbol of this name."""
        self.declaration(token)
        if self.symbols is None:
            with self.tokens.at(token):
                return Var(token.text, "int64")
        var = self.symbols.get(token.text)
        if var is None:
            known = ", ".join(self.symbols) or "none"
            raise self.tokens.error(token, f"there is no symbol {token.text!r}, but {known}")
        if not var.is_integer:
            raise self.tokens.error(
                token, f"{token.text!r} is a {var.dtype} symbol, not an integer one"
            )
        return var

    def declaration(self, token: Token) -> Declaration:
        """Return the declarations of a symbol; the first mention adds it."""
        return self.declarations.setdefault(token.text, Declaration(token))

    @contextmanager
    def deeper(self, token: Token) -> Generator[None]:
        """Count one more level of brackets or types in the body."""
        self.depth += 1
        if self.depth > self.deepest:
            raise self.tokens.error(token, "too deeply nested")
        yield
        self.depth -= 1
