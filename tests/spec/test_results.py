"""Results that signatures accept and refuse, as objects and as text."""

from __future__ import annotations

from typing import Any

import pytest

from ffi_builder import SpecError
from ffi_builder.spec import (
    Array,
    Bytes,
    Choice,
    Device,
    DType,
    Function,
    Map,
    Object,
    Optional,
    Shape,
    Signature,
    String,
    Struct,
    Tensor,
    TupleParam,
    Var,
    dims,
    outline,
)

n, m = dims("n m")
X = Tensor("x", [n, m], "float32", device_type="cpu")
KINDS = (
    "Var, String, Bytes, DType, Device, Object, Function, Array, Map, List, TensorList, Any, "
    "Variant, Optional, Tensor, Shape"
)
TOTAL = Var("total", "int64")


def tensor(name: str, *entries: Any, dtype: Any = "float32", **fields: Any) -> Tensor:
    fields.setdefault("device_type", "cpu")
    return Tensor(name, entries, dtype, **fields)


def test_nothing_one_or_several() -> None:
    y = tensor("y", n, m * 2)
    assert Signature("f", [X]).returns is None
    assert Signature("f", [X]).results == ()
    assert Signature("f", [X], TOTAL).returns == TOTAL
    assert Signature("f", [X], y).results == (y,)
    assert Signature("f", [X], [y, TOTAL]).returns == (y, TOTAL)
    assert Signature("f", [X], [y]).returns == (y,) != Signature("f", [X], y).returns
    assert Signature("f", [X], [y]) != Signature("f", [X], y)


@pytest.mark.parametrize(
    ("returns", "text"),
    [
        (None, ""),
        (TOTAL, " -> total: int64"),
        (Var("ok", "bool"), " -> ok: bool"),
        (tensor("y", n, 4), " -> y: Tensor([n, 4], float32, device_type=cpu)"),
        ([TOTAL], " -> (total: int64)"),
        (
            [tensor("y", m, n % 3, device_id=n, data_alignment=16), Var("p", "handle")],
            " -> (y: Tensor([m, n % 3], float32, device_type=cpu, device_id=n, "
            "data_alignment=16), p: handle)",
        ),
        (Shape("s", [n * 2, 3]), " -> s: Shape([n * 2, 3])"),
        ([String("s"), Bytes("b")], " -> (s: String, b: Bytes)"),
        ([DType("t"), Device("d")], " -> (t: DType, d: Device)"),
        ([Object("o", "ffi.Module"), Object("any")], " -> (o: Object('ffi.Module'), any: Object)"),
        ([Function("g"), Array("a"), Map("p")], " -> (g: Function, a: Array, p: Map)"),
        (tensor("y", device_id=1), " -> y: Tensor([], float32, device_type=cpu, device_id=1)"),
        (tensor("y", intent="out"), " -> y: Tensor([], float32, device_type=cpu, intent=out)"),
    ],
)
def test_as_text_and_back(returns: Any, text: str) -> None:
    made = Signature("f", [X], returns)
    assert str(made) == f"f(x: Tensor([n, m], float32, device_type=cpu)){text}"
    assert Signature.parse(str(made)) == made
    assert eval(repr(made)) == made
    assert outline(made) == "f(x: Tensor([n, m], float32))"


def test_constraints_stand_behind_the_results() -> None:
    wide = Var("n", "int32", divisibility=4)
    made = Signature("f", [tensor("x", wide)], tensor("y", wide * 2))
    assert str(made).endswith(", device_type=cpu) where n: int32, n % 4 == 0")
    assert Signature.parse(str(made)) == made


