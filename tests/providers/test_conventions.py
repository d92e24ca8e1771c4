"""Callees that are not called as C functions are."""

from __future__ import annotations

import platform
from typing import Any

import pytest

from ffi_builder import attach_ffi_func
from ffi_builder.errors import BuildError
from ffi_builder.ir import Block
from ffi_builder.providers import CallContext, DirectCallProvider
from ffi_builder.spec import Var
from tests.support.wrapping import new_module, wrap

PARAMS = [Var(name, "int32") for name in "abc"]
KERNEL = """
llvm.mlir.global internal @seen(0 : i32) : i32
llvm.func {} @k(%a: i32, %b: i32, %c: i32) -> i32 {{
  %sum = llvm.sub %a, %b : i32
  %all = llvm.mul %sum, %c : i32
  llvm.return %all : i32
}}
llvm.func @packed(%params: !llvm.ptr) -> i32 {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}}
"""


def checked(block: Block, context: CallContext) -> Block:
    """A provider that shows what the callee returned."""
    b = context.builder
    values = [context.value(var) for var in PARAMS]
    convention = {"CConv": b.types.attribute("#llvm.cconv<fastcc>")}
    result = b.call_value("k", values, b.types.i32, convention)
    b.check(b.eq(result, b.i32(0)), "ValueError", "got {}", result)
    return b.block


OF_THIS_MACHINE = {"aarch64": "aarch64_vectorcallcc"}.get(platform.machine(), "x86_regcallcc")


@pytest.mark.parametrize("convention", ["fastcc", "tailcc", "win64cc", OF_THIS_MACHINE, "ccc"])
def test_the_call_is_in_the_convention_of_the_callee(convention: str) -> None:
    text = KERNEL.format("" if convention == "ccc" else convention)
    function = wrap(PARAMS, DirectCallProvider("k"), text)
    function(1, 2, 3)


def test_a_provider_calls_in_the_convention() -> None:
    def provider(current_block: Block, context: CallContext) -> Block:
        return checked(current_block, context)

    with pytest.raises(ValueError, match=r"got 21 when calling: `f\("):
        wrap(PARAMS, provider, KERNEL.format("fastcc"))(10, 3, 3)


def test_a_provider_that_calls_in_another_one() -> None:
    def provider(current_block: Block, context: CallContext) -> Any:
        return checked(current_block, context)

    module = new_module(KERNEL.format("win64cc"))
    before = str(module)
    words = "in the convention #llvm.cconv<fastcc>, but it has #llvm.cconv<win64cc>; give the call"
    with pytest.raises(BuildError, match=words):
        attach_ffi_func(module, "f", PARAMS, provider)
    assert str(module) == before
