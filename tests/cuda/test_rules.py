"""docs/fake-cuda.md shows the rules that the fake driver enforces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ffi_builder.fakecuda.rules import RULES

PAGE = Path(__file__).parents[2] / "docs" / "fake-cuda.md"
GENERATED = re.compile(r"(?<=<!-- rules -->).*?(?=<!-- end of rules -->)", re.DOTALL)


def table() -> Iterator[str]:
    """Yield a row for each result, with the rules that have it; violations come last, by name."""
    rows: dict[str, list[str]] = {}
    for name, rule in RULES.items():
        if rule.results:
            results = ", ".join(f"`{result.symbol}`" for result in rule.results)
            rows.setdefault(results, []).append(rule.text)
        else:
            rows.setdefault("a violation", []).append(f"`{name}`: {rule.text}")
    yield "| a broken rule is | the rules |"
    yield "| -- | -- |"
    for result in sorted(rows, key="a violation".__eq__):
        yield f"| {result} | {' '.join(rows[result])} |"


def test_the_page(request: pytest.FixtureRequest):
    text = "\n".join(["\n", *table(), "\n"])
    new, count = GENERATED.subn(lambda _: text, PAGE.read_text())
    assert count == 1
    if request.config.getoption("--update-rules"):
        PAGE.write_text(new)
    assert PAGE.read_text() == new, "pytest tests/cuda/test_rules.py --update-rules writes it anew"
