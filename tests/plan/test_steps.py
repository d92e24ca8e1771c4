"""The checks and their order, signature by signature, as steps.txt has them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ffi_builder.plan.steps import CheckPacked
from ffi_builder.spec import Optional, Signature
from tests.plan.reading import line, lines, plan_of

SYMBOLS = ("Bind", "EqualSymbol", "EqualExpr", "Solve", "Fits", "DecodeOptional")


def rows() -> Iterator[tuple[str, str, list[str]]]:
    """Yield what lines are about, the text of a signature, and the lines of its steps."""
    about, expected = "", list[str]()
    for row in Path(__file__).with_name("steps.txt").read_text().splitlines():
        if row.startswith("## "):
            about = row.partition(": ")[2]
        elif row.startswith("f("):
            expected = []
            yield about, row, expected
        elif row:
            expected.append(row.strip())


@pytest.mark.parametrize(("about", "text", "expected"), list(rows()), ids=str)
def test_steps(about: str, text: str, expected: list[str]) -> None:
    assert shown(about, text) == expected


def shown(about: str, text: str) -> list[str]:
    """Return the lines of all steps, or of those about symbols or another word."""
    plan = plan_of(text)
    waiting = [line(step) for step in plan.late]
    found = lines(*plan.signature.params)
    found[len(found) - len(waiting) :] = [f"later: {step}" for step in waiting]
    if about == "symbols":
        return [step for step in found if step.removeprefix("later: ").startswith(SYMBOLS)]
    return [step for step in found if about in step]


@pytest.mark.parametrize("text", ["f()", "f(n: int64, k: int64)"])
def test_the_arguments_come_first(text: str) -> None:
    plan = plan_of(text)
    count = len(plan.signature.params)
    first = [f"CheckCount number of arguments {count}", "CheckArguments argument array"]
    found = [step for step in plan.steps if step.place.position == (-1,)]
    assert [line(step) for step in found] == first[: 2 if count else 1]


def test_positions_lead_to_the_value() -> None:
    plan = plan_of("f(n: int64, t: Tuple(k: int64, u: Tuple(x: Tensor([m], int8))))")
    positions = {str(step.place): step.place.position for step in plan.checks[2:]}
    assert positions["n"] == (0,)
    assert positions["t[0]"] == (1, 0)
    assert positions["t[1][0].shape[0]"] == (1, 1, 0)
    assert {step.place.argument for step in plan.checks[2:]} == {0, 1}
    [late] = plan_of("f(t: Optional(Tuple(s: Shape([n * k]))), n: int64, k: int64)").late
    assert late.place.position == (0, 0)


def test_what_is_read_of_a_packed_dimension_is_multiplied() -> None:
    text = "f(x: Tensor([n, k], float4_e2m1fn, storage_dtype=float4_e2m1fnx2))"
    steps = {line(step): step for step in plan_of(text).checks}
    assert steps["Bind x.shape[1] k"].place.packing == 2
    assert steps["Bind x.shape[0] n"].place.packing == 1
    assert steps["NotNegative x.shape[1]"].place.packing == 1
    check = steps["CheckPacked x.shape[1]"]
    assert isinstance(check, CheckPacked)
    assert check.expected == (2**63 - 1) // 2


def test_plans_are_data() -> None:
    text = "f(x: Tensor([n, n * 2], float32, strides=[k, 1]))"
    assert plan_of(text) == plan_of(text) != plan_of(f"g{text[1:]}")
    assert hash(plan_of(text)) == hash(plan_of(text))
    assert list(plan_of(text)) == list(plan_of(text).checks)
    assert len(plan_of(text)) == len(plan_of(text).checks)


@pytest.mark.parametrize(
    "kind",
    [
        *("int8", "bool", "float16", "Tensor([], int8)", "Shape([1])", "Tuple()", "Struct()"),
        *("String", "Bytes", "Choice({'a': 1})", "DType", "Device", "Object", "Function"),
        *("Literal[3]", "Literal[True]", "Literal[1.0]"),
    ],
)
def test_an_optional_changes_only_the_check_of_the_type(kind: str) -> None:
    [param] = Signature.parse(f"f(x: {kind})", device="cpu").params
    required, optional = lines(param), lines(Optional(param))
    assert optional[0] == "DecodeOptional x"
    assert [item.replace(" optional", "") for item in optional[1:]] == required
    assert [" optional" in item for item in optional[1:]] == [
        item.startswith("Decode") and "x[" not in item for item in required
    ]
