"""Tables of tests that are text: entries of a number of lines each, and headings."""

from __future__ import annotations

from pathlib import Path


def rows(path: Path, count: int) -> list[list[str]]:
    """Return the entries of a file, each of which has so many lines; ``## `` begins a heading."""
    lines = path.read_text().removesuffix("\n").split("\n")
    lines = [line for line in lines if not line.startswith("## ")]
    assert len(lines) % count == 0
    return [lines[start : start + count] for start in range(0, len(lines), count)]
