"""Present and absent Optionals as kernels get them, with every provider."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any, Final

import pytest

from ffi_builder import spec
from ffi_builder.ir import Block, Value
from ffi_builder.providers import CallContext, DirectCallProvider, DynamicParamPackCallProvider
from ffi_builder.spec import Choice, Optional, String, Tensor, Var
from tests.differential.description import (
    NONE,
    Arguments,
    DLTensor,
    Plain,
    array,
    of_bool,
    of_float,
    of_int,
    shape,
    tensor,
)
from tests.differential.description import Value as Given
from tests.providers.arriving import packed, recorded
from tests.support.raw import object_, small, str_
from tests.support.recording import Recording
from tests.support.wrapping import current_stream, wrap_raw


def direct(*args: Any) -> DirectCallProvider:
    return DirectCallProvider("callee", args=args)


def pack(*args: Any) -> DynamicParamPackCallProvider:
    return DynamicParamPackCallProvider("ffib_test_pack", args=args)


EVERY_SCALAR: Final[list[tuple[spec.Param, str, Given, bytes]]] = [
    (Var("a", "int8"), "i8", of_int(-2), b"\xfe"),
    (Var("a", "uint64"), "i64", of_int(2**64 - 2), b"\xfe" + b"\xff" * 7),
    (Var("a", "bool"), "i1", of_bool(True), b"\1"),
    (Var("a", "float16"), "f16", of_float(-1.5), b"\0\xbe"),
    (Var("a", "bfloat16"), "bf16", of_float(1.0), b"\x80\x3f"),
    (Var("a", "float32"), "f32", of_float(0.5), struct.pack("<f", 0.5)),
    (Var("a", "float64"), "f64", of_float(0.5), struct.pack("<d", 0.5)),
    (Choice("a", {"x": -2}, "int16"), "i16", small(b"x"), b"\xfe\xff"),
    (spec.DType("a"), "i32", Plain(5, 0x00012002), b"\x02\x20\x01\x00"),
    (spec.Device("a"), "i64", Plain(6, 7 << 32 | 2), struct.pack("<2i", 2, 7)),
    *(
        (kind, "ptr", given, given.payload.to_bytes(8, "little"))
        for kind, given in (
            (spec.Object("a"), object_(64)),
            (spec.Object("a", "ffi.Module"), object_(73)),
            (spec.Function("a"), object_(68)),
            (spec.Array("a"), object_(71)),
            (spec.Map("a"), object_(72)),
        )
    ),
]
SCALAR_IDS: Final = [f"{type_}-{type(param).__name__}" for param, type_, _, _ in EVERY_SCALAR]


@pytest.mark.parametrize(("param", "type_", "given", "content"), EVERY_SCALAR, ids=SCALAR_IDS)
def test_a_scalar(param: spec.Param, type_: str, given: Given, content: bytes) -> None:
    size = len(content)
    call, recording = recorded([Optional(param)], [type_, "i1"], direct("a", "a.present"))
    assert call(given) is None
    assert (recording.read(0, size), recording.read(1, 1)) == (content, b"\1")
    recording.clear()
    assert call(NONE) is None
    assert (recording.read(0, size), recording.read(1, 1)) == (bytes(size), b"\0")
    call_packed = packed([Optional(param)], pack("a", "a.present"))
    assert call_packed(f"{size}s B", given) == [(content,), (1,)]
    assert call_packed(f"{size}s B", NONE) == [None, (0,)]


@pytest.mark.parametrize(
    ("kind", "given", "content"),
    [("String", str_(b"12345678"), b"12345678"), ("Bytes", small(b"12", 12), b"12")],
)
def test_a_str(kind: str, given: Given, content: bytes) -> None:
    params = f"s: Optional({kind})"
    call, recording = recorded(params, "ptr i64")
    assert call(given) is None
    assert ctypes.string_at(*recording.values) == content
    assert call(NONE) is None
    assert recording.values == [0, 0]
    call_packed = packed(params)
    assert call_packed("2q", given)[0][1] == len(content)
    assert call_packed("2q", NONE) == [None]


def test_a_tensor() -> None:
    parts = ("present", "ndim", "dtype", "device_type", "device_id", "data", "dltensor")
    provider = direct("x", *(f"x.{part}" for part in parts))
    call, recording = recorded(
        "x: Optional(Tensor([n, m], float32))", "ptr i1 i32 i32 i32 i32 ptr ptr", provider
    )
    assert call(tensor(DLTensor((2, 3), data=0x40, byte_offset=8))) is None
    *found, dltensor = recording.values
    assert found == [0x48, 1, 2, 2 | 32 << 8 | 1 << 16, 1, 0, 0x48]
    seen = struct.unpack("<QiiiBBH", ctypes.string_at(dltensor, 24))
    assert seen == (0x40, 1, 0, 2, 2, 32, 1)
    recording.clear()
    assert call(NONE) is None
    assert recording.values == [0] * 8


def test_a_tensor_of_any_rank() -> None:
    params = "x: Optional(Tensor(..., float32, strides=F, device_type=any))"
    call, recording = recorded(params, "ptr ptr i32", direct("x", "x.data", "x.ndim"))
    assert call(tensor(DLTensor((2, 3), (1, 2), data=0x40))) is None
    dltensor, *rest = recording.values
    assert (ctypes.c_uint64.from_address(dltensor).value, rest) == (0x40, [0x40, 2])
    assert call(NONE) is None
    assert recording.values == [0, 0, 0]
    assert packed(params)("48s", NONE) == [None]


def test_a_packed_tensor() -> None:
    params = """x: Optional(Tensor([k, None, 3, m * 2], float32, strides=any)), m: Optional(int64)
        where k: int16"""
    given = tensor(DLTensor((5, 7, 3, 4), (-1, 0, 9, 2), data=0x40))
    expected = (0x40, 5, 7, 4, -1, 0, 9, 2)
    call_packed = packed(params, pack("x"))
    assert call_packed("Qhxxxxxx6q", given, of_int(2)) == [expected]
    assert call_packed("Qhxxxxxx6q", NONE, of_int(2)) == [None]
    # ptr 0, i16 8, i64 16, i64 24; four strides
    types = ["!llvm.struct<(ptr, i16, i64, i64, i64, i64, i64, i64)>"]
    provider = DynamicParamPackCallProvider("callee", struct_call=True, args=["x"])
    by_value, recording = recorded(params, types, provider)
    for argument, m, content in ((given, NONE, expected), (NONE, of_int(2), (0,) * 8)):
        recording.clear()
        assert by_value(argument, m) is None
        fields = ctypes.string_at(recording._buffer, 64)  # pyright: ignore[reportPrivateUsage] # all 64
        assert struct.unpack("<Qhxxxxxx6q", fields) == content


def test_a_shape() -> None:
    params = "s: Optional(Shape([n, 3, n * 2, k])), n: Optional(int64) where k: int16"
    call, recording = recorded(params, "i64 i64 i16 i64")
    for given, expected in (
        ((shape(4, 3, 8, 0), NONE), [4, 8, 0, 4]),
        ((shape(4, 3, 8, 9), of_int(4)), [4, 8, 9, 4]),
        ((NONE, NONE), [0, 0, 0, 0]),
        # The symbol is bound by the other one; an expression is nobody's but the Shape's.
        ((NONE, of_int(2**62)), [2**62, 0, 0, 2**62]),
    ):
        assert call(*given) is None
        assert recording.values == expected
    assert packed(params)("24s q", NONE, of_int(2**62)) == [None, (2**62,)]


def test_a_tuple() -> None:
    params = "t: Optional(Tuple(x: Tensor([n], float32), c: Optional(Struct(a: int8, s: String))))"
    provider = direct("t", "t.present", "t[1].present")
    call, recording = recorded(params, "ptr i8 ptr i64 i1 i1", provider)
    x, text = tensor(DLTensor((3,), data=0x40)), str_(b"12345678")
    for given, expected in (
        (array(x, array(of_int(7), text)), [0x40, 7, b"12345678", 8, 1, 1]),
        (array(x, NONE), [0x40, 0, 0, 0, 1, 0]),
        (NONE, [0, 0, 0, 0, 0, 0]),
    ):
        recording.clear()
        assert call(given) is None
        values = recording.values
        values[2] = values[2] and ctypes.string_at(values[2], 8)
        assert values == expected
    call_packed = packed(params)
    assert call_packed("2q B 16s", array(x, NONE)) == [(0x40, 3), None, None]
    assert call_packed("2q B 16s", NONE) == [None, None, None]


def test_a_symbol_has_the_value_that_it_has_elsewhere() -> None:
    """An Optional symbol that is absent is not 0 where something else binds it."""
    params, x = "n: Optional(int64), x: Tensor([n], float32)", tensor(DLTensor((5,)))
    call, recording = recorded(params, "i64 i1", direct("n", "n.present"))
    for given, present in ((NONE, 0), (of_int(5), 1)):
        assert call(given, x) is None
        assert recording.values == [5, present]
    assert call(of_int(4), x) is not None


FIRST, SECOND = (tensor(DLTensor((), device_type=2, device_id=i)) for i in (3, 4))
HOST: Final = tensor(DLTensor(()))
GPU: Final = "float32, device_type=cuda)"


@pytest.mark.parametrize(
    ("params", "calls"),
    [
        (
            f"x: Optional(Tensor([], {GPU}), y: Tensor(..., float32, device_type=any)",
            [((FIRST, FIRST), 0x30), ((NONE, SECOND), 0x40), ((FIRST, HOST), 0x30), ((NONE, HOST), 0)],
        ),
        # A signature may have no other tensor on a device.
        (f"xs: TensorList(Tensor([], {GPU})", [((array(FIRST, FIRST),), 0x30), ((array(),), 0)]),
        (f"xs: Optional(TensorList(Tensor([], {GPU}))", [((array(FIRST),), 0x30), ((array(),), 0), ((NONE,), 0)]),
    ],
)  # fmt: skip
def test_the_environments_stream(params: str, calls: list[tuple[Sequence[Given], int]]) -> None:
    call, recording = recorded(f"s: EnvStream, {params}", "ptr", direct("s"))
    with current_stream(0x30, 3), current_stream(0x40, 4), current_stream(0x10, 0, "cpu"):
        for given, stream in calls:
            assert call(*given) is None
            assert recording.values == [stream]


def test_what_a_provider_of_ones_own_is_told() -> None:
    """Also from within a branch of its own."""
    n = Var("n", "int64")
    x = Tensor("x", [n, None], "float32", device_type="cpu", strides="any")
    params: list[spec.Param] = [Optional(x), Optional(String("s")), Optional(Var("a", "int32"))]

    def provider(current_block: Block, context: CallContext) -> Block:
        b, (first, text, scalar) = context.builder, context.params
        assert [context.may_be_absent(param) for param in params] == [True] * 3
        assert context.may_be_absent(x)
        assert not context.may_be_absent(n)
        out: list[Value] = [context.present(x), context.present(text), context.present(scalar)]
        wide = [b.zext(value, b.types.i64) for value in out]
        with b.when(context.present(first)):
            values = [*wide, *context.shape(x), *context.strides(x), context.text(text)[1]]
            values.append(b.sext(context.scalar(scalar), b.types.i64))
            b.call("callee", values, b.types.void)
        return b.block

    recording = Recording("callee", ["i64"] * 9)
    call = wrap_raw(params, provider, recording.text)
    assert call(NONE, small(b"abc"), of_int(-3)) is None
    assert recording.read(0, 0) == b""
    assert call(tensor(DLTensor((2, 3), (-7, 9))), small(b"abc"), of_int(-3)) is None
    assert recording.values == [1, 1, 1, 2, 3, -7, 9, 3, -3]
    assert call(tensor(DLTensor((2, 3))), NONE, NONE) is None
    assert recording.values == [1, 0, 0, 2, 3, 3, 1, 0, 0]
    assert call.with_arguments(Arguments((NONE, NONE))) is not None
