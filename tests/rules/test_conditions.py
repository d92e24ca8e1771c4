"""Conditions: what is unknown refuses no call, what overflows does, also beside each other."""

from __future__ import annotations

from typing import Final

import pytest

from ffi_builder.spec import Signature
from tests.differential.description import NONE, Arguments, Value, of_int
from tests.oracle import Rejected
from tests.rules.calls import judge_call

LARGE: Final = 2**40
OVERFLOW: Final = "a value beyond int64"


def got(where: str, *values: Value) -> str | None:
    """Return what an error says that it got; None for a call that is right."""
    signature = Signature.parse(f"f(a: Optional(int64), n: int64) where {where}")
    found = judge_call(signature, Arguments(values))
    return found.message.rpartition(" but got ")[2] if isinstance(found, Rejected) else None


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        # `a` is absent, so what compares it is unknown; n * n overflows.
        ("a < n and (n < 0 or n * n <= 4)", OVERFLOW),
        ("not a < n and (n < 0 or n * n <= 4)", OVERFLOW),
        ("not (a < n or not (n < 0 or n * n <= 4))", OVERFLOW),
        ("not (a < n and n > 0) and n * n <= 4", OVERFLOW),
        ("a < n and not n * n <= 4", OVERFLOW),
        ("a < n and n * n <= 4 and n < 0", f"a = None, n = {LARGE} from n"),
        ("(a < n or n < 0) and n < 1 and n * n > 0", f"a = None, n = {LARGE} from n"),
        ("a < n or n * n <= 4", None),
        ("not (a < n and n * n <= 4)", None),
        ("not a < n or not n * n <= 4", None),
        # What overflows and is unknown is unknown.
        ("a < n * n and n > 0", None),
        ("not a < n * n and n > 0", None),
    ],
)
def test_an_overflow_beside_what_is_unknown(where: str, expected: str | None) -> None:
    assert got(where, NONE, of_int(LARGE)) == expected


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("a < n and (n < 0 or n * n <= 4)", OVERFLOW),
        ("a > n and (n < 0 or n * n <= 4)", f"a = 1 from a, n = {LARGE} from n"),
        ("a > n or (n < 0 or n * n <= 4)", OVERFLOW),
        ("not (a > n or not n * n <= 4)", OVERFLOW),
    ],
)
def test_an_overflow_beside_what_is_known(where: str, expected: str | None) -> None:
    assert got(where, of_int(1), of_int(LARGE)) == expected
