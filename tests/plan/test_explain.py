"""Plans as people read them, in explain.txt."""

from __future__ import annotations

from pathlib import Path

import pytest

from ffi_builder.plan import explain
from ffi_builder.spec import Signature
from tests.plan.reading import plan_of

PLANS = [
    block.removeprefix("# ").rstrip("\n").split("\n", 1)
    for block in Path(__file__).with_name("explain.txt").read_text().split("\n\n")
]


@pytest.mark.parametrize(("text", "expected"), PLANS, ids=[text for text, _ in PLANS])
def test_a_plan(text: str, expected: str) -> None:
    signature = Signature.parse(text)
    assert explain(signature) == str(plan_of(text)) == expected


def test_a_step_by_itself() -> None:
    text = "f(s: Shape([n, 4, n]), x: Tensor([4, 5], int8))"
    texts = [str(step) for step in plan_of(text).steps]
    assert texts[0] == "number of arguments: expected 2, otherwise TypeError"
    assert "s[0]: binds n" in texts
    stride = "expected {product of later dims} (row-major contiguous), otherwise ValueError"
    assert f"x.strides[0]: {stride}\nx.strides[1]: {stride}" in texts
    assert "s[1]: expected 4, otherwise ValueError" in texts
    assert "s[2]: expected {n} (n = where it is bound), otherwise ValueError" in texts
