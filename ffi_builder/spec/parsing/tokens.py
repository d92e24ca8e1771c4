"""The tokens of a signature's text, and errors that point at them."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

from ffi_builder.errors import SpecError
from ffi_builder.records import dataclass
from ffi_builder.spec._check import one_of
from ffi_builder.spec.tensors.references import PATTERN

Item = TypeVar("Item")

_TOKEN: Final = rf"""\s*(?:
        (?P<reference>{PATTERN})
      | (?P<float>\d+(?:\.\d*(?:[eE][+-]?\d+)?|[eE][+-]?\d+))
      | (?P<int>\d+)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<quoted>'[^'\n]*'|"[^"\n]*")
      | (?P<mark>\.\.\.|->|//|==|!=|<=|>=|[<>()\[\]{{}},:=+\-*%|.])
    )"""
_SPACE: Final = " \t\n\r\f\v"
_MOST_DIGITS: Final = 40
"""The most digits of an int. No valid int has more, and Python is slow at thousands of digits."""


@dataclass(frozen=True)
class Token:
    """A token of the text."""

    kind: str
    """``reference``, ``float``, ``int``, ``name``, ``quoted``, ``mark`` or ``end``."""
    text: str
    """The characters of the token, without quotes."""
    start: int
    stop: int

    @property
    def shown(self) -> str:
        """The token as errors show it."""
        return "the end" if self.kind == "end" else repr(self.text)


def error_at(text: str, start: int, stop: int, words: str) -> SpecError:
    """Return an error that shows a line of the text, with carets under ``text[start:stop]``."""
    begin = text.rfind("\n", 0, start) + 1
    line = text[begin:].partition("\n")[0]
    before = re.sub(r"[^\t]", " ", line[: start - begin])
    carets = "^" * max(1, min(stop, begin + len(line)) - start)
    return SpecError(f"{words}\n    {line}\n    {before}{carets}")


class Tokens:
    """The tokens of a text, and a position in them.

    Raises:
        SpecError: a character that no token begins with.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._tokens = list(_tokens(text))
        self._next = 0
        self._placed: SpecError | None = None

    @property
    def next(self) -> Token:
        """The next token; it is not taken."""
        return self._tokens[self._next]

    @property
    def second(self) -> Token:
        """The token after the next one."""
        return self._tokens[min(self._next + 1, len(self._tokens) - 1)]

    def advance(self) -> Token:
        """Take the next token and return it; the end can be taken repeatedly."""
        token = self.next
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token

    def sees(self, *marks: str) -> bool:
        """Return whether the next token is one of these, and not in quotes."""
        return self.next.kind in ("mark", "name") and self.next.text in marks

    def sees_reference(self, field: str) -> bool:
        """Return whether the next token is this field of a parameter: ``x.dtype``."""
        return self.next.kind == "reference" and self.next.text.endswith(f".{field}")

    def accept(self, mark: str) -> bool:
        """Take the next token if it has this text, and return whether it had."""
        return self.sees(mark) and bool(self.advance())

    def expect(self, mark: str) -> Token:
        """Take the next token, which must be this one."""
        if self.sees(mark):
            return self.advance()
        raise self.error(self.next, f"expected {mark!r} but got {self.next.shown}")

    def name(self, what: str) -> Token:
        """Take a name, which may be in quotes; ``what`` describes it in errors."""
        if self.next.kind in ("name", "quoted"):
            return self.advance()
        raise self.error(self.next, f"expected {what} but got {self.next.shown}")

    def one_of(self, what: str, label: str, allowed: Iterable[str]) -> str:
        """Take a name that must be allowed; ``label`` begins the error if it is not."""
        token = self.name(what)
        with self.at(token):
            return one_of(label, token.text, allowed)

    def integer(self, what: str) -> int:
        """Take an int, which may have a minus sign; ``what`` describes it in errors."""
        minus = self.accept("-")
        if self.next.kind != "int":
            raise self.error(self.next, f"expected {what} but got {self.next.shown}")
        if len(self.next.text) > _MOST_DIGITS:
            raise self.error(self.next, "expected an int that fits 64 bits")
        number = int(self.advance().text)
        return -number if minus else number

    def list_of(self, close: str, item: Callable[[], Item]) -> list[Item]:
        """Take items separated by commas, and ``close``; a comma may follow the last item."""
        items: list[Item] = []
        while not self.accept(close):
            items.append(item())
            if not self.sees(close) and not self.accept(","):
                raise self.error(self.next, f"expected ',' or {close!r} but got {self.next.shown}")
        return items

    def item(self) -> list[Token]:
        """Return the tokens up to a comma outside of brackets, or the end, without taking them."""
        tokens: list[Token] = []
        depth = 0
        for index in range(self._next, len(self._tokens) - 1):
            token = self._tokens[index]
            if token.kind == "mark":
                depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
                if token.text == "," and depth == 0:
                    break
            tokens.append(token)
        return tokens

    def close(self) -> None:
        """Take the closing bracket; a comma may precede it."""
        self.accept(",")
        self.expect(")")

    def since(self, first: Token) -> Token:
        """Return a token for errors that spans from ``first`` to the last token taken."""
        return Token(first.kind, first.text, first.start, self._tokens[self._next - 1].stop)

    def error(self, token: Token, words: str) -> SpecError:
        """Return an error that points at a token."""
        self._placed = error_at(self.text, token.start, token.stop, words)
        return self._placed

    @contextmanager
    def at(self, token: Token) -> Generator[None]:
        """Make each SpecError that the body raises point at a token."""
        try:
            yield
        except SpecError as error:
            if error is self._placed:
                raise
            raise self.error(token, str(error)) from None


def _tokens(text: str) -> Iterator[Token]:
    pattern = re.compile(_TOKEN, re.VERBOSE | re.ASCII)
    position, end = 0, len(text.rstrip(_SPACE))
    while position < end:
        match = pattern.match(text, position)
        if match is None:
            start = len(text) - len(text[position:].lstrip(_SPACE))
            hint = ": sizes are divided by `//`, or by ceildiv" if text[start] == "/" else ""
            raise error_at(text, start, start + 1, f"unexpected {text[start]!r}{hint}")
        kind = match.lastgroup or ""
        word = match[kind][1:-1] if kind == "quoted" else match[kind]
        yield Token(kind, word, match.start(kind), match.end())
        position = match.end()
    yield Token("end", "", end, end + 1)
