"""The largest expressions that there can be fit the stack of the diagnosis."""

from __future__ import annotations

import pytest

from ffi_builder.errors import SpecError
from ffi_builder.providers import NopCallProvider
from ffi_builder.spec import Expr, Tensor
from tests.differential.tricky import n, nested
from tests.support.wrapping import wrap


def left_nested(leaves: int) -> Expr:
    expression = n + n
    for _ in range(leaves - 2):
        expression = expression + n
    return expression


@pytest.mark.parametrize("make", [nested, left_nested])
def test_the_largest_expression(make: type[Expr]) -> None:
    """64 leaves; nested to the right each of them is on the stack at once."""
    expression = make(64)  # pyright: ignore[reportCallIssue]
    function = wrap([n, Tensor("A", [expression], "float32", device_type="cpu")], NopCallProvider())
    with pytest.raises(TypeError, match="type of A on argument #1"):
        function(3, None)
    with pytest.raises(SpecError, match="expression of 129 parts is too large; at most 127"):
        make(65)  # pyright: ignore[reportCallIssue]
