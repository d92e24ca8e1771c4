"""DirectCallProvider and NopCallProvider: what arrives at the callee, byte by byte."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any

import pytest

from ffi_builder import spec
from ffi_builder.providers import (
    CallProvider,
    DirectCallProvider,
    MemRefCallProvider,
    NestedTensorCallProvider,
    NopCallProvider,
)
from ffi_builder.spec import DataPointer, Shape, Stream, Tensor, TupleParam, Var, ceildiv, dims
from tests.differential.description import (
    DLTensor,
    Plain,
    Pointer,
    Value,
    array,
    of_bool,
    of_float,
    of_int,
    of_pointer,
    shape,
    tensor,
)
from tests.providers.values import BYTES, CASES, IDS, LLVM
from tests.support.recording import Recording, c_callees
from tests.support.wrapping import RawWrapper, current_stream, wrap, wrap_raw

n, m = dims("n m")
DIRECT = DirectCallProvider("callee")


def floats(name: str, *entries: spec.Dim | None, device_type: str = "cpu") -> Tensor:
    return Tensor(name, entries, "float32", device_type=device_type)


each = pytest.mark.parametrize(
    "make", [DirectCallProvider, MemRefCallProvider, NestedTensorCallProvider]
)
"""Providers that pass what is no tensor alike."""


def recorded(
    params: Sequence[spec.Param], types: list[str], provider: CallProvider = DIRECT
) -> tuple[RawWrapper, Recording]:
    """A wrapper around a callee of these types."""
    recording = Recording("callee", types)
    return wrap_raw(params, provider, recording.text), recording


def test_nop_calls_nothing() -> None:
    call = wrap([floats("x", n), n], NopCallProvider())
    with pytest.raises(TypeError, match="number of arguments"):
        call()
    checked = wrap_raw([floats("x", n), n], NopCallProvider())
    assert checked(tensor(DLTensor((3,))), of_int(3)) is None
    error = checked(tensor(DLTensor((3,))), of_int(4))
    assert error is not None
    assert error[0] == "ValueError"


@each
@pytest.mark.parametrize(("dtype", "given", "expected"), CASES, ids=IDS)
def test_every_dtype(dtype: str, given: Value, expected: bytes, make: Any) -> None:
    call, recording = recorded([Var("a", dtype)], [LLVM[dtype]], make("callee"))
    assert call(given) is None
    assert recording.read(0, BYTES[dtype]) == expected


def test_narrow_ints_are_widened_as_c_expects() -> None:
    types = ("int8", "uint8", "int16", "uint16", "bool")
    params = [Var(f"a{i}", dtype) for i, dtype in enumerate(types)]
    callees = c_callees()
    callees.expect()
    call = wrap(params, DirectCallProvider("ffib_test_wide"))
    call(-1, 255, -2, 65535, True)
    assert struct.unpack("<5i", callees.all(20)) == (-1, 255, -2, 65535, 1)
    call(-128, 128, -32768, 32768, False)
    assert struct.unpack("<5i", callees.all(20)) == (-128, 128, -32768, 32768, 0)
    assert callees.calls == 2


def test_more_arguments_than_registers() -> None:
    types = ("int64",) * 6 + ("int8", "uint16", "float32", "float64")
    params = [Var(f"a{i}", dtype) for i, dtype in enumerate(types)]
    callees = c_callees()
    callees.expect()
    call = wrap(params, DirectCallProvider("ffib_test_stack"))
    call(1, 2, 3, 4, 5, -6, -7, 65535, 0.5, 0.25)
    got = struct.unpack("<6q2if4xd", callees.all(72))
    assert got == (1, 2, 3, 4, 5, -6, -7, 65535, 0.5, 0.25)


@pytest.mark.parametrize("kind", [tensor, Pointer])
def test_data_pointers_include_byte_offset(kind: type[Pointer]) -> None:
    call, recording = recorded([floats("x", n)], ["!llvm.ptr"])
    assert call(kind(DLTensor((3,), data=0x1000, byte_offset=0x24))) is None
    assert recording.unsigned(0) == 0x1024


def test_null_data_of_an_empty_tensor() -> None:
    call, recording = recorded([floats("x", n)], ["!llvm.ptr"])
    assert call(tensor(DLTensor((0,), data=0))) is None
    assert recording.unsigned(0) == 0


def test_tuples_are_flattened_and_constants_dropped() -> None:
    inner = TupleParam("inner", [Var("a", "int32"), spec.ConstBool("flag", True)])
    params: list[spec.Param] = [
        spec.ConstNone("none"),
        TupleParam("t", [floats("x", n), inner, spec.ConstFloat("half", 0.5)]),
        spec.ConstInt("seven", 7),
        Var("b", "float64"),
    ]
    call, recording = recorded(params, ["!llvm.ptr", "i32", "f64"])
    elements = array(
        tensor(DLTensor((2,), data=0x40)), array(of_int(-5), of_bool(True)), of_float(0.5)
    )
    assert call(Plain(0), elements, of_int(7), of_float(2.5)) is None
    assert recording.unsigned(0) == 0x40
    assert recording.signed(1, 4) == -5
    assert recording.read(2, 8) == struct.pack("<d", 2.5)


def test_equal_parameters_in_two_tuples_are_two_arguments() -> None:
    pair = [floats("x", n), DataPointer("p")]
    params = [TupleParam("a", pair), TupleParam("b", pair)]
    values = (
        array(tensor(DLTensor((2,), data=0x40)), of_int(1)),
        array(tensor(DLTensor((2,), data=0x80)), of_int(2)),
    )
    call, recording = recorded(params, ["!llvm.ptr"] * 4)
    assert call(*values) is None
    assert [recording.unsigned(i) for i in range(4)] == [0x40, 1, 0x80, 2]
    swapped = DirectCallProvider("callee", args=[params[1], params[0]])
    call, recording = recorded(params, ["!llvm.ptr"] * 4, swapped)
    assert call(*values) is None
    assert [recording.unsigned(i) for i in range(4)] == [0x80, 2, 0x40, 1]


def test_shapes_give_the_entries_that_are_not_ints() -> None:
    k = Var("k", "int16")
    params = [floats("x", n), Shape("s", [4, n, k, n * 2])]
    call, recording = recorded(params, ["!llvm.ptr", "i64", "i16", "i64"])
    assert call(tensor(DLTensor((3,))), shape(4, 3, 9, 6)) is None
    assert (recording.signed(1), recording.signed(2, 2), recording.signed(3)) == (3, 9, 6)
    assert call(tensor(DLTensor((3,))), array(*map(of_int, (4, 3, 10, 6)))) is None
    assert (recording.signed(1), recording.signed(2, 2), recording.signed(3)) == (3, 10, 6)


@each
def test_streams_and_pointers(make: Any) -> None:
    params = [Stream("s"), DataPointer("p"), Stream("t"), DataPointer("q", address_space=1)]
    types = ["!llvm.ptr", "!llvm.ptr", "!llvm.ptr", "!llvm.ptr<1>"]
    call, recording = recorded(params, types, make("callee"))
    big = 2**64 - 16
    assert call(of_pointer(0x70), of_int(big), Plain(0, 0x99), of_pointer(0x80)) is None
    assert [recording.unsigned(i) for i in range(4)] == [0x70, big, 0, 0x80]
    assert call(of_int(-1), Plain(0), of_int(2), of_int(3)) is None
    assert [recording.unsigned(i) for i in range(4)] == [2**64 - 1, 0, 2, 3]


def test_the_environments_stream() -> None:
    params = [spec.EnvStream("stream"), floats("c", n), floats("x", n, device_type="cuda")]
    call, recording = recorded(params, ["!llvm.ptr"] * 3)
    host = DLTensor((3,), data=0x40)
    on_device = DLTensor((3,), data=0x50, device_type=2, device_id=5)
    with current_stream(0xABC0, 5):
        assert call(tensor(host), tensor(on_device)) is None
        assert [recording.unsigned(i) for i in range(3)] == [0xABC0, 0x40, 0x50]
    assert call(tensor(host), tensor(on_device)) is None
    assert recording.unsigned(0) == 0


def test_args_choose_order_and_repeat() -> None:
    x, y = floats("x", n), floats("y", m)
    p = Var("p", "uint8")
    every = [p, y.data, 7, x, n, ceildiv(n, 2), m - n, x.data, p, -1]
    provider = DirectCallProvider("callee", args=every)
    pointer, i64 = "!llvm.ptr", "i64"
    types = ["i8", pointer, i64, pointer, i64, i64, i64, pointer, "i8", i64]
    call, recording = recorded([x, y, p], types, provider)
    first, second = DLTensor((5,), data=0x10), DLTensor((3,), data=0x20, byte_offset=4)
    assert call(tensor(first), tensor(second), of_int(200)) is None
    sizes = [1, 8, 8, 8, 8, 8, 8, 8, 1, 8]
    got = [recording.signed(i, size) for i, size in enumerate(sizes)]
    assert got == [200 - 256, 0x24, 7, 0x10, 5, 3, -2, 0x10, 200 - 256, -1]


def test_args_by_name() -> None:
    a = Var("a", "int8")
    pair = TupleParam("pair", [a, DataPointer("p")])
    provider = DirectCallProvider("callee", args=["n", "x.data", "pair", "n * 2", "x", "a"])
    pointer = "!llvm.ptr"
    types = ["i64", pointer, "i8", pointer, "i64", pointer, "i8"]
    call, recording = recorded([floats("x", n), pair], types, provider)
    assert call(tensor(DLTensor((5,), data=0x10)), array(of_int(-1), of_int(0x20))) is None
    got = [recording.signed(i, size) for i, size in enumerate([8, 8, 1, 8, 8, 8, 1])]
    assert got == [5, 0x10, -1, 0x20, 10, 0x10, -1]


def test_constants_in_args() -> None:
    provider = DirectCallProvider("callee", args=[0.5, b"text", None])
    call, recording = recorded([], ["f64", "!llvm.ptr", "!llvm.ptr"], provider)
    assert call() is None
    assert recording.read(0, 8) == struct.pack("<d", 0.5)
    assert ctypes.string_at(recording.unsigned(1)) == b"text"
    assert recording.unsigned(2) == 0


def test_a_parameters_name_comes_before_a_symbols() -> None:
    x = Tensor("n", [n], "float32", device_type="cpu")
    call, recording = recorded([x], ["!llvm.ptr"], DirectCallProvider("callee", args=["n"]))
    assert call(tensor(DLTensor((5,), data=0x10))) is None
    assert recording.unsigned(0) == 0x10


def test_args_of_nothing() -> None:
    call, _ = recorded([floats("x", n)], [], DirectCallProvider("callee", args=[]))
    assert call(tensor(DLTensor((3,)))) is None


def test_an_expression_in_args_that_overflows_is_an_error() -> None:
    a = Var("a", "int64")
    call, recording = recorded([a], ["i64"], DirectCallProvider("callee", args=[a * 4]))
    assert call(of_int(2**60)) is None
    assert recording.signed(0) == 2**62
    recording.clear()
    error = call(of_int(2**61))
    assert error == (
        "ValueError",
        "The value of a * 4 does not fit int64 when calling: `f(a: int64)`",
    )
    assert recording.read(0, 0) == b""


def test_a_symbol_bound_in_a_tuple_or_stride() -> None:
    k = Var("k", "int32")
    x = Tensor("x", [2, 3], "float32", device_type="cpu", strides=[k, 1])
    provider = DirectCallProvider("callee", args=[k])
    call, recording = recorded([TupleParam("t", [x])], ["i32"], provider)
    assert call(array(tensor(DLTensor((2, 3), (-7, 1))))) is None
    assert recording.signed(0, 4) == -7


def test_a_result_is_not_looked_at() -> None:
    text = """llvm.func @callee(%a: i64) -> i64 { llvm.return %a : i64 }"""
    call = wrap([Var("a", "int64")], DIRECT, text)
    assert call(3) is None
