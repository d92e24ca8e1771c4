"""A wrapper with parameters of many kinds, defaults and documentation."""

from __future__ import annotations

from typing import Any

from ffi_builder import attach
from ffi_builder.providers import NopCallProvider
from ffi_builder.spec import Choice, Signature, Struct, Tensor, TupleParam, Var
from tests.support.wrapping import new_module

PARAMS = [
    Tensor("x", [Var("n", "int64"), 4], "float32", device_type="cpu", doc="the input"),
    Choice("act", {"a, b: (c) [": 1, "{d}": 2}, default="{d}"),
    Struct("cfg", [Var("lr", "float32"), TupleParam("t", [Var("i", "int8")])], default=(1.5, (2,))),
    Var("k", "int64", divisibility=2, default=-4, kw_only=True),
]


def described(distribution: str = "torch_mlir") -> Any:
    module = new_module(distribution=distribution)
    attach(module, Signature("f", PARAMS, doc="Do it."), NopCallProvider())
    return module
