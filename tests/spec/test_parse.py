"""``Signature.parse`` and ``Signature.canonical``: text there and back, and errors with a caret."""

from __future__ import annotations

import enum
import pickle
import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ffi_builder import SpecError
from ffi_builder.spec import (
    Bytes,
    Choice,
    ConstFloat,
    ConstInt,
    DataPointer,
    DefaultConfig,
    Object,
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
    expression,
    outline,
)
from ffi_builder.spec.expr import Expr
from tests.spec.strategies import exprs, extreme_signatures, signatures
from tests.spec.tables import NAMES, rows
from tests.support.drawn import drawn

(n,) = dims("n")


def cpu(name: str, *entries: Any, dtype: str = "float32", **fields: Any) -> Tensor:
    return Tensor(name, entries, dtype, device_type="cpu", **fields)


@pytest.mark.parametrize(("text", "code", "short"), rows("signatures.txt", 3))
def test_samples(text: str, code: str, short: str):
    signature = eval(code.strip(), NAMES)
    assert signature.canonical() == str(signature) == text
    assert outline(signature) == short.strip()
    for again in (
        Signature.parse(text),
        eval(repr(signature), NAMES),
        pickle.loads(pickle.dumps(signature)),
    ):
        assert again == signature
        assert hash(again) == hash(signature)


def round_trip(signature: Signature) -> None:
    for device in (None, "cpu", "any"):
        text = signature.canonical(device=device)
        again = Signature.parse(text, device=device)
        assert again == signature
        assert again.canonical(device=device) == text
        with DefaultConfig(device_type=device or "webgpu"):
            assert Signature.parse(text) == signature


@pytest.mark.slow
@settings(max_examples=drawn(100))
@given(signatures(), st.data())
def test_every_signature_reads_back(signature: Signature, data: st.DataObject):
    """So does its short form; without a part, the text is read or refused."""
    round_trip(signature)
    short = outline(signature)
    assert outline(Signature.parse(short, device="cpu")) == short
    text = signature.canonical()
    start = data.draw(st.integers(0, len(text)))
    broken = text[:start] + text[start + data.draw(st.integers(1, 9)) :]
    try:
        Signature.parse(broken)
    except SpecError as error:
        words = str(error)
        assert words.startswith("Signature.parse: ")
        assert re.search(r"\n    .*\n *\^+$", words)


@pytest.mark.slow
@settings(max_examples=drawn(9))
@given(extreme_signatures())
def test_what_is_as_large_and_deep_as_can_be_reads_back(signature: Signature):
    round_trip(signature)


@given(exprs())
def test_every_expression_reads_back(expr: Expr):
    symbols = list({var.name: var for var in variables_of(expr)}.values())
    round_trip(Signature("f", [*symbols, Shape("s_s", [expr])]))


class Word(str, enum.Enum):
    A = "a"
    FLOAT = "float32"
    CPU = "cpu"
    KEY = "ffi.Module"


class Number(int, enum.Enum):
    FOUR = 4


