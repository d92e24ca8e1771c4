"""The checks and their order, as docs/checks.md has them, parameter by parameter."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ffi_builder import abi, spec
from ffi_builder.plan import Place, make_plan
from ffi_builder.plan.steps import CheckDeviceType, CheckPacked, DecodeScalar, Kind
from ffi_builder.spec import (
    ConstBool,
    ConstFloat,
    ConstInt,
    ConstNone,
    DataPointer,
    DefaultConfig,
    EnvStream,
    Optional,
    Param,
    Shape,
    Signature,
    Stream,
    Tensor,
    TupleParam,
    Var,
    dims,
)
from ffi_builder.spec.param import Metadata
from tests.plan.reading import line, lines, lines_at, steps_of

n, k, m = dims("n k m")


@pytest.fixture(autouse=True)
def on_cpu() -> Iterator[None]:
    with DefaultConfig(device_type="cpu"):
        yield


def test_the_arguments_come_first():
    steps = make_plan(Signature("f", [n, k])).steps
    assert [line(step) for step in steps[:2]] == [
        "CheckCount number of arguments 2",
        "CheckArguments argument array",
    ]
    assert [step.place.position for step in steps[:2]] == [(-1,), (-1,)]


def test_without_parameters_there_is_no_array_to_look_at():
    plan = make_plan(Signature("f", []))
    assert [line(step) for step in plan] == ["CheckCount number of arguments 0"]
    assert len(plan) == 1
    assert plan.late == ()


def test_a_tensor():
    x = Tensor("x", [n, 4, None], "float32", device_type="cuda", data_alignment=16)
    assert lines(x) == [
        "DecodeTensor x",
        "NotNull x",
        "CheckNdim x.ndim 3",
        "CheckDType x.dtype float32",
        "CheckDeviceType x.device_type cuda",
        "CheckShapePointer x.shape",
        "NotNegative x.shape[0]",
        "Bind x.shape[0] n",
        "NotNegative x.shape[1]",
        "EqualInt x.shape[1] 4",
        "NotNegative x.shape[2]",
        "CheckContiguous x.strides[0] C",
        "CheckContiguous x.strides[1] C",
        "CheckContiguous x.strides[2] C",
        "CheckNumel x.shape",
        "CheckOffset x.byte_offset",
        "CheckData x.data",
        "CheckAlignment x.data 16",
    ]


def test_a_tensor_without_dimensions():
    assert lines(Tensor("x", [], "bool")) == [
        "DecodeTensor x",
        "NotNull x",
        "CheckNdim x.ndim 0",
        "CheckDType x.dtype bool",
        "CheckDeviceType x.device_type cpu",
        "CheckNumel x.shape",
        "CheckOffset x.byte_offset",
        "CheckData x.data",
    ]


def test_a_dimension_has_every_check_of_its_symbol_in_order():
    s = Var("s", "int32", divisibility=16, min=16, max=1024)
    params = [Tensor("x", [s, s], "float32")]
    checks = ["Fits {} int32 s", "AtLeast {} s", "AtMost {} s", "Divisible {} s"]
    assert lines_at("x.shape[0]", params) == [
        "NotNegative x.shape[0]",
        *(check.format("x.shape[0]") for check in checks),
        "Bind x.shape[0] s",
    ]
    assert lines_at("x.shape[1]", params)[1:] == [
        *(check.format("x.shape[1]") for check in checks),
        "EqualSymbol x.shape[1] s",
    ]


def test_given_strides():
    x = Tensor("x", [2, 3, 4, 5], "float32", strides=[60, n, None, n * 2])
    assert [step for step in lines(x) if "strides" in step] == [
        "EqualInt x.strides[0] 60 free",
        "BindOrEqual x.strides[1] n free",
        "EqualExpr x.strides[3] n * 2 free",  # last, as a stride alone binds n
    ]


def test_a_shape():
    assert lines(Shape("s", [n, 4])) == [
        "DecodeShape s",
        "NotNull s",
        "CheckLength s 2",
        "CheckCells s",
        "DecodeEntry s[0]",
        "NotNegative s[0]",
        "Bind s[0] n",
        "DecodeEntry s[1]",
        "NotNegative s[1]",
        "EqualInt s[1] 4",
    ]
    assert lines(Shape("s", [])) == ["DecodeShape s", "NotNull s", "CheckLength s 0"]


def test_a_tuple():
    inner = TupleParam("u", [ConstNone("c"), Tensor("x", [], "int8")])
    found = lines(TupleParam("t", [Stream("s"), inner]))
    assert found[:12] == [
        "DecodeTuple t",
        "NotNull t",
        "CheckLength t 2",
        "CheckCells t",
        "DecodeScalar t[0] Kind.STREAM",
        "DecodeTuple t[1]",
        "NotNull t[1]",
        "CheckLength t[1] 2",
        "CheckCells t[1]",
        "DecodeScalar t[1][0] Kind.CONST_NONE",
        "DecodeTensor t[1][1]",
        "NotNull t[1][1]",
    ]
    assert lines(TupleParam("t", [])) == ["DecodeTuple t", "NotNull t", "CheckLength t 0"]


def test_positions_lead_to_the_value():
    params = [n, TupleParam("t", [k, TupleParam("u", [Tensor("x", [m], "int8")])])]
    positions = {str(step.place): step.place.position for step in steps_of(*params)}
    assert positions["n"] == (0,)
    assert positions["t[0]"] == (1, 0)
    assert positions["t[1][0].shape[0]"] == (1, 1, 0)
    assert {step.place.argument for step in steps_of(*params)} == {0, 1}


@pytest.mark.parametrize(
    ("param", "expected"),
    [
        (Var("x", "int64"), ["Kind.INT", "Fits x int64", "Bind x x"]),
        (Var("x", "uint8"), ["Kind.INT", "Fits x uint8", "Bind x x"]),
        (
            Var("x", "int8", min=1, divisibility=2),
            ["Kind.INT", "Fits x int8", "AtLeast x x", "Divisible x x", "Bind x x"],
        ),
        (Var("x", "bool"), ["Kind.BOOL", "CheckBool x", "Bind x x"]),
        (Var("x", "float16"), ["Kind.FLOAT float16", "Bind x x"]),
        (Var("x", "handle"), ["Kind.HANDLE", "Bind x x"]),
        (Stream("x"), ["Kind.STREAM"]),
        (spec.DType("x"), ["Kind.DTYPE"]),
        (spec.Device("x"), ["Kind.DEVICE"]),
        (DataPointer("x"), ["Kind.POINTER", "NotNegative x", "Fits x uint64"]),
        (ConstNone("x"), ["Kind.CONST_NONE"]),
        (ConstInt("x", 3), ["Kind.CONST_INT", "EqualInt x 3"]),
        (ConstBool("x", False), ["Kind.CONST_BOOL", "EqualInt x"]),
        (ConstFloat("x", 0.5), ["Kind.CONST_FLOAT", "EqualFloat x ConstFloat('x', 0.5)"]),
    ],
    ids=lambda value: repr(value) if isinstance(value, Metadata) else "",
)
def test_scalars(param: Param, expected: list[str]):
    assert lines(param) == [f"DecodeScalar x {expected[0]}", *expected[1:]]


def test_a_constant_bool_shows_as_one():
    steps = steps_of(ConstBool("x", True))
    assert getattr(steps[1], "expected") is True  # noqa: B009 # any step may lack it


def test_an_env_stream_is_no_argument():
    x = Tensor("x", [n], "float32", device_type="cuda")
    plan = make_plan(Signature("f", [EnvStream("s"), x]))
    assert line(plan.steps[0]) == "CheckCount number of arguments 1"
    assert all(step.place.argument in (-1, 0) for step in plan)


class TestSameDevice:
    def devices(self, *params: Param) -> list[str]:
        return [found for found in lines(*params) if ".device_id" in found]

    def test_with_the_first_tensor_of_that_device_type(self):
        x, y, z = (Tensor(name, [4], "int8", device_type="cuda") for name in "xyz")
        assert self.devices(x, y, z) == [
            "CheckSameDevice y.device_id x.device_id certain",
            "CheckSameDevice z.device_id x.device_id certain",
        ]

    def test_other_device_types_do_not_count(self):
        x, z = (Tensor(name, [4], "int8", device_type="cuda") for name in "xz")
        y, w = (Tensor(name, [4], "int8") for name in "yw")
        assert self.devices(x, y, z, w) == [
            "CheckSameDevice z.device_id x.device_id certain",
            "CheckSameDevice w.device_id y.device_id certain",
        ]

    def test_tuples_are_looked_into(self):
        x, y = (Tensor(name, [4], "int8") for name in "xy")
        assert self.devices(TupleParam("t", [n, x]), y) == [
            "CheckSameDevice y.device_id t[1].device_id certain"
        ]

    def test_what_is_given_is_checked_instead(self):
        d = Var("d", "int32")
        x, y, z, w = (
            Tensor(name, [4], "int8", device_id=device)
            for name, device in zip("xyzw", [d, 1, d, None], strict=True)
        )
        assert self.devices(x, y, z, w) == [
            "Bind x.device_id d",
            "EqualInt y.device_id 1",
            "EqualSymbol z.device_id d",
            "CheckSameDevice w.device_id x.device_id certain",
        ]

    def test_any_device_may_be_that_of_one_before_it(self):
        x, z = (Tensor(name, [4], "int8", device_type="any") for name in "xz")
        y, w = (Tensor(name, [4], "int8", device_type="cuda") for name in "yw")
        assert self.devices(x, y, z, w) == [
            "CheckSameDevice y.device_id x.device_id",
            "CheckSameDevice z.device_id x.device_id y.device_id",
            "CheckSameDevice w.device_id x.device_id y.device_id",
        ]
        cpu = Tensor("c", [4], "int8")
        assert self.devices(y, cpu, w) == ["CheckSameDevice w.device_id y.device_id certain"]

    def test_what_may_be_absent_is_followed_by_others(self):
        x, y, z, w = (Tensor(name, [4], "int8") for name in "xyzw")
        assert self.devices(Optional(x), TupleParam("t", [y]), z, w) == [
            "CheckSameDevice t[0].device_id x.device_id",
            "CheckSameDevice z.device_id x.device_id t[0].device_id",
            "CheckSameDevice w.device_id x.device_id t[0].device_id",
        ]
        assert self.devices(Optional(TupleParam("t", [x, y]))) == [
            "CheckSameDevice t[1].device_id t[0].device_id"
        ]


class TestPacked:
    def packed(self, strides: list[spec.Dim | None] | None = None) -> Tensor:
        return Tensor(
            "x", [n, k], "float4_e2m1fn", storage_dtype="float4_e2m1fnx2", strides=strides
        )

    def test_the_last_dimension(self):
        found = [item for item in lines(self.packed()) if "[" in item]
        assert found == [
            "NotNegative x.shape[0]",
            "Bind x.shape[0] n",
            "NotNegative x.shape[1]",
            "CheckPacked x.shape[1]",
            "Bind x.shape[1] k",
            "CheckContiguous x.strides[0] C",
            "CheckContiguous x.strides[1] C",
        ]
        assert "CheckDType x.dtype float4_e2m1fnx2" in lines(self.packed())

    def test_the_dimension_with_stride_1_and_the_other_strides(self):
        found = [item for item in lines(self.packed([1, m])) if "[" in item]
        assert found == [
            "NotNegative x.shape[0]",
            "CheckPacked x.shape[0]",
            "Bind x.shape[0] n",
            "NotNegative x.shape[1]",
            "Bind x.shape[1] k",
            "EqualInt x.strides[0] 1 free",
            "CheckPacked x.strides[1]",
            "Bind x.strides[1] m",
        ]

    def test_the_first_dimension_of_column_major_tensors(self):
        x = Tensor("x", [n, k], "int4", storage_dtype="int8", strides="F")
        found = [item for item in lines(x) if "[" in item]
        assert found == [
            "NotNegative x.shape[0]",
            "CheckPacked x.shape[0]",
            "Bind x.shape[0] n",
            "NotNegative x.shape[1]",
            "Bind x.shape[1] k",
            "CheckContiguous x.strides[0] F",
            "CheckContiguous x.strides[1] F",
        ]

    def test_a_stride_that_is_not_looked_at(self):
        assert not any("strides[1]" in item for item in lines(self.packed([1, None])))

    def test_what_is_read_is_multiplied(self):
        steps = {line(step): step for step in steps_of(self.packed())}
        assert steps["Bind x.shape[1] k"].place.packing == 2
        assert steps["Bind x.shape[0] n"].place.packing == 1
        assert steps["NotNegative x.shape[1]"].place.packing == 1
        check = steps["CheckPacked x.shape[1]"]
        assert isinstance(check, CheckPacked)
        assert check.expected == (2**63 - 1) // 2


def test_plans_are_data():
    def make() -> Signature:
        return Signature("f", [Tensor("x", [n, n * 2], "float32", strides=[k, 1])])

    assert make_plan(make()) == make_plan(make())
    assert hash(make_plan(make())) == hash(make_plan(make()))
    assert make_plan(make()) != make_plan(Signature("g", make().params))
    assert list(make_plan(make())) == list(make_plan(make()).checks)


def test_device_codes_are_dlpacks():
    step = CheckDeviceType(Place((0,), "x"), "cuda")
    assert step.code == 2


def test_kinds():
    accepted = {kind.name: {index.name for index in kind.accepts} for kind in Kind}
    assert accepted == {
        "INT": {"INT", "BOOL", "BIG_INT"},
        "BOOL": {"BOOL", "INT"},
        "FLOAT": {"FLOAT", "INT", "BOOL"},
        "HANDLE": {"OPAQUE_PTR", "NONE"},
        "POINTER": {"OPAQUE_PTR", "NONE", "INT", "BIG_INT"},
        "STREAM": {"OPAQUE_PTR", "NONE", "INT"},
        "DTYPE": {"DATA_TYPE"},
        "DEVICE": {"DEVICE"},
        "CONST_NONE": {"NONE"},
        "CONST_INT": {"INT"},
        "CONST_BOOL": {"BOOL"},
        "CONST_FLOAT": {"FLOAT", "INT"},
    }
    step = DecodeScalar(Place((0,), "x"), Kind.BOOL)
    assert step.kind.accepts == (abi.TypeIndex.BOOL, abi.TypeIndex.INT)
