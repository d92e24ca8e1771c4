"""The matrix in docs/systems.md, of what the tests in suite/ noted with each distribution."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.distributions.known import KNOWN, Known

PAGE: Final = Path(__file__).parents[2] / "docs" / "systems.md"

COLUMNS: Final = (
    *("LLVM", "attach, verify, print", "to LLVM IR", "passes to LLVM", "hooks"),
    *("compile, export", "call", "errors"),
)
"""Columns that the tests in suite/ fill."""

_TABLE: Final = re.compile(
    r"(?<=<!-- matrix -->\n\n).*?(?=\n<!-- end of the matrix -->)", re.DOTALL
)
_IDENTITY: Final = 3
"""Number of columns that identify a line: the distribution, its package, and its LLVM."""


def row(known: Known, installed: str, notes: Mapping[str, str]) -> str:
    """A line of the matrix."""
    cells = [f"`{known.root}`", installed, *(notes[name] for name in COLUMNS)]
    return f"| {' | '.join(cells)} |"


def identity(line: str) -> list[str]:
    """Return the columns that identify a line; lines with equal ones must be equal."""
    return line.split(" | ")[:_IDENTITY]


def rows() -> dict[str, str]:
    """The lines that the page has, by root."""
    return {line.split("`")[1]: line for line in _matrix().splitlines()[2:]}


def table(lines: Mapping[str, str]) -> str:
    """The matrix of these lines, in the order of KNOWN."""
    titles = ["bindings", "installed as", *COLUMNS]
    head = f"| {' | '.join(titles)} |\n|{' -- |' * len(titles)}\n"
    return head + "".join(f"{lines[known.root]}\n" for known in KNOWN if known.root in lines)


def is_written(lines: Mapping[str, str]) -> bool:
    """Tell whether the page has this matrix."""
    return _matrix() == table(lines)


def write(lines: Mapping[str, str]) -> None:
    """Put this matrix into the page."""
    PAGE.write_text(_TABLE.sub(lambda _: table(lines), PAGE.read_text()))


def _matrix() -> str:
    found = _TABLE.search(PAGE.read_text())
    assert found is not None, f"{PAGE} has no <!-- matrix -->"
    return found[0]
