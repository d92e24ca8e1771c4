"""The checks of strings, objects, structs, Optionals and tensors of any kind, and their order."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ffi_builder import spec
from ffi_builder.plan import make_plan
from ffi_builder.plan.steps import DecodeObject, NotNull
from ffi_builder.spec import (
    Choice,
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
    dims,
)
from tests.plan.reading import line, lines, steps_of

n, k, m = dims("n k m")


@pytest.fixture(autouse=True)
def on_cpu() -> Iterator[None]:
    with DefaultConfig(device_type="cpu"):
        yield


def late(*params: Param) -> list[str]:
    plan = make_plan(Signature("f", params))
    return [line(step) for step in plan.late]


def symbols(*params: Param) -> list[str]:
    kinds = ("Bind", "EqualSymbol", "EqualExpr", "Solve", "DecodeOptional")
    return [step for step in lines(*params) if step.startswith(kinds)]


class TestText:
    def test_a_string(self):
        assert lines(String("s")) == ["DecodeText s", "NotNull s", "CheckSmall s", "CheckBytes s"]

    def test_bytes(self):
        assert lines(spec.Bytes("b")) == [
            "DecodeText b binary",
            "NotNull b",
            "CheckSmall b",
            "CheckBytes b",
        ]

    def test_a_choice(self):
        assert lines(Choice("act", {"relu": 1})) == [
            "DecodeText act",
            "NotNull act",
            "CheckSmall act",
            "CheckBytes act",
            "CheckChoice act Choice('act', {'relu': 1})",
        ]


@pytest.mark.parametrize(
    ("param", "decode", "text"),
    [
        (Object("x"), "DecodeObject x", "Object"),
        (Object("x", "ffi.Module"), "DecodeObject x ffi.Module", "ffi.Module"),
        (Object("x", "ffi.Function"), "DecodeObject x ffi.Function", "ffi.Function"),
        (spec.Function("x"), "DecodeObject x 68", "Function"),
        (spec.Array("x"), "DecodeObject x 71", "Array"),
        (spec.Map("x"), "DecodeObject x 72", "Map"),
    ],
    ids=repr,
)
def test_objects(param: Param, decode: str, text: str):
    assert lines(param) == [decode, "NotNull x"]
    [step, null] = steps_of(param)
    assert isinstance(step, DecodeObject)
    assert step.text == text
    assert isinstance(null, NotNull)


def test_a_struct():
    cfg = Struct("cfg", [Var("alpha", "float32"), Struct("inner", [n]), TupleParam("t", [n])])
    assert lines(cfg) == [
        "DecodeTuple cfg",
        "NotNull cfg",
        "CheckLength cfg 3",
        "CheckCells cfg",
        "DecodeScalar cfg.alpha Kind.FLOAT float32",
        "Bind cfg.alpha alpha",
        "DecodeTuple cfg.inner",
        "NotNull cfg.inner",
        "CheckLength cfg.inner 1",
        "CheckCells cfg.inner",
        "DecodeScalar cfg.inner.n Kind.INT",
        "Fits cfg.inner.n int64",
        "Bind cfg.inner.n n",
        "DecodeTuple cfg.t",
        "NotNull cfg.t",
        "CheckLength cfg.t 1",
        "CheckCells cfg.t",
        "DecodeScalar cfg.t[0] Kind.INT",
        "Fits cfg.t[0] int64",
        "EqualSymbol cfg.t[0] n",
    ]
    positions = {str(step.place): step.place.position for step in steps_of(cfg)}
    assert positions["cfg.inner.n"] == (0, 1, 0)


class TestTensors:
    def test_any_rank(self):
        x = Tensor("x", ..., ("float16", "bfloat16"), device_type="any")
        assert lines(x) == [
            "DecodeTensor x",
            "NotNull x",
            "NotNegative x.ndim",
            "CheckDType x.dtype float16 bfloat16",
            "CheckShapePointer x.shape any_rank",
            "CheckDims x.shape",
            "CheckContiguous x.strides C",
            "CheckNumel x.shape",
            "CheckOffset x.byte_offset",
            "CheckData x.data",
            "CheckElementAlignment x.data 2",
        ]

    @pytest.mark.parametrize(
        ("strides", "expected"),
        [("C", ["CheckContiguous x.strides C"]), ("F", ["CheckContiguous x.strides F"]), ("any", [])],
    )  # fmt: skip
    def test_strides_of_any_rank(self, strides: str, expected: list[str]):
        found = lines(Tensor("x", ..., "int8", strides=strides))
        assert [item for item in found if "strides" in item] == expected

    @pytest.mark.parametrize(
        ("strides", "expected"),
        [
            ("C", ["CheckContiguous x.strides[0] C", "CheckContiguous x.strides[1] C"]),
            ("F", ["CheckContiguous x.strides[0] F", "CheckContiguous x.strides[1] F"]),
            ("any", []),
        ],
    )
    def test_strides_by_name(self, strides: str, expected: list[str]):
        found = lines(Tensor("x", [n, 4], "int8", strides=strides))
        assert [item for item in found if "strides" in item] == expected


class TestOptional:
    def test_none_is_looked_for_first(self):
        assert lines(Optional(Shape("s", []))) == [
            "DecodeOptional s",
            "DecodeShape s optional",
            "NotNull s",
            "CheckLength s 0",
        ]

    @pytest.mark.parametrize(
        "param",
        [
            Var("x", "int8"), Var("x", "bool"), Var("x", "float16"), Tensor("x", [], "int8", device_type="cpu"),
            Shape("x", [1]), TupleParam("x", []), Struct("x", []), String("x"), spec.Bytes("x"),
            Choice("x", {"a": 1}), spec.DType("x"), spec.Device("x"), Object("x"), spec.Function("x"),
            spec.ConstInt("x", 3), spec.ConstBool("x", True), spec.ConstFloat("x", 1.0),
        ],
        ids=lambda param: type(param).__name__,
    )  # fmt: skip
    def test_only_the_type_check_changes(self, param: Param):
        required, optional = lines(param), lines(Optional(param))
        assert optional[0] == "DecodeOptional x"
        assert [item.replace(" optional", "") for item in optional[1:]] == required
        assert [" optional" in item for item in optional[1:]] == [
            item.startswith("Decode") and "x[" not in item for item in required
        ]

    def test_elements_are_not_optional_themselves(self):
        found = lines(Optional(TupleParam("t", [String("a"), Optional(String("b"))])))
        assert [item for item in found if "Decode" in item] == [
            "DecodeOptional t",
            "DecodeTuple t optional",
            "DecodeText t[0]",
            "DecodeOptional t[1]",
            "DecodeText t[1] optional",
        ]

    def test_what_it_binds_is_certain_in_it_alone(self):
        a, b, c = (Tensor(name, [n, n * 2], "int8") for name in "abc")
        assert symbols(Optional(a), Optional(b), c) == [
            "DecodeOptional a",
            "Bind a.shape[0] n",
            "EqualExpr a.shape[1] n * 2",
            "DecodeOptional b",
            "BindOrEqual b.shape[0] n",
            "EqualExpr b.shape[1] n * 2",
            "BindOrEqual c.shape[0] n",
            "EqualExpr c.shape[1] n * 2",
        ]

    def test_what_was_certain_before_stays_so(self):
        assert symbols(n, Optional(Shape("s", [n])), Shape("u", [n])) == [
            "Bind n n",
            "DecodeOptional s",
            "EqualSymbol s[0] n",
            "EqualSymbol u[0] n",
        ]

    def test_elements_of_one_know_each_other(self):
        t = TupleParam("t", [Optional(Shape("a", [n])), Shape("b", [n]), Shape("c", [n])])
        assert symbols(Optional(t), n)[2:] == [
            "Bind t[0][0] n",
            "BindOrEqual t[1][0] n",
            "EqualSymbol t[2][0] n",
            "BindOrEqual n n",
        ]

    def test_expressions_behind_it_wait(self):
        assert late(Optional(n), Shape("s", [n * 2])) == ["EqualExpr s[0] n * 2"]

    def test_what_waits_in_it_keeps_its_place(self):
        params = [Optional(TupleParam("t", [Shape("s", [n * k])])), n, k]
        plan = make_plan(Signature("f", params))
        [step] = plan.late
        assert (line(step), step.place.position) == ("EqualExpr t[0][0] n * k", (0, 0))

    def test_solved_again_behind_it(self):
        assert symbols(Optional(Shape("s", [n * 2])), Shape("u", [n * 3]), Shape("v", [n * 4])) == [
            "DecodeOptional s",
            "Solve s[0] n n * 2 2 0",
            "Bind n in s[0] n",
            "Solve u[0] n n * 3 3 0",
            "BindOrEqual n in u[0] n",
            "EqualExpr v[0] n * 4",
        ]

    def test_strides_behind_it_compare_only_for_now(self):
        x = Tensor("x", [4], "int8", strides=[n])
        assert symbols(Optional(Shape("s", [n])), x, n)[1:] == [
            "Bind s[0] n",
            "BindOrEqual x.strides[0] n free",
            "BindOrEqual n n",
        ]
