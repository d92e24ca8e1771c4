"""Expressions that take more than the diagnosis has room for are refused."""

from __future__ import annotations

import pytest

from ffi_builder import attach_ffi_func
from ffi_builder.errors import BuildError
from ffi_builder.providers import NopCallProvider
from ffi_builder.spec import Param, Tensor, Var
from tests.differential.tricky import n, nested
from tests.support.wrapping import new_module


def params(depth: int) -> list[Param]:
    entry = nested(depth)
    return [Var("n", "int64"), Tensor("A", [entry], "float32", device_type="cpu")]


def test_too_deep(distribution: str) -> None:
    module = new_module(distribution=distribution)
    before = str(module)
    with pytest.raises(
        BuildError, match=r"^f: evaluating n - .* takes a stack of 65 values; at most 64$"
    ):
        attach_ffi_func(module, "f", params(65), NopCallProvider())
    assert str(module) == before
    attach_ffi_func(module, "f", params(64), NopCallProvider())


def test_left_operands_take_no_room(distribution: str) -> None:
    expression = n + 1
    for _ in range(100):
        expression = expression + n
    module = new_module(distribution=distribution)
    params: list[Param] = [n, Tensor("A", [expression], "float32", device_type="cpu")]
    attach_ffi_func(module, "f", params, NopCallProvider())
