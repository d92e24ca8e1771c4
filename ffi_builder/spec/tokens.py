"""The words of a signature's text, and errors that point at them."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TypeVar

from ffi_builder.errors import SpecError

Item = TypeVar("Item")

_TOKEN: Final = re.compile(
    r"""\s*(?:
        (?P<float>\d+(?:\.\d*(?:[eE][+-]?\d+)?|[eE][+-]?\d+))
      | (?P<int>\d+)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<quoted>'[^'\n]*'|"[^"\n]*")
      | (?P<mark>\.\.\.|->|//|==|<=|>=|[()\[\]{},:=+\-*%|])
    )""",
    re.VERBOSE | re.ASCII,
)
_SPACE: Final = " \t\n\r\f\v"
_MOST_DIGITS: Final = 40
"""More than any number here has; Python takes long to read numbers of thousands."""


@dataclass(frozen=True)
class Token:
    """A word of the text. ``kind``: float, int, name, quoted, mark or end."""

    kind: str
    text: str
    """Of what is quoted, what is within the quotes."""
    start: int
    stop: int

    @property
    def shown(self) -> str:
        """As errors show it."""
        return "the end" if self.kind == "end" else repr(self.text)


def error_at(text: str, start: int, stop: int, words: str) -> SpecError:
    """The error, with the line of the text and a caret under each letter that it is about."""
    begin = text.rfind("\n", 0, start) + 1
    line = text[begin:].partition("\n")[0]
    before = re.sub(r"[^\t]", " ", line[: start - begin])
    carets = "^" * max(1, min(stop, begin + len(line)) - start)
    return SpecError(f"{words}\n    {line}\n    {before}{carets}")


class Tokens:
    """The words one after the other, always with the next one in view.

    Raises:
        SpecError: a character that no word begins with.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._tokens = list(_tokens(text))
        self._next = 0

    @property
    def next(self) -> Token:
        """The next word, which is not taken."""
        return self._tokens[self._next]

    @property
    def second(self) -> Token:
        """The word behind the next one."""
        return self._tokens[min(self._next + 1, len(self._tokens) - 1)]

    def take(self) -> Token:
        """The next word, which is taken; the end stays."""
        token = self.next
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token

    def sees(self, *marks: str) -> bool:
        """Whether the next word is one of these, and no quoted name."""
        return self.next.kind in ("mark", "name") and self.next.text in marks

    def takes(self, mark: str) -> bool:
        """Take the next word if it is this one."""
        return self.sees(mark) and bool(self.take())

    def need(self, mark: str) -> Token:
        """Take the next word, which must be this one."""
        if self.sees(mark):
            return self.take()
        raise self.wrong(self.next, f"expected {mark!r} but got {self.next.shown}")

    def name(self, what: str) -> Token:
        """Take a name, in quotes or not."""
        if self.next.kind in ("name", "quoted"):
            return self.take()
        raise self.wrong(self.next, f"expected {what} but got {self.next.shown}")

    def integer(self, what: str) -> int:
        """Take an int, with a sign or not."""
        minus = self.takes("-")
        if self.next.kind != "int":
            raise self.wrong(self.next, f"expected {what} but got {self.next.shown}")
        if len(self.next.text) > _MOST_DIGITS:
            raise self.wrong(self.next, "expected an int that fits 64 bits")
        number = int(self.take().text)
        return -number if minus else number

    def list_of(self, close: str, item: Callable[[], Item]) -> list[Item]:
        """Items with commas between them, up to the closing bracket; one more comma may follow."""
        items: list[Item] = []
        while not self.takes(close):
            items.append(item())
            if not self.sees(close) and not self.takes(","):
                raise self.wrong(self.next, f"expected ',' or {close!r} but got {self.next.shown}")
        return items

    def close(self) -> None:
        """Take the closing bracket; a comma may stand before it."""
        self.takes(",")
        self.need(")")

    def since(self, first: Token) -> Token:
        """All from this word to the last one taken, as one to point at."""
        return Token(first.kind, first.text, first.start, self._tokens[self._next - 1].stop)

    def wrong(self, token: Token, words: str) -> SpecError:
        """The error, pointing at a word."""
        return error_at(self.text, token.start, token.stop, words)

    @contextmanager
    def at(self, token: Token) -> Generator[None]:
        """Errors of specs that are made in here point at a word."""
        try:
            yield
        except SpecError as error:
            raise self.wrong(token, str(error)) from None


def _tokens(text: str) -> Iterator[Token]:
    position, end = 0, len(text.rstrip(_SPACE))
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            start = len(text) - len(text[position:].lstrip(_SPACE))
            raise error_at(text, start, start + 1, f"unexpected {text[start]!r}")
        kind = match.lastgroup or ""
        word = match[kind][1:-1] if kind == "quoted" else match[kind]
        yield Token(kind, word, match.start(kind), match.end())
        position = match.end()
    yield Token("end", "", end, end + 1)
