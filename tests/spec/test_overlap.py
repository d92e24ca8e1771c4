"""``no_overlap``: what a Signature takes, how it is stored, and its text."""

from __future__ import annotations

from typing import Any, Final

import pytest

from ffi_builder import spec
from ffi_builder.spec import (
    Optional,
    Param,
    Signature,
    Struct,
    Tensor,
    TensorList,
    TupleParam,
    Var,
    dims,
    outline,
)

(n,) = dims("n")


def tensor(name: str, intent: str | None = None, device: str = "cpu") -> Tensor:
    return Tensor(name, [n], "float32", device_type=device, intent=intent)


PARAMS: Final[list[Param]] = [
    tensor("x", "in"),
    tensor("y", "out"),
    TupleParam("t", [tensor("a"), Optional(tensor("b", "inout"))]),
    Optional(Struct("s", [tensor("c"), TupleParam("u", [tensor("d", "out")])])),
    Var("k", "int64"),
]
TEXT: Final = (
    "f(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=out), "
    "t: Tuple(a: Tensor([n], float32), b: Optional(Tensor([n], float32, intent=inout))), "
    "s: Optional(Struct(c: Tensor([n], float32), u: Tuple(d: Tensor([n], float32, intent=out)))), "
    "k: int64)"
)


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ((), ()),
        ([], ()),
        (False, ()),
        (["y"], ("y",)),
        (("s.c", "x", "t[1]"), ("x", "t[1]", "s.c")),
        (True, ("y", "t[1]", "s.u[0]")),
    ],
)
def test_it_is_stored_as_names_in_order(given: Any, stored: tuple[str, ...]):
    made = Signature("f", PARAMS, no_overlap=given)
    assert made.no_overlap == stored
    assert Signature.parse(made.canonical()) == made
    assert eval(repr(made), {**vars(spec)}) == made
    assert hash(Signature("f", PARAMS, no_overlap=[*stored])) == hash(made)


def test_the_text():
    made = Signature("f", PARAMS, no_overlap=["s.u[0]", "y"])
    assert made.canonical(device="cpu") == f"{TEXT} where no_overlap(y, s.u[0])"
    assert repr(made).endswith("Var('k', 'int64')], no_overlap=['y', 's.u[0]'])")
    assert Signature.parse(TEXT, device="cpu") != made
    assert outline(made) == outline(Signature("f", PARAMS))


def test_it_stands_behind_the_constraints_of_symbols():
    even = Tensor("y", [Var("m", "int64", divisibility=2)], "float32", device_type="cpu")
    made = Signature("f", [even, tensor("x")], no_overlap=["y"])
    assert made.canonical().endswith(" where m % 2 == 0, no_overlap(y)")


@pytest.mark.parametrize(
    "where",
    [
        "no_overlap(y, t[1])",
        "no_overlap(t[1]), no_overlap(y)",
        "no_overlap ( 't' [ 1 ] , 'y' , ) , 1 <= k",
        "k >= 1, no_overlap(y, t[01])",
    ],
)
def test_other_ways_to_write_it(where: str):
    assert Signature.parse(f"{TEXT} where {where}", device="cpu").no_overlap == ("y", "t[1]")


def test_a_symbol_may_have_the_name():
    text = (
        "no_overlap(no_overlap: Tensor([no_overlap], int8), y: Tensor([no_overlap], int8)) "
        "where no_overlap: int32, 1 <= no_overlap, no_overlap(no_overlap)"
    )
    made = Signature.parse(text, device="cpu")
    assert made.no_overlap == ("no_overlap",)
    assert made.canonical(device="cpu") == text


@pytest.mark.parametrize("device", ["any", "cuda_managed", "rocm", "oneapi"])
def test_other_devices_of_one_address_space(device: str):
    made = Signature("f", [tensor("x"), tensor("y", "out", device)], no_overlap=True)
    assert made.no_overlap == ("y",)


def tensors(name: str, length: int | Var | None = None, **fields: Any) -> TensorList:
    return TensorList(tensor(name, **fields), length=length)


@pytest.mark.parametrize(
    ("params", "given", "stored"),
    [
        ([tensors("xs", intent="in"), tensor("y", "out")], True, ("y",)),
        ([tensors("xs", intent="out"), tensor("y", "in")], True, ("xs",)),
        ([tensors("xs", intent="inout")], True, ("xs",)),
        ([tensor("y"), Optional(tensors("xs"))], ["xs", "y"], ("y", "xs")),
        ([TupleParam("t", [tensors("xs")])], ["t[0]"], ("t[0]",)),
        ([tensors("xs", 2)], ["xs"], ("xs",)),
        ([tensors("xs", 1), tensors("ys", Var("g", "int64", max=1))], ["xs"], ("xs",)),
    ],
)
def test_lists(params: list[Param], given: Any, stored: tuple[str, ...]):
    """A list may have two tensors, or one beside another."""
    made = Signature("f", params, no_overlap=given)
    assert made.no_overlap == stored
    assert Signature.parse(made.canonical()) == made
