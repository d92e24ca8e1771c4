from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ffi_builder import spec
from ffi_builder.spec import (
    DefaultConfig,
    EnvStream,
    Optional,
    Param,
    Shape,
    Signature,
    String,
    Struct,
    Tensor,
    TupleParam,
    Var,
    ceildiv,
    dims,
)
from ffi_builder.spec.outlines import argument_texts
from ffi_builder.spec.places import device_tensors, occurrences

n, k, m = dims("n k m")


@pytest.fixture(autouse=True)
def on_cpu() -> Iterator[None]:
    with DefaultConfig(device_type="cpu"):
        yield


def tensor(name: str, *shape: Any, **fields: Any) -> Tensor:
    return Tensor(name, shape, "float32", **fields)


def test_arguments_are_what_callers_pass():
    x = tensor("x", n, device_type="cuda")
    made = Signature("f", [EnvStream("s"), x, n])
    assert made.params == (EnvStream("s"), x, n)
    assert made.arguments == (x, n)
    assert argument_texts(made) == ["x: Tensor([n], float32)", "n: int64"]


def test_equal_by_value():
    assert Signature("f", [n]) == Signature("f", (n,), doc="does f")
    assert hash(Signature("f", [n])) == hash(Signature("f", (n,)))
    assert Signature("f", [n]) != Signature("g", [n])
    assert Signature("f", [n]) != Signature("f", [k])


class TestOneMeaning:
    n32 = Var("n", "int32")

    def test_accepted(self):
        # A parameter may have a symbol's name; a default is no part of the meaning.
        Signature("f", [tensor("n", n), tensor("B", Var("n", "int64", default=3))])


class TestBound:
    @pytest.mark.parametrize(
        "params",
        [
            lambda: [tensor("A", n, n // 2)],
            lambda: [tensor("A", ceildiv(n, 2)), n],  # later is soon enough
            lambda: [tensor("A", n * 2 + 1)],
            lambda: [tensor("A", (n + 1) * 3), tensor("B", n % 4)],
            lambda: [tensor("A", 4, strides=[n]), tensor("B", n * k, k)],
            lambda: [tensor("A", 4, device_id=n), tensor("B", n % 2)],
            lambda: [tensor("A", n * k), TupleParam("t", [Shape("s", [n]), k])],
            lambda: [tensor("A", n - n), n],
            lambda: [tensor("A", n % 2), Optional(n)],
            lambda: [tensor("A", n % 2), Struct("s", [Optional(TupleParam("t", [n]))])],
        ],
    )
    def test_accepted(self, params: Any):
        Signature("f", params())


class TestEnvStream:
    def test_accepted(self):
        x = tensor("x", n, device_type="cuda")
        Signature("f", [EnvStream("s"), tensor("y", n), x])
        Signature("f", [TupleParam("t", [tensor("y", n), x]), EnvStream("s")])
        Signature("f", [Struct("t", [Optional(x)]), EnvStream("s")])
        Signature("f", [EnvStream("s"), tensor("x", n, device_type="any")])


def test_device_tensors_are_those_that_may_be_on_a_device():
    x, y = tensor("x", n, device_type="cuda"), tensor("y", n, device_type="any")
    z = tensor("z", n)
    params: list[Param] = [z, Struct("s", [z, Optional(x)]), TupleParam("t", [n, y]), Optional(x)]
    assert device_tensors(params) == [("s.x", x), ("t[1]", y), ("x", x)]
    assert device_tensors([tensor("z", n), n]) == []


def test_occurrences_are_in_the_order_of_the_checks():
    x = tensor("x", n, 4, strides=[k, None], device_id=m)
    params: list[Param] = [
        Optional(x),
        Struct("s", [Optional(Struct("u", [n])), Shape("v", [k, 2])]),
        TupleParam("t", [Tensor("y", ..., "int8", strides="any"), String("w")]),
    ]
    assert list(occurrences(params)) == [
        ("x.device_id", m),
        ("x.shape[0]", n),
        ("x.shape[1]", 4),
        ("x.strides[0]", k),
        ("x.strides[1]", None),
        ("s.u.n", n),
        ("s.v[0]", k),
        ("s.v[1]", 2),
        ("t[0].device_id", None),
    ]


def test_what_prints_an_outline_says_what_makes_a_signature() -> None:
    words = r"spec.Signature.parse\('f\(n: int32\)'\) of a text, or spec.Signature\(name, params\)"
    with pytest.raises(TypeError, match=words):
        spec.signature("f(n: int32)")
