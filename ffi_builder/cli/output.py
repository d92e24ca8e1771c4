"""Printing: colour only where a person reads it."""

from __future__ import annotations

import os
import sys
from typing import Final, TextIO

from ffi_builder.cli.syntax import as_options

_CODES: Final = {"red": "31", "green": "32", "yellow": "33", "bold": "1"}


def coloured(text: str, colour: str, stream: TextIO) -> str:
    """The text in a colour, if the stream is a terminal and ``NO_COLOR`` is not set."""
    if not stream.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"\033[{_CODES[colour]}m{text}\033[0m"


def complain(error: BaseException | str) -> None:
    """An error, in one message, on stderr."""
    words = str(error)
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        words = f"{error.filename}: {error.strerror}"
    print(f"{coloured('error:', 'red', sys.stderr)} {as_options(words)}", file=sys.stderr)


def note(words: str) -> None:
    """Something worth to know, on stderr."""
    print(f"{coloured('note:', 'yellow', sys.stderr)} {words}", file=sys.stderr)
