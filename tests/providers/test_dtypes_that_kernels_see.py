"""A kernel that gets the address of a tensor must be able to know its dtype."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import attach
from ffi_builder.errors import BuildError
from ffi_builder.ir import Block
from ffi_builder.providers import (
    CallContext,
    CallProvider,
    CheckStatus,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
    NestedTensorCallProvider,
    NopCallProvider,
    PackedCallProvider,
    Variant,
    VariantsCallProvider,
    when,
)
from ffi_builder.spec import Field, Optional, Signature, Struct, Tensor, dims
from tests.support.wrapping import attached, new_module, wrap

(n,) = dims("n")
X: Final = Tensor("x", [n], ["float32", "float64"], device_type="cpu")


def choosing(*tensors: Tensor) -> CallProvider:
    """Choose a kernel for float32 by these tensors, or one that takes anything."""
    condition = when.all_of(*(when.dtype(tensor) == "float32" for tensor in tensors))
    names = [tensor.name for tensor in tensors]
    return VariantsCallProvider(
        [
            Variant(DirectCallProvider("single", args=["x", "z"]), when=condition),
            Variant(DirectCallProvider("other", args=[f"{name}.data" for name in names])),
        ]
    )


@pytest.mark.parametrize(
    ("provider", "name"),
    [
        (DirectCallProvider("k"), "DirectCallProvider"),
        (DirectCallProvider("k", args=["n", "x"]), "DirectCallProvider"),
        (DynamicParamPackCallProvider("k"), "DynamicParamPackCallProvider"),
        (MemRefCallProvider("k"), "MemRefCallProvider"),
        (NestedTensorCallProvider("k"), "NestedTensorCallProvider"),
        (CheckStatus(DirectCallProvider("k")), "CheckStatus"),
    ],
)
def test_an_address_alone(provider: Any, name: str) -> None:
    with pytest.raises(BuildError) as raised:
        attached([X], provider)
    assert str(raised.value) == (
        f"{name}: Tensor 'x' may have the dtypes float32, float64, and the kernel gets its address "
        f"alone: pass 'x.dtype' too, or 'x.data' if the kernel works on any of them, or choose a "
        f"kernel for each with VariantsCallProvider"
    )
    attached([Tensor("x", [n], "float32", device_type="cpu")], provider)


def test_an_optional_tensor() -> None:
    with pytest.raises(BuildError, match="Tensor 'x' may have the dtypes float32, float64"):
        attached([Optional(X)], DirectCallProvider("k"))
    attached([Optional(X)], DirectCallProvider("k", args=["x", "x.dtype"]))


@pytest.mark.parametrize("args", [["x", "x.dtype"], ["x.dtype", "x"], ["x.data"], ["x.dltensor"]])
def test_a_kernel_that_can_know_it(args: list[str]) -> None:
    attached([X], DirectCallProvider("k", args=args))


def test_a_packed_function_gets_tensors() -> None:
    attached([X], PackedCallProvider("g"))


def test_a_result_with_the_dtype_of_an_argument() -> None:
    y = Tensor("y", "x.shape", "x.dtype", device_type="cpu")
    signature = Signature("f", [X], y)
    attach(new_module(), signature, DirectCallProvider("k", args=["x", "x.dtype", "y"]))
    with pytest.raises(BuildError, match="Tensor 'y' may have the dtypes float32, float64"):
        attach(new_module(), signature, DirectCallProvider("k", args=["y"]))


def test_a_condition_on_another_tensor() -> None:
    z = Tensor("z", [n], ["float32", "float64"], device_type="cpu")
    with pytest.raises(BuildError, match="Tensor 'z' may have the dtypes float32, float64"):
        attached([X, z], choosing(X))
    attached([X, z], choosing(X, z))


@pytest.mark.parametrize("dtypes", [["int8", "uint8", "bool"], ["int32x2", "uint32x2"]])
def test_integers_of_one_width(dtypes: list[str]) -> None:
    attached([Tensor("x", [n], dtypes, device_type="cpu")], DirectCallProvider("k"))


@pytest.mark.parametrize("dtypes", [["int8", "int16"], ["float16", "bfloat16"], ["int8", "int8x2"]])
def test_other_dtypes_of_numbers(dtypes: list[str]) -> None:
    with pytest.raises(BuildError, match=f"may have the dtypes {dtypes[0]}, {dtypes[1]},"):
        attached([Tensor("x", [n], dtypes, device_type="cpu")], DirectCallProvider("k"))


class Own(NopCallProvider):
    """A provider of an author."""

    def __init__(self, any_dtype: bool) -> None:
        self.any_dtype = any_dtype

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Take the address, and call nothing."""
        if self.any_dtype:
            context.any_dtype(X)
        context.data(X)
        return current_block


def test_a_provider_of_ones_own() -> None:
    with pytest.raises(BuildError) as raised:
        attached([X], Own(any_dtype=False))
    assert str(raised.value) == (
        "Own: Tensor 'x' may have the dtypes float32, float64, and the kernel gets its address "
        "alone: pass context.dtype(x) too, or call context.any_dtype(x) if the kernel works on any "
        "of them, or choose a kernel for each with VariantsCallProvider"
    )
    wrap([X], Own(any_dtype=True))(np.zeros(2, "float32"))


def test_what_else_an_author_may_ask_for() -> None:
    def any_of_them(current_block: Block, context: CallContext) -> Block:
        context.address(X)
        return current_block

    def part(current_block: Block, context: CallContext) -> Block:
        context.data(X)
        assert context.matched_var_binding[Field(X, "dtype")].type == context.builder.types.i32
        return current_block

    for provider in (any_of_them, part):
        wrap([X], provider)(np.zeros(2, "float32"))


def test_a_subclass_of_a_ready_made_provider() -> None:
    class Mine(DirectCallProvider):
        pass

    with pytest.raises(BuildError, match=r"^Mine: Tensor 'x' may .*: pass 'x.dtype' too, or"):
        attached([X], Mine("k"))


def test_one_dtype_tells_those_that_follow_it() -> None:
    y = Tensor("y", [n], "x.dtype", device_type="cpu")
    z = Tensor("z", [n], "y.dtype", device_type="cpu")
    attached([X, y, z], DirectCallProvider("k", args=["x", "y", "z", "x.dtype"]))
    attached([X, y, z], DirectCallProvider("k", args=["x", "z.dtype"]))
    with pytest.raises(BuildError, match="Tensor 'z' may have the dtypes float32, float64"):
        attached([X, y, z], DirectCallProvider("k", args=["z"]))


def test_equal_parameters() -> None:
    """Nothing tells which of them a kernel gets, or which one a condition is about."""
    pair = [Struct("a", [X]), Struct("b", [X])]
    words = "Tensor 'a.x' may have the dtypes .* give a.x and b.x different names"
    for args in (["a", "b"], ["a", "b", "a.x.dtype"]):
        with pytest.raises(BuildError, match=words):
            attached(pair, DirectCallProvider("k", args=args))
    attached(pair, DirectCallProvider("k", args=["a.x.data", "b.x.data"]))


def test_every_provider_takes_an_address_for_any_dtype() -> None:
    attached([X], PackedCallProvider("k", args=["x.data"]))
    attached([X], DirectCallProvider("k", args=["x", "x.dltensor"]))
