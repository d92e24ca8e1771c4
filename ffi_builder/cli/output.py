"""Printing errors and notes, in colour on terminals."""

from __future__ import annotations

import os
import sys
from typing import Final, TextIO

from ffi_builder.cli.syntax import as_options

_CODES: Final = {"red": "31", "green": "32", "yellow": "33", "bold": "1"}


def coloured(text: str, colour: str, stream: TextIO) -> str:
    """Return the text in a colour, if the stream is a terminal and ``NO_COLOR`` is not set."""
    if not stream.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"\033[{_CODES[colour]}m{text}\033[0m"


def print_error(error: BaseException | str) -> None:
    """Print an error to stderr, as one message."""
    words = str(error)
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        words = f"{error.filename}: {error.strerror}"
    print(f"{coloured('error:', 'red', sys.stderr)} {as_options(words)}", file=sys.stderr)


def print_note(words: str) -> None:
    """Print a note to stderr."""
    print(f"{coloured('note:', 'yellow', sys.stderr)} {words}", file=sys.stderr)
