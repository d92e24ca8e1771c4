"""Functions of JAX that take lists of arrays, tuples, structs, and static lists of numbers."""

# Functions that JAX calls are typed as Any.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import dataclasses
from typing import Any, Final, NamedTuple

import numpy as np
import pytest

from ffi_builder import SpecError
from ffi_builder.frameworks import jax as ffi_jax
from tests.frameworks.jax.kernels import function
from tests.frameworks.jax.support import Recorded, bare_scale, jax, jnp, parse
from tests.runtime.samples import needs_cc

X: Final = np.arange(3, dtype="float32")
OUT: Final = "y: Tensor([2], int8, intent=out)"


@needs_cc
def test_a_list_of_arrays() -> None:
    add_up = ffi_jax.function(function("add_up"))
    assert str(add_up) == "<function of JAX add_up(xs, at, weights, *, y=None)>"
    assert add_up([X, X + 1], [0, 1, 1], [1.0, 2, 3]).tolist() == [5, 11, 17]
    jitted = jax.jit(lambda x, xs: add_up([x, *xs], (2, 0), (1.0, 1.0)))
    assert jitted(X, [X + 1, X + 2]).tolist() == [2, 4, 6]
    assert jitted(X, (X, X, X)).tolist() == [0, 2, 4]
    assert add_up([], [], [], y=jax.ShapeDtypeStruct((2,), "float32")).tolist() == [0, 0]
    with pytest.raises(
        TypeError, match=r"the shape of the output 'y' does not follow .*: give y=j"
    ):
        add_up([], [], [])


@needs_cc
def test_batches_and_derivatives_of_a_list() -> None:
    def forward(xs: Any, at: Any, weights: Any) -> Any:
        return add_up(xs, at, weights), len(xs)

    def backward(count: int, cotangent: Any, at: Any, weights: Any) -> Any:
        by = [sum(w for a, w in zip(at, weights, strict=True) if a == i) for i in range(count)]
        return (tuple(each * cotangent for each in by),)

    add_up = ffi_jax.function(function("add_up"), vjp=(forward, backward))
    weights = (1.0, 2.0, 3.0)
    gradient = jax.jit(jax.grad(lambda xs: add_up(xs, (0, 1, 1), weights).sum()))([X, X])
    assert [each.tolist() for each in gradient] == [[1] * 3, [5] * 3]
    rows = np.arange(6, dtype="float32").reshape(2, 3)
    summed = jax.vmap(lambda x: add_up([x, X], (0, 1), (1.0, 2.0)))(rows)
    assert summed.tolist() == (rows + 2 * X).tolist()

    def rule(size: int, batched: Any, xs: Any, at: Any, weights: Any) -> Any:
        assert batched == [(True, False)]
        return jnp.stack([add_up((row, xs[1]), at, weights) for row in xs[0]]), True

    ruled = ffi_jax.function(function("add_up"), vmap=rule)
    summed = jax.vmap(lambda x: ruled([x, X], (0, 1), (1.0, 2.0)))(rows)
    assert summed.tolist() == (rows + 2 * X).tolist()


class Config(NamedTuple):
    x: Any
    a: float
    b: Any


@dataclasses.dataclass
class Settings:
    x: Any
    a: float
    b: Any


@needs_cc
def test_structs() -> None:
    affine = ffi_jax.function(function("affine"))
    for made in (Config, Settings, lambda x, a, b: [x, a, b]):
        assert affine(made(X, 2.0, X + 1)).tolist() == [1, 4, 7]
        assert affine(made(X, 3.0, None)).tolist() == [0, 3, 6]
    assert jax.jit(lambda x, b: affine((x, 2, b)))(X, X).tolist() == [0, 3, 6]
    with pytest.raises(
        TypeError, match=r"affine\(\): 'cfg\.a' is static, .* traced value of float"
    ):
        jax.jit(lambda x, a: affine((x, a, None)))(X, 2.0)
    with pytest.raises(TypeError, match=r"'cfg\.a' is static, so it expects a value of Python"):
        affine((X, X, None))
    with pytest.raises(
        SpecError, match="'cfg' has arrays and static values, which a rule could no"
    ):
        ffi_jax.function(function("affine"), vjp=(len, len))


