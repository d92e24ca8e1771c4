"""benchmarks/lines.py counts each line once."""

from __future__ import annotations

from benchmarks.lines import count

TEXT = '''"""A module.

Of three lines."""

import os  # code

# a comment
LIMIT = """
not a docstring"""
"""About the limit."""


def call() -> None:
    """Do nothing."""
'''


def test_each_line_has_one_kind() -> None:
    assert dict(count(TEXT)) == {"code": 4, "docstrings": 5, "comments": 1, "blank": 4}
    assert count(TEXT).total() == len(TEXT.splitlines())
