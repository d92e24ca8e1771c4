"""Functions of JAX: which dtypes operands may have, and which dtype an output gets."""

# Functions that JAX calls are typed as Any.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.frameworks.jax.support import Recorded, jax, jnp


@pytest.fixture
def x64() -> Iterator[None]:
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


@pytest.mark.parametrize("dtype", sorted({"float64", "int64", "uint64"}))
def test_dtypes_of_64_bits(dtype: str, x64: None) -> None:
    recorded = Recorded(
        f"f(x: Tensor([n], {dtype}, intent=in), y: Tensor([n], {dtype}, intent=out))"
    )
    assert recorded(jnp.ones(2, dtype)) == [f"{dtype}[2]"] * 2


@pytest.mark.parametrize(
    "dtype",
    [
        *("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32"),
        *("float16", "bfloat16", "float32", "float8_e4m3", "float8_e4m3b11fnuz"),
        *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
    ],
)
def test_dtypes(dtype: str) -> None:
    recorded = Recorded(
        f"f(x: Tensor([n], {dtype}, intent=in), y: Tensor([n], {dtype}, intent=out))"
    )
    assert recorded(jnp.ones(2, dtype)) == [f"{dtype}[2]"] * 2


BOTH = "float32 | float16"


@pytest.mark.parametrize(
    "text",
    [
        f"f(x: Tensor([n], {BOTH}, intent=in), y: Tensor([n], {BOTH}, intent=out))",
        f"f(y: Tensor([n], {BOTH}, intent=out), x: Tensor([n], {BOTH}, intent=in))",
        f"f(x: Tensor([n], {BOTH}, intent=inout), y: Tensor([n], {BOTH}, intent=out))",
    ],
)
def test_an_output_has_the_dtype_of_the_first_operand_with_the_same_ones(text: str) -> None:
    recorded = Recorded(text)
    for dtype in ("float32", "float16"):
        assert recorded(jnp.ones(2, dtype)) == [f"{dtype}[2]"] * 2
    with pytest.raises(TypeError, match=r"Mismatched x\.dtype .* one of float32, float16 but got"):
        recorded(jnp.ones(2, "int8"))


@pytest.mark.parametrize(
    "operand", ["x: Tensor([n], float16)", f"x: Optional(Tensor([n], {BOTH}))"]
)
def test_other_dtypes_and_optionals_do_not_say_that_of_an_output(operand: str) -> None:
    operand = operand.replace(")", ", intent=in)", 1)
    text = f"f({operand}, z: Tensor([n], int8, intent=in), y: Tensor([n], {BOTH}, intent=out))"
    recorded = Recorded(text)
    x, z = jnp.ones(2, "float16"), jnp.ones(2, "int8")
    # From 3.14 on, Python says that it is keyword-only.
    with pytest.raises(TypeError, match=r"missing a required (keyword-only )?argument: 'y'"):
        recorded(x, z)
    given = jax.ShapeDtypeStruct((2,), "float32")
    assert recorded(x, z, y=given) == ["float16[2]", "int8[2]", "float32[2]"]


def test_an_output_has_the_dtype_of_the_operand_that_it_names() -> None:
    recorded = Recorded(
        f"f(w: Tensor([n], {BOTH}, intent=in), x: Tensor([n], {BOTH}, intent=in), "
        "y: Tensor([n], x.dtype, intent=in), z: Tensor([n], y.dtype, intent=out), "
        "last: Tensor([n], z.dtype, intent=out))"
    )
    single, half = jnp.ones(2, "float32"), jnp.ones(2, "float16")
    assert recorded(single, half, half) == ["float32[2]", *["float16[2]"] * 4]
    words = r"Mismatched y\.dtype .* expected float16 \(dtype of x\) but got float32"
    with pytest.raises(TypeError, match=words):
        recorded(single, half, single)
