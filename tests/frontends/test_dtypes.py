"""Frameworks' own dtypes, as those of a signature."""

from __future__ import annotations

from typing import Any

import pytest

from ffi_builder.spec import Tensor, Var
from tests.frontends.support import needs


def kept(dtype: Any) -> object:
    return Tensor("x", [4], dtype, device_type="cpu").dtype


@pytest.mark.parametrize(
    "name",
    [
        *("float16", "bfloat16", "float32", "float64", "int8", "int64", "uint8", "uint16", "bool"),
        *("complex64", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"),
    ],
)
def test_torch(name: str) -> None:
    assert kept(getattr(needs("torch"), name)) == name


def test_torch_by_other_names() -> None:
    torch = needs("torch")
    assert kept(torch.half) == "float16"
    assert kept(torch.float4_e2m1fn_x2) == "float4_e2m1fnx2"
    assert Var("a", torch.float32).dtype == "float32"
    several = Tensor("x", [4], [torch.float16, torch.bfloat16], device_type="cpu")
    assert several.dtypes == ("float16", "bfloat16")


@pytest.mark.parametrize("name", ["float32", "bfloat16", "int8", "bool_", "float8_e4m3fn"])
def test_jax(name: str) -> None:
    numbers = needs("jax").numpy
    given = getattr(numbers, name)
    assert kept(given) == kept(numbers.dtype(given)) == name.rstrip("_")
