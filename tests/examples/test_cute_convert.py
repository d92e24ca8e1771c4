"""examples/cute_dsl: from CuTe DSL's parameters to ours, with stand-ins of the same names."""

from __future__ import annotations

from dataclasses import field, make_dataclass
from typing import Any

import pytest

from ffi_builder import BuildError, spec
from ffi_builder.errors import SpecError
from tests.examples.cute import convert


def like(name: str, *fields: str, **defaults: object) -> Any:
    """A class of this name, whose objects have its fields."""
    more = [(key, object, field(default=value)) for key, value in defaults.items()]
    return make_dataclass(name, ["name", *fields, *more], eq=False)


Var = like("Var", dtype="int32", divisibility=None, alternate_ir_type_fetch_func=None)
TENSOR = {"device_type_name": "cpu", "data_alignment": None, "map_tensor_dtype_f4x2_to_f4": False}
Tensor = like("Tensor", "shape", "strides", dtype="float32", **TENSOR)
Shape, TupleParam = like("Shape", "shape"), like("TupleParam", "params")
DataPointer = like("DataPointer", "address_space")
Stream, EnvStream, ConstNone, Surprise = map(like, ("Stream", "EnvStream", "ConstNone", "Surprise"))
ConstInt, ConstBool, ConstFloat = (
    like(f"Const{kind}", "value") for kind in ("Int", "Bool", "Float")
)


def text(*params: Any) -> str:
    converted = convert.Conversion(params).params
    return spec.Signature("f", converted).canonical(device="cpu")


def test_everything_that_a_tensor_says_is_checked():
    n, m, s = Var("n0", divisibility=1), Var("n1", "int64", 4), Var("s0", "int64", 8)
    x = Tensor("x", [n, m, 3], [s, 1, 0], "float16", "cuda", 16)
    assert text(x) == (
        "f(x: Tensor([n0, n1, 3], float16, strides=[s0, 1, 0], device_type=cuda, "
        "data_alignment=16)) where n0: int32, n1 % 4 == 0, s0 % 8 == 0"
    )


def test_symbols_are_shared():
    n, s = Var("n0"), Var("s0", "int64")
    x, y = Tensor("x", [n, 4], [s, 1]), Tensor("y", [n, n], [s, 1])
    first, second = convert.Conversion([x, y]).params
    assert first.shape[0] == second.shape[0] == second.shape[1]
    assert first.strides[0] == second.strides[0]


def test_a_parameter_that_is_called_like_a_symbol_is_another_one():
    x = Tensor("x", [Var("n0")], [1])
    assert text(Var("n0", "int64"), x, Var("n0_")) == (
        "f(n0: int64, x: Tensor([n0__], float32, strides=[1]), n0_: int32) where n0__: int32"
    )


def test_scalars_and_pointers():
    assert text(
        Var("i"),
        Var("u", "uint8", 2),
        Var("b", "bool"),
        Var("h", "bfloat16"),
        DataPointer("p", None),
        DataPointer("q", 1),
        Stream("s"),
    ) == (
        "f(i: int32, u: uint8, b: bool, h: bfloat16, p: DataPointer, "
        "q: DataPointer(address_space=1), s: Stream) where u % 2 == 0"
    )


def test_what_is_no_argument_or_a_constant():
    x = Tensor("x", [4], [1], device_type_name="cuda")
    constants = [ConstNone("a"), ConstInt("b", 3), ConstBool("c", True), ConstFloat("d", 0.5)]
    assert text(x, *constants, EnvStream("stream")) == (
        "f(x: Tensor([4], float32, strides=[1], device_type=cuda), a: None, b: Literal[3], "
        "c: Literal[True], d: Literal[0.5], stream: EnvStream)"
    )


def test_shapes():
    assert text(Shape("size", [Var("n0"), 4, Var("n1", "int64")])) == (
        "f(size: Shape([n0, 4, n1])) where n0: int32"
    )


def test_tuples():
    n = Var("n0")
    inner = TupleParam("cfg[1]", [Var("cfg[1][0]"), ConstNone("cfg[1][1]")])
    cfg = TupleParam("cfg", [Tensor("cfg[0]", [n], [1]), inner])
    assert text(cfg, TupleParam("none", [])) == (
        "f(cfg: Tuple(cfg_0: Tensor([n0], float32, strides=[1]), cfg_1: Tuple(cfg_1_0: int32, "
        "cfg_1_1: None)), none: Tuple()) where n0: int32"
    )


def test_dataclasses_keep_the_names_of_their_fields():
    fields = [Var("cfg.alpha", "float32"), Var("cfg.k", "int64"), ConstInt("cfg.mode", 3)]
    assert text(TupleParam("cfg", fields), Var("k")) == (
        "f(cfg: Struct(alpha: float32, k_: int64, mode: Literal[3]), k: int32)"
    )


def f4(name: str, shape: list[Any], strides: list[Any]) -> Any:
    return Tensor(name, shape, strides, "float4_e2m1fnx2", map_tensor_dtype_f4x2_to_f4=True)


def test_packed_elements_are_counted_one_by_one():
    rows, packed, s = Var("n0"), Var("n1", divisibility=16), Var("s0", "int64", 16)
    dtype = "float4_e2m1fn"
    stored = f"storage_dtype={dtype}x2"
    assert text(f4("x", [rows, packed], [s, 1]), f4("y", [4, 16], [16, 1])) == (
        f"f(x: Tensor([n0, n1], {dtype}, strides=[s0, 1], {stored}), "
        f"y: Tensor([4, 32], {dtype}, strides=[32, 1], {stored})) "
        f"where n0: int32, n1: int32, n1 % 32 == 0, s0 % 32 == 0"
    )
    assert "x: Tensor([n1, n0], float4_e2m1fn, strides=[1, s0]" in text(
        f4("x", [packed, rows], [1, s])
    )


def test_packed_and_other_elements_share_a_symbol():
    x = f4("x", [Var("n0", divisibility=16)], [1])
    y = Tensor("y", [Var("n0", divisibility=32)], [1])
    first, second = convert.Conversion([x, y]).params
    assert first.shape == second.shape


def test_what_is_not_known():
    with pytest.raises(BuildError) as raised:
        text(TupleParam("t", [Surprise("t[0]")]))
    assert str(raised.value) == "parameter 't[0]' is a Surprise, which this hook does not know"
    with pytest.raises(BuildError) as raised:
        text(Var("x", "float32", alternate_ir_type_fetch_func=lambda: None))
    assert str(raised.value) == (
        "parameter 'x': a scalar that is passed as another type than float32 (as a TFloat32 is), "
        "which this hook does not know"
    )


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"dtype": "float3"}, "float3"),
        ({"device_type_name": "abacus"}, "device_type: expected one of cpu, cuda"),
        ({"data_alignment": 48}, "data_alignment: expected a power of two but got 48"),
    ],
)
def test_what_cannot_be_checked(more: dict[str, Any], words: str):
    with pytest.raises(SpecError, match=words):
        text(Tensor("x", [4], [1], **more))
