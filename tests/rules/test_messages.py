"""Messages of whole calls."""

from __future__ import annotations

import pytest

from tests.differential.description import NONE, Arguments, DLTensor, of_int, tensor
from tests.oracle import Rejected
from tests.rules.calls import Function

MATMUL = (
    "matmul(A: Tensor([n, k], float32), B: Tensor([k, m], float32), C: Tensor([n, m], float32))"
)


def message(text: str, given: Arguments) -> str:
    found = Function(text).verdict(given)
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