@pytest.mark.parametrize(
    "param",
    [
        Var(Word.A, "int64"),
        Var("a", Word.FLOAT),
        Var("a", "int32", min=Number.FOUR, max=Number.FOUR, divisibility=Number.FOUR),
        Tensor(Word.A, [Number.FOUR], Word.FLOAT, device_type=Word.CPU, strides=[Number.FOUR]),
        Tensor("x", [Number.FOUR], (Word.FLOAT, "int8"), device_type="cpu", device_id=Number.FOUR),
        Tensor("x", [4], "int8", device_type="cpu", data_alignment=Number.FOUR),
        Shape("s", [n, n + Number.FOUR, n // Number.FOUR, Expr("*", Number.FOUR, n)]),
        ConstInt("c", Number.FOUR),
        DataPointer("p", address_space=Number.FOUR),
        Object("o", Word.KEY),
        Struct(Word.A, [Var(Word.A, "int8")]),
    ],
)
def test_members_of_enums_are_what_they_stand_for(param: Param):
    round_trip(Signature(Word.A, [param]))


def variables_of(expr: object) -> list[Var]:
    if isinstance(expr, Expr):
        return [*variables_of(expr.lhs), *variables_of(expr.rhs)]
    return [expr] if isinstance(expr, Var) else []


@given(
    st.text(
        alphabet="fn:,()[]{}|=%<>0123 '\"TensorShapewhereint32NoneOptionalChoice+-*/.", max_size=60
    )
    | st.text()
)
def test_whatever_it_reads_it_reads_or_refuses(text: str):
    try:
        signature = Signature.parse(text, device="cpu")
    except SpecError:
        return
    assert Signature.parse(signature.canonical()) == signature


class TestOtherWays:
    """Text that is read, besides the canonical one."""

    @pytest.mark.parametrize(
        ("text", "made"),
        [
            ("f(x: Tensor([n], float32))", [cpu("x", n)]),
            ("f(x: Tensor([n], 'float32', strides=C, device_type=\"cpu\"))", [cpu("x", n)]),
            ("  f ( n:int64,\n\tk : int8 , ) where n>=1,k<=3 , n<=9\n", [Var("n", "int64", min=1, max=9), Var("k", "int8", max=3)]),
            ("f(t: Tuple(n: int64,), s: Shape([n, 2,],))", [TupleParam("t", [n]), Shape("s", [n, 2])]),
            ("f(x: Tensor([(n)], float32, intent=in,))", [cpu("x", n, intent="in")]),
            ("f(x: Tensor([n], float32)) where n: int64", [cpu("x", n)]),
            ("f(c: Literal[1.], d: Literal[5e-1])", [ConstFloat("c", 1.0), ConstFloat("d", 0.5)]),
            ("f(c: Choice({relu: 1, \"a b\": 2,},),)", [Choice("c", {"relu": 1, "a b": 2})]),
            ("f(c: Choice({ 'x' :- 1 } , 'int32' , ))", [Choice("c", {"x": -1})]),
            ("f(o: Object(\"ffi.Module\",), p: Object(plain))", [Object("o", "ffi.Module"), Object("p", "plain")]),
            ("f(x: Optional(Tensor( ... , int8|'bool',strides='F',),))", [Optional(Tensor("x", ..., ("int8", "bool"), strides="F", device_type="cpu"))]),
            ("f(s: Struct(n: Optional( int64 ),),)", [Struct("s", [Optional(n)])]),
            ("f(s: 'String', o: \"Optional\"(Bytes))", [String("s"), Optional(Bytes("o"))]),
        ],
    )  # fmt: skip
    def test_read(self, text: str, made: Sequence[Param]):
        assert Signature.parse(text, device="cpu") == Signature("f", made)

    def test_any_device_is_taken(self):
        text = "f(x: Tensor([], int8), y: Tensor([], int8, device_type=cpu))"
        signature = Signature.parse(text, device="any")
        assert signature.canonical(device="any") == text
        assert [x.device for x in signature.params if isinstance(x, Tensor)] == ["any", "cpu"]

    def test_the_active_default_is_taken(self):
        with DefaultConfig(device_type="cuda"):
            found = Signature.parse("f(x: Tensor([], int8))").params[0]
            other = Signature.parse("f(x: Tensor([], int8))", device="cpu").params[0]
        assert isinstance(found, Tensor)
        assert isinstance(other, Tensor)
        assert (found.device, other.device) == ("cuda", "cpu")

    def test_what_equality_does_not_see_is_left_out(self):
        x = Var("x", "float32", default=1.0, kw_only=True, doc="the factor")
        assert Signature("f", [x], doc="does f").canonical() == "f(x: float32)"


class TestExpression:
    @pytest.mark.parametrize(
        ("text", "made"),
        [
            ("7", 7),
            (" -7 ", -7),
            ("n", n),
            ("(n + 127) // 128", (n + 127) // 128),
            ("2 * n - ceildiv(n % 8, 4)", 2 * n - ceildiv(n % 8, 4)),
        ],
    )
    def test_read(self, text: str, made: object):
        assert expression(text) == made
        assert expression(text, [n]) == made

    @pytest.mark.parametrize(
        ("symbols", "words"),
        [
            (["n"], "expression: symbols: expected Vars but got 'n'"),
            ("n", "expression: symbols: expected a list of Vars but got 'n'"),
            (5, "expression: symbols: expected a list of Vars but got 5"),
            ([n, Var("n", "int32")], "have the same name"),
        ],
    )
    def test_symbols_that_are_none(self, symbols: Any, words: str):
        with pytest.raises(SpecError, match=words):
            expression("n", symbols)

    def test_symbols_are_those_given(self):
        small = Var("n", "int32", min=1)
        assert expression("n * 2", [small]) == small * 2

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "expected an int, a symbol or an expression but got the end\n    \n    ^"),
            (
                "n +",
                "expected an int, a symbol or an expression but got the end\n    n +\n       ^",
            ),
            ("n k", "expected an operator or the end but got 'k'\n    n k\n      ^"),
            ("n + q", "there is no symbol 'q', but n, x\n    n + q\n        ^"),
            ("x * 2", "'x' is a float32 symbol, not an integer one\n    x * 2\n    ^"),
            ("n % 0", "divisor of '%': expected a positive int but got 0\n    n % 0\n      ^"),
            ("(" * 165, "too deeply nested"),
            (3, "expression: expected a str but got 3"),
        ],
    )
    def test_refused(self, text: Any, words: str):
        with pytest.raises(SpecError) as caught:
            expression(text, [n, Var("x", "float32")])
        assert words in str(caught.value)
