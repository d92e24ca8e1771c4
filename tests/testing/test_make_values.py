"""``testing.make_args`` of tensors of any kind, strings, objects and Optionals."""

from __future__ import annotations

from typing import Any

import pytest
import tvm_ffi

from ffi_builder import spec, testing
from ffi_builder.spec import Shape, Signature, Tensor, TupleParam, Var, dims
from tests.testing.making import bound, cpu, made

pytest.importorskip("numpy", reason="needs NumPy")
n, k = dims("n k")


def test_tensors_of_any_kind() -> None:
    args = made(
        cpu("A", n, 4, strides="F"),
        Tensor("B", ..., ("bfloat16", "float32"), device_type="any"),
        Tensor("C", ..., "float32", device_type="cpu", strides="F"),
        Tensor("D", ..., "float32", device_type="any", strides="any"),
        cpu("E", n, 3, None, strides="any"),
        cpu("F", n, 4, strides="F", dtype="int4", storage_dtype="int8"),
    )
    assert [tuple(a.shape) for a in args] == [(2, 4), (2, 3), (2, 3), (2, 3), (2, 3, 3), (1, 4)]
    assert str(args[1].dtype) == "bfloat16"
    assert args[0].flags.f_contiguous
    assert args[2].strides == (4, 8)
    for framework in ("numpy", "tvm_ffi"):
        bound(cpu("A", n, 4, 1, strides="F"), framework=framework, n=1)
        bound(cpu("A", n, 4, k, strides="F", dtype="int4", storage_dtype="int8"), n=6)


VALUES: list[tuple[spec.Param, object]] = [
    (spec.String("x"), ""),
    (spec.Bytes("x"), b""),
    (spec.Choice("x", {"relu": 1, "gelu": 2}), "relu"),
    (spec.DType("x"), tvm_ffi.dtype("float32")),
    (spec.Device("x"), tvm_ffi.device("cpu", 0)),
    (spec.Array("x"), []),
    (spec.Map("x"), {}),
    (spec.Any("x"), 0),
    (spec.Variant([spec.String("x"), spec.Var("x", "int8")]), ""),
    (spec.Object("x"), []),
    (spec.Struct("x", [n, spec.String("s")]), (2, "")),
    (spec.Optional(spec.Struct("x", [spec.Optional(n), spec.Optional(spec.String("s"))])), (2, "")),
]


@pytest.mark.parametrize(("param", "value"), VALUES, ids=repr)
def test_other_values(param: spec.Param, value: object) -> None:
    assert made(param) == [value]
    bound(param)


@pytest.mark.parametrize(
    "key",
    ["String", "Bytes", "Function", "Shape", "Tensor", "Array", "Map", "Module", "OpaquePyObject",
     "List", "Dict", "VisitInterrupt", "BigInt", "Object"],
)  # fmt: skip
def test_objects(key: str) -> None:
    bound(spec.Object("x", f"ffi.{key}"))


def test_a_function_can_be_called() -> None:
    [function] = made(spec.Function("x"))
    assert function(1, 2) is None
    bound(spec.Function("x"))


class TestValues:
    def args(self, params: list[spec.Param], values: dict[str, Any], **symbols: float) -> list[Any]:
        signature = Signature("f", params)
        args = testing.make_args(signature, symbols, values=values)
        testing.check(signature, *args)
        return args

    def test_what_is_absent(self) -> None:
        cfg = spec.Struct("cfg", [spec.Optional(cpu("A", n)), spec.Optional(k)])
        params: list[spec.Param] = [spec.Optional(cpu("x", n)), spec.Optional(cfg)]
        assert self.args(params, {"x": None, "cfg": None}) == [None, None]
        assert self.args(params, {"x": None, "cfg.A": None}) == [None, (None, 2)]
        [x, (a, value)] = self.args(params, {"cfg.k": None})
        assert (x.shape, a.shape, value) == ((2,), (2,), None)

    def test_what_is_absent_is_on_no_device_and_has_no_symbols(self) -> None:
        cuda = Tensor("x", [Var("big", "int64", min=2**40)], "float32", device_type="cuda")
        assert self.args([spec.Optional(cuda), n], {"x": None}) == [None, 2]
        assert self.args([spec.Optional(cuda), n], {"x": None}, big=2**41) == [None, 2]

    def test_expressions_of_what_is_absent(self) -> None:
        [_, shape] = self.args([spec.Optional(n), Shape("s", [n // 2, n * 3])], {"n": None})
        assert shape == (1, 6)

    def test_anything_can_be_given(self) -> None:
        module = tvm_ffi.system_lib()
        params: list[spec.Param] = [
            TupleParam("t", [spec.Object("m", "ffi.Module"), n, spec.String("s")]),
            cpu("A", n),
        ]
        [(first, number, text), a] = self.args(params, {"t[0]": module, "t[1]": 7}, n=7)
        assert first is module
        assert (number, text, a.shape) == (7, "", (7,))
        # Nobody looks at it.
        args = testing.make_args(Signature("f", params), values={"t": 3})
        assert args[0] == 3

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("cfg.b", "has no parameter 'cfg.b'; it has cfg, cfg.a, did you mean 'cfg.a'?"),
            ("a", "has no parameter 'a'; it has cfg, cfg.a"),
        ],
    )
    def test_unknown_names(self, name: str, words: str) -> None:
        with pytest.raises(ValueError, match=r"^make_args: values: f ") as error:
            self.args([spec.Struct("cfg", [spec.String("a")])], {name: "x"})
        assert str(error.value) == f"make_args: values: f {words}"

    def test_objects_that_cannot_be_made(self) -> None:
        params: list[spec.Param] = [TupleParam("t", [spec.Object("o", "testing.TestObjectBase")])]
        with pytest.raises(ValueError, match="make_args cannot make one") as error:
            self.args(params, {})
        assert str(error.value) == (
            "make_args: t[0] is a testing.TestObjectBase, and make_args cannot make one; give it "
            "in values={'t[0]': …}"
        )