@pytest.mark.parametrize(
    ("returns", "words"),
    [
        ("total", f"returns: expected None, one of {KINDS}, or a list but got 'total'"),
        (3, f"returns: expected None, one of {KINDS}, or a list but got 3"),
        (
            Choice("c", {"a": 1}),
            f"returns: expected None, one of {KINDS}, or a list but got Choice(",
        ),
        ([TOTAL, Choice("c", {"a": 1})], f"returns[1]: expected one of {KINDS} but got Choice("),
        ([], "returns: expected at least one result but got []; leave it out"),
        ([TOTAL, TOTAL], "returns: two results are named 'total'; names must differ"),
        (Var("x", "int32"), "returns: the parameter 'x' has that name already"),
        (Var("n", "int32"), "returns: the symbol 'n' has that name already"),
        (tensor("m", 3), "returns: the symbol 'm' has that name already"),
        (Var("t", "int32", min=0), "'t': a result is not checked, so it has no min"),
        (Var("t", "int32", default=0), "'t': a result has no default and is not kw_only"),
        (tensor("y", 3, kw_only=True), "'y': a result has no default and is not kw_only"),
        (
            Tensor("y", ..., "float32", device_type="cpu"),
            "'y': shape: expected a list of sizes but got ...",
        ),
        (tensor("y", n, None), "'y': shape[1]: expected the size to allocate but got None"),
        (
            tensor("y", n, dtype=("float32", "int8")),
            "'y': dtype: expected one but got float32, int8",
        ),
        (
            tensor("y", 4, dtype="float4_e2m1fn", storage_dtype="float4_e2m1fnx2"),
            "'y': storage_dtype: expected None; give what is allocated as dtype",
        ),
        (
            tensor("y", n, 4, strides="F"),
            "'y': strides: expected None (contiguous) but got 'F'. The wrapper makes it row-major: "
            "declare [4, n], whose transpose y.T is column-major",
        ),
        (tensor("y", n, strides=[2]), "'y': strides: expected None (contiguous) but got [2]"),
        (
            tensor("y", n, device_type="any"),
            "'y': device_type: expected the one to allocate on but got 'any'",
        ),
        (tensor("y", n, intent="in"), "'y': intent: expected None or 'out' but got 'in'"),
        (
            tensor("y", Var("k", "int64") + 1),
            "no parameter binds symbol 'k', which y.shape[0] = k + 1 of a result needs",
        ),
        (
            tensor("y", 3, device_id=Var("k", "int64")),
            "no parameter binds symbol 'k', which y.device_id = k of a result needs",
        ),
        (
            tensor("y", Var("n", "int32")),
            "symbol 'n' has two meanings: Var('n', 'int64') in the parameters and Var('n', "
            "'int32') at y.shape[0]",
        ),
    ],
)
def test_what_is_refused(returns: Any, words: str) -> None:
    with pytest.raises(SpecError) as raised:
        Signature("f", [X], returns)
    assert words in str(raised.value)
    assert str(raised.value).startswith("Signature 'f': ")


ONLY_OPTIONAL = {
    "y.shape[0] = n": (Optional(X), tensor("y", n)),
    "y.shape[0] = n * 2": (Optional(Shape("s", [n])), tensor("y", n * 2)),
    "y.shape[1] = n": (Optional(n), tensor("y", 4, n)),
    "y.device_id = n": (Optional(n), tensor("y", 3, device_id=n)),
    "y.shape[0] = n - 1": (Struct("c", [Optional(X)]), tensor("y", n - 1)),
}


@pytest.mark.parametrize("place", ONLY_OPTIONAL)
def test_a_size_that_only_optionals_bind(place: str) -> None:
    param, result = ONLY_OPTIONAL[place]
    words = f"{place} of a result needs symbol 'n', which only Optionals bind, and would be 0"
    for params in ([param], [param, Optional(tensor("z", n))]):
        with pytest.raises(SpecError) as raised:
            Signature("f", params, result)
        assert str(raised.value).startswith(f"Signature 'f': {words} where they are None; bind it")
    inside = TupleParam("t", [Shape("entries", [n])])
    for another in (tensor("w", n * 2 + 1), Var("n", "int64"), inside):
        assert Signature("f", [param, another] if param.name != another.name else [another], result)


def test_a_scalar_result_needs_nothing_of_an_optional() -> None:
    assert Signature("f", [Optional(X)], Var("total", "int64"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("f() -> 3", "expected the name of a result but got '3'"),
        ("f() -> y", "expected ':' but got the end"),
        ("f() -> None", "a function that returns nothing has no `->` in its signature"),
        ("f() -> float32", "a result needs a name before its type: `-> y: float32`"),
        ("f() -> Tensor([3], int8)", "a result needs a name before its type: `-> y: Tensor`"),
        ("f() -> String", "a result needs a name before its type: `-> y: String`"),
        (
            "f() -> y: Stream",
            "expected the type of a result: Tensor, Shape, Object, String, Bytes, ",
        ),
        ("f() -> y: tensor([3], int8)", "got 'tensor', did you mean 'Tensor'?"),
        ("f() -> (a: int8, b: int8", "expected ',' or ')' but got the end"),
        ("f() - a: int8", "expected '->', 'where' or the end but got '-'"),
        ("f() -> a: int8 b", "expected 'where' or the end but got 'b'"),
    ],
)
def test_texts_that_are_refused(text: str, words: str) -> None:
    with pytest.raises(SpecError) as raised:
        Signature.parse(text)
    assert words in str(raised.value)
    assert "^" in str(raised.value)
