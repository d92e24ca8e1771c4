from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ffi_builder import SpecError, spec
from ffi_builder.spec import (
    Choice,
    ConstBool,
    ConstFloat,
    ConstInt,
    ConstNone,
    DataPointer,
    DefaultConfig,
    EnvStream,
    Object,
    Optional,
    Param,
    Shape,
    Signature,
    Stream,
    String,
    Struct,
    Tensor,
    TupleParam,
    Var,
    ceildiv,
    dims,
    outline,
    signature,
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


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (list, "f()"),
        (
            lambda: [tensor("A", n, k), tensor("B", k, m), tensor("C", n, m)],
            "f(A: Tensor([n, k], float32), B: Tensor([k, m], float32), "
            "C: Tensor([n, m], float32))",
        ),
        (lambda: [tensor("x", n, 4, None, n * 2)], "f(x: Tensor([n, 4, None, n * 2], float32))"),
        (lambda: [tensor("x")], "f(x: Tensor([], float32))"),
        (
            lambda: [tensor("x", n, 4, strides=[m, None])],
            "f(x: Tensor([n, 4], float32, strides=[m, None]))",
        ),
        (lambda: [n, Var("a", "bfloat16"), Var("h", "handle")], "f(n: int64, a: bfloat16, h: handle)"),
        (lambda: [Shape("s", [n, 2])], "f(s: Shape([n, 2]))"),
        (lambda: [Stream("s"), DataPointer("p")], "f(s: Stream, p: DataPointer)"),
        (
            lambda: [ConstNone("a"), ConstInt("b", 3), ConstBool("c", True), ConstFloat("d", 0.5)],
            "f(a: None, b: Literal[3], c: Literal[True], d: Literal[0.5])",
        ),
        (lambda: [TupleParam("t", [n, TupleParam("u", [])])], "f(t: Tuple(n: int64, u: Tuple()))"),
        (
            lambda: [tensor("x", n, device_type="cuda"), EnvStream("s")],
            "f(x: Tensor([n], float32))",
        ),
        (
            lambda: [Tensor("x", ..., ["int8", "bool"], strides="F", device_type="any", device_id=0)],
            "f(x: Tensor(..., int8 | bool, strides=F))",
        ),
        (lambda: [tensor("x", n, strides="any")], "f(x: Tensor([n], float32, strides=any))"),
        (
            lambda: [Optional(tensor("x", n, data_alignment=16)), Struct("s", [Optional(k)])],
            "f(x: Optional(Tensor([n], float32)), s: Struct(k: Optional(int64)))",
        ),
        (
            lambda: [Choice("c", {"a b": -1}), String("s"), Object("o"), Object("m", "ffi.Module")],
            "f(c: Choice({'a b': -1}), s: String, o: Object, m: Object('ffi.Module'))",
        ),
    ],
)  # fmt: skip
def test_text(make: Any, text: str):
    assert signature("f", make()) == outline(Signature("f", make())) == text


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


@pytest.mark.parametrize(
    ("params", "words"),
    [
        (lambda: n, "Signature 'f': params: expected a list of parameters but got Var"),
        (lambda: "n", "Signature 'f': params: expected a list of parameters but got 'n'"),
        (lambda: None, "Signature 'f': params: expected a list of parameters but got None"),
        (lambda: [n, 3], r"Signature 'f': params\[1\]: expected a parameter such as .* got 3"),
        (lambda: [Stream], r"params\[0\]: .* \(the class Stream itself: give it a name, as in "
                           r"Stream\('x', …\)\)"),
        (lambda: [n * 2], r"params\[0\]: expected a parameter such as Tensor or Var but got Var"),
        (lambda: [tensor("x", 1), n, Stream("x")], "Signature 'f': params: two parameters are named "
                                                   "'x', at 0 and 2; names must differ"),
    ],
)  # fmt: skip
def test_parameter_lists_refused(params: Any, words: str):
    with pytest.raises(SpecError, match=words):
        Signature("f", params())


@pytest.mark.parametrize("name", ["", "a-b", "7", None])
def test_names(name: Any):
    with pytest.raises(SpecError, match="Signature name: expected a name of ASCII letters"):
        Signature(name, [])


