"""Functions of JAX of functions that return numbers, which come back as arrays."""

# Functions that JAX calls are typed as Any.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any, cast

import pytest
import tvm_ffi

from ffi_builder import SpecError
from ffi_builder.frameworks import jax as ffi_jax
from tests.frameworks.jax.kernels import function
from tests.frameworks.jax.support import bare_scale, jax, jnp, parse
from tests.runtime.samples import needs_cc

pytestmark = needs_cc
IN = "x: Tensor([n], float32, intent=in)"


def test_a_number() -> None:
    dot = ffi_jax.function(function("dot"), results="tensors")
    with jax.enable_x64(True):
        x = jnp.arange(3.0)
        r = dot(x, x + 1)
        assert (float(r), r.shape, r.dtype) == (8, (), "float64")
        assert jax.jit(lambda x: x / dot(x, x))(x).tolist() == [0, 0.2, 0.4]
        assert jax.eval_shape(dot, x, x) == jax.ShapeDtypeStruct((), "float64")
        rows = jnp.arange(6.0).reshape(2, 3)
        assert jax.jit(jax.vmap(dot))(rows, rows).tolist() == [5, 50]


def test_numbers_come_behind_outputs() -> None:
    scan = ffi_jax.function(function("scan"), results="tensors")
    with jax.enable_x64(True):
        y, big, last, bits, least = jax.jit(scan)(jnp.ones(3, "float32"))
    assert [y.tolist(), bool(big), float(last), int(least)] == [[1, 2, 3], True, 3, -3]
    assert int(bits) == 2**64 - 4
    assert [each.dtype for each in (big, last, bits, least)] == [
        "bool",
        "float32",
        "uint64",
        "int8",
    ]


def test_a_derivative() -> None:
    def forward(x: Any, by: float) -> Any:
        return total(x, by), x

    def backward(x: Any, cotangent: Any, by: float) -> Any:
        return (jnp.full(x.shape, by * cotangent),)

    total = ffi_jax.function(function("total"), results="tensors", vjp=(forward, backward))
    assert jax.jit(jax.grad(lambda x: 3 * total(x, by=2.0)))(jnp.ones(2)).tolist() == [6, 6]


def test_dtypes_that_jax_lacks() -> None:
    scan = ffi_jax.function(function("scan"), results="tensors")
    with pytest.raises(
        TypeError, match=r"'bits' is uint64, which JAX has only within `with jax\.e"
    ):
        scan(jnp.ones(3))


def test_floats_of_16_bits() -> None:
    """The code that writes them converts no double to them."""
    signature = parse(f"f({IN}) -> (r: float16, s: bfloat16)")
    made = ffi_jax.function(
        tvm_ffi.convert(lambda _: [1.5, 0.125]), signature=signature, results="tensors"
    )
    r, s = made(jnp.ones(2))
    assert (float(r), r.dtype, float(s), s.dtype) == (1.5, "float16", 0.125, "bfloat16")


@pytest.mark.parametrize(
    ("results", "returned", "words"),
    [
        ("r: float32", 1, "expected that the function returns r: float32"),
        ("r: int32", 1.5, "expected that the function returns r: int32"),
        ("r: int32", None, "expected that the function returns r: int32"),
        ("(r: int32, s: bool)", 3, "expected that the function returns a list of its results"),
        ("(r: int32, s: bool)", [3], "expected that the function returns as many results as it ha"),
        ("(r: int32, s: bool)", [3, "a" * 20], "expected that the function returns s: bool"),
    ],
)
def test_what_else_a_function_returns(results: str, returned: Any, words: str) -> None:
    made = ffi_jax.function(
        tvm_ffi.convert(lambda _: returned),
        signature=parse(f"f({IN}) -> {results}"),
        results="tensors",
    )
    with pytest.raises(jax.errors.JaxRuntimeError, match=words):
        jax.block_until_ready(made(jnp.ones(2)))


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (f"f({IN}) -> r: int32", {}, "the result 'r' is a number, .*: give results='tensors'"),
        (f"f({IN}) -> r: handle", {"results": "tensors"}, "'r' is a handle, which no tensor has"),
        (f"f({IN}) -> r: String", {"results": "tensors"}, "'r' is a String, which XLA cannot ret"),
        (f"f({IN}) -> r: DType", {"results": "tensors"}, "'r' is a DType, which XLA cannot return"),
        (
            "f(x: Tensor([n], float32, device_type=cuda, intent=in)) -> r: int32",
            {"results": "tensors"},
            "the result 'r' is a number, which is returned on the host, but results of XLA are on",
        ),
    ],
)
def test_results_that_are_refused(text: str, options: Any, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        ffi_jax.function(bare_scale(), signature=parse(text), **options)


def test_an_unknown_form_of_results() -> None:
    with pytest.raises(ValueError, match="results: expected 'tensors' or None but got 'array'"):
        ffi_jax.function(function("dot"), results=cast("Any", "array"))
