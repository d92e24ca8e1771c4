"""Long messages are whole: a wrapper sets aside as much room as its longest one takes."""

from __future__ import annotations

import functools
import operator
from typing import Final

from ffi_builder import spec
from ffi_builder.spec import Tensor, Var
from ffi_builder.spec.expr import Expr
from tests.builder.messages.failing import Failure, check_both, compile_all
from tests.differential.description import DLTensor, of_int, tensor

LARGEST: Final = 2**62 + 1


def check(failure: Failure, at_least: int) -> None:
    assert len(failure.message) >= at_least
    check_both(failure, compile_all({"f": failure})["f"])


def of_expression(symbols: list[Var], expression: Var | Expr) -> Failure:
    """Every symbol is 0, and the stride that is the expression is 7."""
    stride = Tensor("x", [None], "float32", device_type="cpu", strides=[expression])
    params: list[spec.Param] = [*symbols, stride]
    bound = ", ".join(f"{var.name} = 0 from {var.name}" for var in symbols)
    return Failure(
        params,
        [*(of_int(0) for _ in symbols), tensor(DLTensor((2,), (7,)))],
        "ValueError",
        f"x.strides[0] on argument #{len(symbols)}",
        f"f(..., x: Tensor([None], float32, strides=[{expression}]))",
        f"0 ({expression} with {bound})",
        "7 (shape=[2], strides=[7])",
    )


def test_an_argument_and_an_expression_that_are_long() -> None:
    """Each of them takes as much as all other texts of the wrapper together."""
    name = Var("n" * 480, "int64")
    check(
        of_expression([name], functools.reduce(operator.add, [name + name] + [name] * 58)), 58_000
    )


def test_many_symbols_with_long_names() -> None:
    """Each is named thrice behind the signature: in the expression, with its value, as its place."""
    symbols = [Var(f"{'n' * 150}{index}", "int64") for index in range(60)]
    first, *others = symbols
    check(of_expression(symbols, functools.reduce(operator.add, others, first + 0)), 36_000)


def test_a_layout_of_many_dimensions() -> None:
    """Each number of as many digits as there can be, in a wrapper with hardly any text."""
    shape, strides = [LARGEST] * 64, [-LARGEST] * 64
    failure = Failure(
        [Tensor("x", ..., "float32", device_type="cpu")],
        [tensor(DLTensor(tuple(shape), tuple(strides)))],
        "ValueError",
        "x.strides[0] on argument #0",
        "f(x: Tensor(..., float32))",
        f"{signed(LARGEST**63)} (row-major contiguous)",
        f"{-LARGEST} (shape={shape}, strides={strides})",
    )
    check(failure, 2_800)


def signed(value: int) -> int:
    """The int64 with these bits."""
    return (value + 2**63) % 2**64 - 2**63