class TestOneMeaning:
    n32 = Var("n", "int32")

    @pytest.mark.parametrize(
        ("params", "places"),
        [
            (lambda: [tensor("A", n), tensor("B", TestOneMeaning.n32)], ("A.shape[0]", "B.shape[0]")),
            (lambda: [TestOneMeaning.n32, tensor("B", n * 2)], ("n", "B.shape[0]")),
            (lambda: [tensor("A", n, strides=[TestOneMeaning.n32])], ("A.shape[0]", "A.strides[0]")),
            (lambda: [tensor("A", n, device_id=TestOneMeaning.n32)], ("A.device_id", "A.shape[0]")),
            (lambda: [n, TupleParam("t", [Shape("s", [TestOneMeaning.n32])])], ("n", "t[0][0]")),
            (lambda: [Optional(n), Struct("s", [TestOneMeaning.n32])], ("n", "s.n")),
            (
                lambda: [n, Struct("s", [Optional(tensor("x", TestOneMeaning.n32))])],
                ("n", "s.x.shape[0]"),
            ),
        ],
    )  # fmt: skip
    def test_refused(self, params: Any, places: tuple[str, str]):
        with pytest.raises(SpecError) as caught:
            Signature("f", params())
        words = str(caught.value)
        assert words.startswith("Signature 'f': symbol 'n' has two meanings: ")
        assert f" at {places[0]} and " in words
        assert words.endswith(f" at {places[1]}; use another name, or the same fields")
        assert "Var('n', 'int32')" in words
        assert "Var('n', 'int64')" in words

    def test_bounds_are_part_of_the_meaning(self):
        with pytest.raises(SpecError, match=r"two meanings.*min=1"):
            Signature("f", [n, tensor("A", Var("n", "int64", min=1))])

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

    @pytest.mark.parametrize(
        ("params", "name", "place"),
        [
            (lambda: [tensor("A", n // 2)], "n", "A.shape[0] = n // 2"),
            (lambda: [tensor("A", ceildiv(n, 2))], "n", "A.shape[0] = ceildiv(n, 2)"),
            (lambda: [tensor("A", n, n * k)], "k", "A.shape[1] = n * k"),
            (lambda: [tensor("A", n - n)], "n", "A.shape[0] = n - n"),
            (lambda: [tensor("A", 4, strides=[m % 2])], "m", "A.strides[0] = m % 2"),
            (lambda: [TupleParam("t", [k, Shape("s", [1, n * n])])], "n", "t[1][1] = n * n"),
            (lambda: [Optional(Struct("s", [tensor("x", n % 2)]))], "n", "s.x.shape[0] = n % 2"),
            (
                lambda: [Optional(Tensor("A", ..., "int8", strides="any")), tensor("B", n % 2)],
                "n",
                "B.shape[0] = n % 2",
            ),
        ],
    )
    def test_refused(self, params: Any, name: str, place: str):
        with pytest.raises(SpecError) as caught:
            Signature("f", params())
        assert str(caught.value) == (
            f"Signature 'f': nothing binds symbol '{name}', which {place} needs; it must stand "
            f"alone as a dimension, stride or scalar parameter, or in an expression a * {name} + b of ints that fit int64"
        )


class TestEnvStream:
    def test_accepted(self):
        x = tensor("x", n, device_type="cuda")
        Signature("f", [EnvStream("s"), tensor("y", n), x])
        Signature("f", [TupleParam("t", [tensor("y", n), x]), EnvStream("s")])
        Signature("f", [Struct("t", [Optional(x)]), EnvStream("s")])
        Signature("f", [EnvStream("s"), tensor("x", n, device_type="any")])

    @pytest.mark.parametrize(
        "params", [list, lambda: [tensor("x", n)], lambda: [n], lambda: [Optional(tensor("x", n))]]
    )
    def test_needs_a_device_tensor(self, params: Any):
        with pytest.raises(SpecError) as caught:
            Signature("f", [*params(), EnvStream("s")])
        assert str(caught.value) == (
            "Signature 'f': EnvStream 's' is the current stream of a tensor's device, but no "
            "Tensor here is on another device than the CPU"
        )

    def test_there_is_one(self):
        x = tensor("x", n, device_type="cuda")
        with pytest.raises(SpecError, match="expected at most one EnvStream but got 's' and 't'"):
            Signature("f", [x, EnvStream("s"), EnvStream("t")])


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
