"""Reading dimensions, strides and expressions, and noting the symbols in them."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, cast

from ffi_builder.errors import SpecError
from ffi_builder.spec._check import text as checked_text
from ffi_builder.spec.expr import OPERATORS, Dim, Expr, Var
from ffi_builder.spec.tokens import Token, Tokens

_DEEPEST: Final = 164
"""Brackets and types in one another: 50 tuples in Optionals around a type, and an expression of 127
parts in that, are 164."""


@dataclass
class Said:
    """What the text says of a symbol; ``token`` is where it says the first of it."""

    token: Token
    dtype: str | None = None
    scalar: bool = False
    limits: dict[str, Any] = field(default_factory=dict[str, Any])
    """divisibility, min and max."""


def expression(text: str, symbols: Iterable[Var] | None = None) -> Dim:
    """The int, symbol or expression that a text describes: ``n``, ``ceildiv(n * 4, 128)``.

    It is written as in :meth:`~ffi_builder.spec.Signature.parse`.

    Args:
        text: the text.
        symbols: what names stand for; left out, each is an int64 symbol.

    Raises:
        SpecError: the text is no expression, or has a name that no symbol has; the message shows
            the line, with carets under the place. Or ``symbols`` are not symbols, or two of them
            have one name.
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
            raise SpecError(f"expression: symbols: {known[var.name]!r} and {var!r} have one name")
    return known


class DimParser:
    """One reading. Without ``symbols`` it is the first: everything is an int64 then."""

    def __init__(self, tokens: Tokens, device: str | None, symbols: dict[str, Var] | None) -> None:
        self.tokens, self.device, self.symbols = tokens, device, symbols
        self.said: dict[str, Said] = {}
        self.depth = 0

    def whole(self) -> Dim:
        """An expression, and nothing behind it."""
        found, t = self._expression(1), self.tokens
        if t.next.kind != "end":
            raise t.wrong(t.next, f"expected an operator or the end but got {t.next.shown}")
        return found

    def entries(self) -> list[Dim | None]:
        """The entries of a shape or of strides."""
        self.tokens.need("[")
        return self.tokens.list_of("]", self._entry)

    def _entry(self) -> Dim | None:
        t = self.tokens
        if t.sees("None") and t.second.kind == "mark" and t.second.text in (",", "]"):
            t.take()
            return None
        if t.sees("..."):
            raise t.wrong(t.next, "'...' is the whole shape of a Tensor and cannot be an entry")
        return self._expression(1)

    def _expression(self, rank: int) -> Dim:
        """Operators that bind at least as tightly as ``rank``; they group from the left."""
        t = self.tokens
        found = self._expression(rank + 1) if rank < 2 else self._operand()
        while t.sees(*(op for op in OPERATORS if OPERATORS[op] == rank)):
            operator = t.take()
            right = self._expression(rank + 1) if rank < 2 else self._operand()
            with t.at(operator):
                found = Expr(operator.text, found, right)
        return found

    def _operand(self) -> Dim:
        t = self.tokens
        token = t.next
        if t.takes("("):
            with self.deeper(token):
                found = self._expression(1)
            t.close()
            return found
        if token.kind in ("name", "quoted"):
            t.take()
            if token.kind == "name" and token.text == "ceildiv" and t.takes("("):
                return self._ceildiv(token)
            return self.symbol(token)
        return t.integer("an int, a symbol or an expression")

    def _ceildiv(self, token: Token) -> Expr:
        with self.deeper(token):
            value = self._expression(1)
        self.tokens.need(",")
        divisor = self.tokens.integer("a positive int")
        self.tokens.close()
        with self.tokens.at(token):
            return Expr("ceildiv", value, divisor)

    def symbol(self, token: Token) -> Var:
        """The integer symbol that a name stands for."""
        self.mention(token)
        if self.symbols is None:
            with self.tokens.at(token):
                return Var(token.text, "int64")
        found = self.symbols.get(token.text)
        if found is None:
            known = ", ".join(self.symbols) or "none"
            raise self.tokens.wrong(token, f"there is no symbol {token.text!r}, but {known}")
        if not found.is_integer:
            raise self.tokens.wrong(
                token, f"{token.text!r} is a {found.dtype} symbol, not an integer one"
            )
        return found

    def mention(self, token: Token) -> Said:
        """What the text says of the symbol, which from now on is one."""
        return self.said.setdefault(token.text, Said(token))

    @contextmanager
    def deeper(self, token: Token) -> Generator[None]:
        """One level of brackets more."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.tokens.wrong(token, "too deeply nested")
        yield
        self.depth -= 1
