"""Messages of whole calls, and long ones: a wrapper sets aside room for its longest one."""

from __future__ import annotations

import operator
from functools import reduce

import pytest

from ffi_builder.spec import Signature, Tensor, Var
from ffi_builder.spec.expr import Expr
from tests.differential.description import NONE, Arguments, DLTensor, of_int, tensor
from tests.oracle import Rejected
from tests.rules.calls import Function

MATMUL = (
    "matmul(A: Tensor([n, k], float32), B: Tensor([k, m], float32), C: Tensor([n, m], float32))"
)


def message(signature: str | Signature, given: Arguments) -> str:
    found = Function(signature).verdict(given)
    assert isinstance(found, Rejected)
    return f"{found.kind}: {found.message}"


def test_the_one_of_the_design() -> None:
    given = [tensor(DLTensor(dims)) for dims in ((2, 3), (4, 5), (2, 5))]
    assert message(MATMUL, Arguments(tuple(given))) == (
        f"ValueError: Mismatched B.shape[0] on argument #1 when calling: `{MATMUL}`, "
        "expected 3 (k = A.shape[1]) but got 4"
    )


@pytest.mark.parametrize("count", [0, 2, 4, -1, 2**31 - 1])
def test_number_of_arguments(count: int) -> None:
    assert message(MATMUL, Arguments(None, count)) == (
        f"TypeError: Mismatched number of arguments when calling: `{MATMUL}`, expected 3 but got {count}"
    )


@pytest.mark.parametrize("length", [399, 400])
def test_whole_up_to_400_characters(length: int) -> None:
    name = "f" * (length - len("(a: None, b: None, c: None)"))
    text = f"{name}(a: None, b: None, c: None)"
    assert f"`{text}`" in message(text, Arguments(None, 0))


@pytest.mark.parametrize(
    ("wrong", "shown"),
    [(0, "(a: None, ...)"), (1, "(..., b: None, ...)"), (2, "(..., c: None)"), (None, "(...)")],
)
def test_elided_beyond(wrong: int | None, shown: str) -> None:
    name = "f" * (401 - len("(a: None, b: None, c: None)"))
    given = tuple(of_int(0) if index == wrong else NONE for index in range(3))
    arguments = Arguments(given) if wrong is not None else Arguments(None, 3)
    assert f"`{name}{shown}`" in message(f"{name}(a: None, b: None, c: None)", arguments)


def test_the_only_argument_is_shown_whole() -> None:
    text = f"f(s: Shape([{', '.join(['1'] * 200)}]))"
    assert f"`{text}`" in message(text, Arguments((NONE,)))


def test_an_env_stream_is_no_argument() -> None:
    text = "f(stream: EnvStream, x: Tensor([], float32, device_type=cuda), y: bool)"
    given = Arguments((tensor(DLTensor((), device_type=2)), NONE))
    assert message(text, given) == (
        "TypeError: Mismatched type of y on argument #1 when calling: "
        "`f(x: Tensor([], float32), y: bool)`, expected bool but got None"
    )


def of_expression(symbols: list[Var], expression: Expr) -> str:
    """The message where every symbol is 0, and the stride that is the expression is 7."""
    x = Tensor("x", [None], "float32", device_type="cpu", strides=[expression])
    given = [*(of_int(0) for _ in symbols), tensor(DLTensor((2,), (7,)))]
    found = message(Signature("f", [*symbols, x]), Arguments(tuple(given)))
    assert f"`f(..., x: Tensor([None], float32, strides=[{expression}]))`" in found
    bound = ", ".join(f"{var.name} = 0 from {var.name}" for var in symbols)
    assert f"expected 0 ({expression} with {bound}) but got 7 (shape=[2], strides=[7])" in found
    return found


def test_an_argument_and_an_expression_that_are_long() -> None:
    """Each of them takes as much as all other texts of the wrapper together."""
    name = Var("n" * 480, "int64")
    assert len(of_expression([name], reduce(operator.add, [name] * 58, name + name))) > 58_000


def test_many_symbols_with_long_names() -> None:
    """Each is named thrice behind the signature: in the expression, with its value, as its place."""
    symbols = [Var(f"{'n' * 150}{index}", "int64") for index in range(60)]
    assert len(of_expression(symbols, reduce(operator.add, symbols[1:], symbols[0] + 0))) > 36_000


def test_a_layout_of_many_dimensions() -> None:
    """Each number of as many digits as there can be, in a wrapper with hardly any text."""
    size = 2**62 + 1
    given = tensor(DLTensor((size,) * 64, (-size,) * 64))
    found = message("f(x: Tensor(..., float32))", Arguments((given,)))
    assert found.endswith(f"but got {-size} (shape={[size] * 64}, strides={[-size] * 64})")
    assert len(found) > 2_800