@pytest.mark.parametrize(
    ("text", "args", "expected"),
    [
        pytest.param(
            f"f(ints: List(int64), {OUT}, floats: List(float32), bools: List(bool))",
            [[3, -1, 2**62], (1, 0.5), [True, False]],
            [(3, -1, 2**62), "int8[2]", (1, 0.5), (1, 0)],
            id="lists of numbers",
        ),
        pytest.param(
            f"f(t: Tuple(a: int32, b: Tuple(c: String, d: List(int32), e: bool)), {OUT})",
            [(1, ("é", [], True))],
            [(1, ("é", (), True)), "int8[2]"],
            id="a static tuple",
        ),
        pytest.param(
            f"f(o: Optional(TensorList(Tensor([n], float32, intent=in))), {OUT}, "
            "t: Tuple(k: Optional(int32)))",
            [None, (None,)],
            [None, "int8[2]", (None,)],
            id="absent",
        ),
    ],
)
def test_what_the_function_gets(text: str, args: list[Any], expected: list[Any]) -> None:
    assert Recorded(text)(*args) == expected


def test_static_tuples_are_told_apart() -> None:
    recorded = Recorded(f"f(t: Tuple(a: float64, b: Optional(bool)), {OUT})")
    for value in ((0.0, None), (-0.0, None), (1.0, True), (1.0, False)):
        ((a, b), _) = recorded(value)
        assert (str(a), b) == (str(value[0]), value[1])


@needs_cc
@pytest.mark.parametrize(
    ("args", "error", "words"),
    [
        (([X, X[1:]], [], []), ValueError, r"Mismatched xs\[1\]\.shape\[0\] .*expected 3 .*got 2"),
        (([X, None], [], []), TypeError, r"Mismatched type of xs\[1\] .*expected Tensor but got N"),
        (([X, "a"], [], []), TypeError, r"add_up\(\): 'xs\[1\]' expects an array of JAX or NumPy"),
        ((X, [], []), TypeError, r"Mismatched type of xs .*expected list of tensors but got"),
        ((3, [], []), TypeError, r"Mismatched type of xs .*expected list of tensors but got int"),
        (([X], [1.5], []), TypeError, r"Mismatched type of at\[0\] .*expected int but got float"),
        (([X], [1], []), ValueError, r"Mismatched length of weights .*expected 1 .* but got 0"),
        (
            ([X], X, []),
            TypeError,
            r"'at' is static, so it expects a value of Python, but got an ar",
        ),
    ],
)
def test_what_is_wrong(args: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        ffi_jax.function(function("add_up"))(*args)


@needs_cc
def test_sizes_that_are_not_known_yet() -> None:
    add_up = ffi_jax.function(function("add_up"))
    (n,) = jax.export.symbolic_shape("n")
    shape = jax.ShapeDtypeStruct((n,), "float32")
    assert jax.eval_shape(lambda x: add_up([x, x], [], []), shape) == shape


def test_targets_of_lists() -> None:
    recorded = Recorded(f"f(xs: TensorList(Tensor([n], float32, intent=in)), {OUT})")
    shown = jax.jit(lambda: recorded.function([X, X])).lower().as_text()
    assert f'@"{recorded.function.target}#xs.2"(' in shown


def test_lists_of_a_known_length_have_the_name_of_the_target() -> None:
    text = f"f(xs: TensorList(Tensor([n], float32, intent=in), length=2), {OUT})"
    made = ffi_jax.function(bare_scale(), signature=parse(text))
    shown = jax.jit(lambda: made([X, X])).lower().as_text()
    assert f"@{made.target}(" in shown
