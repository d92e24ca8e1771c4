"""``no_overlap``: what a Signature takes, how it is stored, and its text."""

from __future__ import annotations

from typing import Any, Final

import pytest

from ffi_builder import SpecError, spec
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

n, k = dims("n k")


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


def test_true_names_tensors_that_are_there() -> None:
    words = (
        "no_overlap: True stands for the tensors with intent='out' or 'inout', but there are none"
    )
    for names, cure in ((), ""), (("a",), ""), (("a", "b"), "; set their .*: no_overlap=.'b'."):
        with pytest.raises(SpecError, match=f"{words}{cure}$"):
            Signature("f", [tensor(name) for name in names], no_overlap=True)


@pytest.mark.parametrize(
    ("where", "words", "place"),
    [
        (
            "no_overlap(z)",
            "no_overlap: expected one of x, y, t[0], t[1], s.c, s.u[0] but got 'z'",
            "z",
        ),
        (
            "no_overlap(y, t)",
            "no_overlap: expected one of x, y, t[0], t[1], s.c, s.u[0] but got 't'",
            "t",
        ),
        ("no_overlap(y, t[2])", "expected one of", "t[2]"),
        ("no_overlap(t[-1])", "expected one of", "t[-1]"),
        ("no_overlap(s.cc)", "but got 's.cc', did you mean 's.c'?", "s.cc"),
        ("no_overlap()", "expected the name of a tensor in the brackets", "no_overlap()"),
        ("no_overlap(y", "expected ',' or ')' but got the end", None),
        ("no_overlap(3)", "expected the name of a tensor but got '3'", "3"),
        ("no_overlap(t[b])", "expected the index of an element but got 'b'", "b"),
        ("no_overlap(s.[0])", "expected the name of a field but got '['", "["),
        ("no_overlap(y).k", "expected ',' or the end but got '.'", "."),
        ("no_overlap(y, y)", "Signature 'f': no_overlap: 'y' is named twice", None),
    ],
)
def test_errors_of_texts_point_at_the_place(where: str, words: str, place: str | None):
    text = f"{TEXT} where {where}"
    with pytest.raises(SpecError) as raised:
        Signature.parse(text, device="cpu")
    message, line, carets = str(raised.value).split("\n")
    assert words in message
    if place is not None:
        assert line[carets.index("^") : len(carets)] == place


@pytest.mark.parametrize(
    ("params", "given", "words"),
    [
        (PARAMS, "y", "expected True or a list of names of tensors but got 'y'"),
        (PARAMS, 3, "expected True or a list of names of tensors but got 3"),
        (PARAMS, [n], "expected one of x, y, t[0], t[1], s.c, s.u[0] but got Var('n', 'int64')"),
        (PARAMS, ["k"], "expected one of x, y, t[0], t[1], s.c, s.u[0] but got 'k'"),
        (PARAMS, ["t"], "but got 't'"),
        (PARAMS, ["y", "y"], "'y' is named twice"),
        ([tensor("x"), tensor("y", "in")], True, "but there are none"),
        ([n], True, "but there are none"),
        ([n], ["n"], "there are no two tensors on cpu, cuda"),
        ([tensor("y", "out")], True, "there are no two tensors on cpu, cuda"),
        ([tensor("x", device="metal"), tensor("y")], ["y"], "there are no two tensors on cpu"),
        (
            [tensor("x", device="any"), tensor("y"), tensor("z", device="vulkan")],
            ["z"],
            "'z' is on vulkan, where data may be a handle and no address",
        ),
    ],
)
def test_errors(params: list[Param], given: Any, words: str):
    with pytest.raises(SpecError) as raised:
        Signature("f", params, no_overlap=given)
    assert str(raised.value).startswith("Signature 'f': no_overlap: ")
    assert words in str(raised.value)


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


@pytest.mark.parametrize(
    ("params", "given", "words"),
    [
        ([tensors("xs", 1)], ["xs"], "there are no two tensors on cpu, cuda"),
        (
            [tensors("xs", Var("g", "int64", max=1), intent="out")],
            True,
            "there are no two tensors on cpu",
        ),
        ([tensors("xs", 0, intent="out"), tensor("y", "out")], True, "there are no two tensors"),
        ([tensors("xs", device="metal"), tensor("y", "out")], True, "there are no two tensors on"),
        ([tensors("xs"), tensor("y")], True, "but there are none"),
        ([tensors("xs"), tensor("y")], ["xs[0]"], "expected one of xs, y but got 'xs[0]'"),
        (
            [tensors("xs", device="metal"), tensors("ys")],
            ["xs"],
            "'xs' is on metal, where data may be a handle and no address",
        ),
    ],
)
def test_errors_of_lists(params: list[Param], given: Any, words: str):
    with pytest.raises(SpecError) as raised:
        Signature("f", params, no_overlap=given)
    assert words in str(raised.value)


def test_a_returned_tensor_is_not_named():
    returned = Tensor("y", [n], "float32", device_type="cpu", intent="out")
    with pytest.raises(SpecError, match=r"expected one of x, z but got 'y'"):
        Signature("f", [tensor("x"), tensor("z")], returned, no_overlap=["y"])
