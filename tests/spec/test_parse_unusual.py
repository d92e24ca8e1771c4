"""Text that is far from a signature: no str, thousands of brackets, quoted words, Python."""

from __future__ import annotations

from typing import Any

import pytest

from ffi_builder import SpecError
from ffi_builder.spec import Signature


def test_no_text():
    not_text: Any = None
    with pytest.raises(SpecError, match=r"Signature\.parse: expected a str but got None"):
        Signature.parse(not_text)


@pytest.mark.parametrize("opening", ["(", "ceildiv(", "t: Tuple(", "t: Struct("])
def test_too_deep(opening: str):
    prefix = "f(" if opening.startswith("t") else "f(x: Tensor(["
    with pytest.raises(SpecError, match=r"^Signature\.parse: too deeply nested\n"):
        Signature.parse(prefix + opening * 5000)


@pytest.mark.parametrize(
    ("where", "read"),
    [("(n <= m)", "n <= m"), ("((n <= m))", "n <= m"), ("(n + 1) <= m", "n + 1 <= m")],
)
def test_a_relation_may_be_in_brackets(where: str, read: str) -> None:
    parsed = Signature.parse(f"f(x: Tensor([n, m], float32)) where {where}", device="cpu")
    assert str(parsed).partition(" where ")[2] == read
    with pytest.raises(SpecError, match=r"expected '\)' but got the end"):
        Signature.parse("f(x: Tensor([n, m], float32)) where (n <= m", device="cpu")
