"""tools/lines.py counts each line once."""

from __future__ import annotations

from collections import Counter

from tools.lines import KINDS, count, count_c, parts

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


IN_C = """// A file.

/* Of two
   lines. */
#define LIMIT 2  // code

int call(void) { return "// a string"[LIMIT]; }
"""


def test_each_line_has_one_kind() -> None:
    found = count(TEXT)
    assert dict(found) == {"code": 4, "docstrings": 5, "comments": 1, "blank": 4, "tokens": 12}
    assert sum(found[kind] for kind in KINDS) == len(TEXT.splitlines())


def test_each_line_of_code_belongs_to_one_thing() -> None:
    text = TEXT + "    if LIMIT:\n        raise ValueError(\n            LIMIT)\n"
    found = parts(text)
    wanted = {"imports": 1, "tables": 2, "headers of functions": 1, "raising errors": 2}
    assert found == {**wanted, "statements": 1}
    assert found.total() == count(text)["code"]


def test_each_line_of_c_has_one_kind() -> None:
    found = count_c(IN_C)
    assert found == Counter(code=2, comments=3, blank=2, tokens=17, docstrings=0)
    assert sum(found[kind] for kind in KINDS) == len(IN_C.splitlines())
