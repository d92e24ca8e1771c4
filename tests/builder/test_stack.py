"""The largest expressions that there can be fit the stack of the diagnosis."""

from __future__ import annotations

import pytest

from ffi_builder.errors import SpecError
from ffi_builder.providers import NopCallProvider
from ffi_builder.spec import Choice, Optional, Param, Struct, Tensor, Var
from ffi_builder.spec.expr import Expr
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


def test_the_largest_hint() -> None:
    """Use the most and longest choices, for the longest str that errors show."""
    choices = {f"{index:03}{'x' * 60}": index for index in range(200)}
    function = wrap([Choice("act", choices)], NopCallProvider())
    for given, hint in (("y" + "x" * 62, "000"), ("100" + "x" * 61, "100"), ("z" * 10_000, None)):
        with pytest.raises(ValueError, match="expected one of") as raised:
            function(given)
        shown = f"(did you mean '{hint}{'x' * 60}'?)" if hint else "'..."
        assert str(raised.value).endswith(shown)


def test_optionals_and_structs_deep_within_each_other() -> None:
    param: Param = Var("a", "int8")
    given: object = 200
    depth = 40
    for _ in range(depth):
        param, given = Optional(Struct("s", [param])), (given,)
    function = wrap([param], NopCallProvider())
    for absent in range(depth):
        value: object = None
        for _ in range(absent):
            value = (value,)
        function(value)
    with pytest.raises(ValueError, match=r"a value that fits int8 \(-128 to 127\) but got 200"):
        function(given)
