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
from ffi_builder.spec import Field, Optional, Param, Signature, Struct, Tensor, dims
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


def test_a_misspelt_callee_comes_first() -> None:
    text = "llvm.func @rsv(!llvm.ptr)"
    for provider in (MemRefCallProvider("rsx"), CheckStatus(DirectCallProvider("rsx"))):
        with pytest.raises(BuildError) as raised:
            attached([X], provider, text)
        start = (
            f"{type(provider).__name__}: the module has no @rsx, did you mean @rsv? Tensor 'x' may"
        )
        assert str(raised.value).startswith(start)
    for callee in ("rsv", "another_one"):
        with pytest.raises(
            BuildError, match=r"^DirectCallProvider: Tensor 'x' may have the dtypes"
        ):
            attached([X], DirectCallProvider(callee), text)


def test_a_result_with_the_dtype_of_an_argument() -> None:
    y = Tensor("y", "x.shape", "x.dtype", device_type="cpu")
    signature = Signature("f", [X], y)
    attach(new_module(), signature, DirectCallProvider("k", args=["x", "x.dtype", "y"]))
    with pytest.raises(BuildError, match="Tensor 'y' may have the dtypes float32, float64"):
        attach(new_module(), signature, DirectCallProvider("k", args=["y"]))


class Mine(DirectCallProvider):
    """A subclass of a ready-made provider."""


Y, Z = (Tensor(name, [n], f"{of}.dtype", device_type="cpu") for name, of in ("yx", "zy"))
OTHER: Final = Tensor("z", [n], ["float32", "float64"], device_type="cpu")
PAIR: Final[list[Param]] = [Struct("a", [X]), Struct("b", [X])]
DIRECT: Final = DirectCallProvider("k")


def direct(*args: str) -> DirectCallProvider:
    return DirectCallProvider("k", args=args)


def of_dtypes(*dtypes: str) -> Tensor:
    return Tensor("x", [n], dtypes, device_type="cpu")


KNOWN: Final[list[tuple[list[Param], CallProvider]]] = [
    *(([X], direct(*args)) for args in (("x", "x.dtype"), ("x.dtype", "x"), ("x.data",), ("x.dltensor",), ("x", "x.dltensor"))),
    ([X], PackedCallProvider("g")),
    ([X], PackedCallProvider("k", args=["x.data"])),
    ([Optional(X)], direct("x", "x.dtype")),
    ([X, OTHER], choosing(X, OTHER)),
    ([of_dtypes("int8", "uint8", "bool")], DIRECT),  # integers of one width
    ([of_dtypes("int32x2", "uint32x2")], DIRECT),
    # One dtype tells those that follow it.
    ([X, Y, Z], direct("x", "y", "z", "x.dtype")),
    ([X, Y, Z], direct("x", "z.dtype")),
    (PAIR, direct("a.x.data", "b.x.data")),
]  # fmt: skip


@pytest.mark.parametrize(("params", "provider"), KNOWN)
def test_a_kernel_that_can_know_it(params: list[Param], provider: CallProvider) -> None:
    attached(params, provider)


# Nothing tells which of two equal parameters a kernel gets, or which one a condition is about.
EQUAL: Final = "Tensor 'a.x' may have the dtypes .* give a.x and b.x different names"
UNKNOWN: Final[list[tuple[list[Param], CallProvider, str]]] = [
    ([Optional(X)], DIRECT, "Tensor 'x' may have the dtypes float32, float64"),
    ([X, OTHER], choosing(X), "Tensor 'z' may have the dtypes float32, float64"),
    ([X], Mine("k"), r"^Mine: Tensor 'x' may .*: pass 'x.dtype' too, or"),
    ([X, Y, Z], direct("z"), "Tensor 'z' may have the dtypes float32, float64"),
    (PAIR, direct("a", "b"), EQUAL),
    (PAIR, direct("a", "b", "a.x.dtype"), EQUAL),
    *(([of_dtypes(*two)], DIRECT, f"may have the dtypes {two[0]}, {two[1]},") for two in (("int8", "int16"), ("float16", "bfloat16"), ("int8", "int8x2"))),
]  # fmt: skip


@pytest.mark.parametrize(("params", "provider", "words"), UNKNOWN)
def test_a_kernel_that_cannot(params: list[Param], provider: CallProvider, words: str) -> None:
    with pytest.raises(BuildError, match=words):
        attached(params, provider)


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
