"""Prints errors and notes, in colour on terminals and in the words of the command line.

The library's errors name Python arguments: `args=['x', 'n']`, `MemRefCallProvider`. On the command
line these are `--args 'x, n'` and `--convention memref`. Each rule is a pattern and its
replacement. tests/cli/test_mistakes.py runs many wrong commands and looks for Python in the errors.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from typing import Final, TextIO, TypeAlias

_CODES: Final = {"red": "31", "green": "32", "yellow": "33", "bold": "1"}


def coloured(text: str, colour: str, stream: TextIO) -> str:
    """Return the text in a colour, if the stream is a terminal and ``NO_COLOR`` is not set."""
    if not stream.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"\033[{_CODES[colour]}m{text}\033[0m"


def printable(text: str, also: str = "") -> str:
    """Escape characters that end a line or control a terminal, but for those in `also`."""
    shown = (c if c.isprintable() or c in also else ascii(c)[1:-1] for c in text)
    return "".join(shown)


def print_error(error: BaseException | str) -> None:
    """Print an error to stderr, as one message."""
    words = str(error)
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        words = f"{error.filename}: {error.strerror}"
    print(f"{coloured('error:', 'red', sys.stderr)} {as_options(words)}", file=sys.stderr)


def print_note(words: str) -> None:
    """Print a note to stderr."""
    print(f"{coloured('note:', 'yellow', sys.stderr)} {words}", file=sys.stderr)


# ---- options instead of Python

_Rule: TypeAlias = tuple[str, "str | Callable[[re.Match[str]], str]"]

PROVIDERS: Final = {
    "memref": "MemRefCallProvider",
    "direct": "DirectCallProvider",
    "pack": "DynamicParamPackCallProvider",
    "nop": "NopCallProvider",
}
"""The provider of each convention."""
_OPTIONS: Final = {
    **{
        name: name
        for name in ("function", "prototype", "args", "pipeline", "link", "stream", "include")
    },
    "provider": "convention",
    "errors": "error",
    "launch": "grid",
}
"""Options of the command line, by the names that they have in Python."""


def _listed(match: re.Match[str]) -> str:
    entries = ", ".join(re.findall("'([^']*)'", match[1]) or ["…"])
    return f"--args '{entries}'"


_RULES: Final[tuple[_Rule, ...]] = (
    (r"^wrap: ", ""),
    (r"^Signature\.parse: device: ", "--device: "),
    (r"^Signature\.parse: ", "--signature: "),
    (r"device='cpu' for all", "--device cpu for all"),
    # No value of --convention selects these providers and options.
    (
        r"(?:(?:Packed|NestedTensor)CallProvider|\w+CallProvider with \w+=True) "
        r"passes what it takes(?:, with args=\[[^]]*\])?",
        "No --convention calls such a function",
    ),
    (r"provider=providers\.PackedCallProvider calls it", "wrap calls it in Python alone"),
    (r"\. \w+CallProvider with \w+=True calls it if that is an array [\w ]+", ""),
    (r"say so: returns=spec\.Var\('y', '(\w+)'\)", r"say so in --signature: -> y: \1"),
    (r"; or if it is a status, wrap the provider in CheckStatus", ""),
    (r", unless it is that of the functions of a VariantsCallProvider.* has errors", ""),
    (r"\bCheckStatus\b", "a check of the status"),
    (
        r"; runtime\.compile does with pipeline=, and calls its hooks with the lowered module",
        " (by --pipeline)",
    ),
    (r", or leave c_interface=True out", ""),
    (r"; export_object needs none", "; an output .o needs none"),
    (r"\buse export_library\b", "write a .so"),
    (
        r"launch=, as in launch=Launch\(grid=spec\.(.*?), block=(\d+)\)",
        r"--grid and --block, as in --grid '\1' --block \2",
    ),
    (r"launch= needs block=", "--block is needed"),
    (r"\bNone passes NULL\b", "NULL passes a null pointer"),
    (r"\bargs= as a dict\b", "--args 'name=NULL'"),
    (r'\bargs=\{"(\w+)": None\}', r"--args '\1=NULL'"),
    (r"\bargs=\{'(\w+)': '?([^'}]+)'?\}", r"--args '\1=\2'"),
    (r"\bargs=\[([^]]*)\]", _listed),
    (r"\blink=\[['\"]([^'\"]*)['\"]\]", r"--link=\1"),
    (r"\bprototype=(?:\"([^\"]*)\"|'([^']*)')", r"--prototype '\1\2'"),
    (r"\bsanitize=True\b", "--sanitize"),
    (r"\berrors\[(-?\d+)\]", r"--error \1"),
    (r"\bprovider=(?:providers\.)?(?=\w+CallProvider)", ""),
    (r"\bexternal=\[([^]]*)\]", lambda m: "--external " + m[1].replace(",", "").replace("'", "")),
    (r"\bexternal=(?=\s)", "--external"),
    *((rf"\b{provider}\b", f"--convention {name}") for name, provider in PROVIDERS.items()),
    (rf"(?<![\w-])({'|'.join(_OPTIONS)})=(?=[\s.,;:)]|$)", lambda m: f"--{_OPTIONS[m[1]]}"),
    (r"^CudaLaunchCallProvider: (?=grid|block|cluster|attributes|stream)", "--"),
    (r"^CudaLaunchCallProvider: ", ""),
    (r"\bdynamic_smem_bytes\b", "--shared-memory"),
)


def as_options(words: str) -> str:
    """Replace Python arguments in an error message by command-line options."""
    for pattern, instead in _RULES:
        words = re.sub(pattern, instead, words)
    return words
