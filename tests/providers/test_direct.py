"""DirectCallProvider and NopCallProvider: what arrives at the callee, byte by byte."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any, Final

import pytest

from ffi_builder import spec
from ffi_builder.providers import (
    DirectCallProvider,
    MemRefCallProvider,
    NestedTensorCallProvider,
    NopCallProvider,
)
from ffi_builder.spec import DataPointer, Tensor, TupleParam, Var, ceildiv, dims
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
from tests.providers.arriving import DIRECT, recorded
from tests.providers.values import BYTES, CASES, IDS, LLVM
from tests.support.recording import c_callees
from tests.support.wrapping import current_stream, wrap, wrap_raw

n, m = dims("n m")
X, Y = (Tensor(name, [dim], "float32", device_type="cpu") for name, dim in (("x", n), ("y", m)))
P, A8, A64 = Var("p", "uint8"), Var("a", "int8"), Var("a", "int64")
FLOATS: Final = "x: Tensor([n], float32)"
each = pytest.mark.parametrize(
    "make", [DirectCallProvider, MemRefCallProvider, NestedTensorCallProvider]
)
"""Providers that pass what is no tensor alike."""


def direct(*args: Any) -> DirectCallProvider:
    return DirectCallProvider("callee", args=args)


def test_nop_calls_nothing() -> None:
    call = wrap([X, n], NopCallProvider())
    with pytest.raises(TypeError, match="number of arguments"):
        call()
    checked = wrap_raw([X, n], NopCallProvider())
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
    for given in ((-1, 255, -2, 65535, True), (-128, 128, -32768, 32768, False)):
        call(*given)
        assert struct.unpack("<5i", callees.all(20)) == given
    assert callees.calls == 2


def test_more_arguments_than_registers() -> None:
    types = ("int64",) * 6 + ("int8", "uint16", "float32", "float64")
    params = [Var(f"a{i}", dtype) for i, dtype in enumerate(types)]
    callees = c_callees()
    callees.expect()
    given = (1, 2, 3, 4, 5, -6, -7, 65535, 0.5, 0.25)
    wrap(params, DirectCallProvider("ffib_test_stack"))(*given)
    assert struct.unpack("<6q2if4xd", callees.all(72)) == given


TUPLES: Final = """none: None, t: Tuple(x: Tensor([n], float32), inner: Tuple(a: int32,
    flag: Literal[True]), half: Literal[0.5]), seven: Literal[7], b: float64"""
TWO: Final = [TupleParam(name, [X, DataPointer("p")]) for name in "ab"]
OF_TWO: Final = [array(tensor(DLTensor((2,), data=64 * i)), of_int(i)) for i in (1, 2)]
SHAPE: Final = f"{FLOATS}, s: Shape([4, n, k, n * 2]) where k: int16"
THREE: Final = tensor(DLTensor((3,), data=0x40))
AT_16: Final = tensor(DLTensor((5,), data=0x10))
ARRIVES: Final[dict[str, tuple[Sequence[spec.Param] | str, str, Any, Sequence[Value], list[Any]]]] = {
    # parameters, types of the callee, provider, a call, and what arrives
    "data with its offset": (FLOATS, "ptr", DIRECT, [tensor(DLTensor((3,), data=0x1000, byte_offset=0x24))], [0x1024]),
    "data of a DLTensor*": (FLOATS, "ptr", DIRECT, [Pointer(DLTensor((3,), data=0x1000, byte_offset=0x24))], [0x1024]),
    "no data of an empty tensor": (FLOATS, "ptr", DIRECT, [tensor(DLTensor((0,), data=0))], [0]),
    "tuples are flattened, constants dropped": (
        *(TUPLES, "ptr i32 f64", DIRECT),
        [Plain(0), array(THREE, array(of_int(-5), of_bool(True)), of_float(0.5)), of_int(7), of_float(2.5)],
        [0x40, -5, 2.5],
    ),
    "equal parameters in two tuples": (TWO, "ptr ptr ptr ptr", DIRECT, OF_TWO, [0x40, 1, 0x80, 2]),
    "two tuples in another order": (TWO, "ptr ptr ptr ptr", direct(TWO[1], TWO[0]), OF_TWO, [0x80, 2, 0x40, 1]),
    "entries of shapes that are no ints": (SHAPE, "ptr i64 i16 i64", DIRECT, [THREE, shape(4, 3, 9, 6)], [0x40, 3, 9, 6]),
    "a list for a shape": (SHAPE, "ptr i64 i16 i64", DIRECT, [THREE, array(*map(of_int, (4, 3, 10, 6)))], [0x40, 3, 10, 6]),
    "args choose, order and repeat": (
        *([X, Y, P], "i8 ptr i64 ptr i64 i64 i64 ptr i8 i64"),
        direct(P, Y.data, 7, X, n, ceildiv(n, 2), m - n, X.data, P, -1),
        [AT_16, tensor(DLTensor((3,), data=0x20, byte_offset=4)), of_int(200)],
        [200 - 256, 0x24, 7, 0x10, 5, 3, -2, 0x10, 200 - 256, -1],
    ),
    "args by name": (
        *([X, TupleParam("pair", [A8, DataPointer("p")])], "i64 ptr i8 ptr i64 ptr i8"),
        direct("n", "x.data", "pair", "n * 2", "x", "a"),
        *([AT_16, array(of_int(-1), of_int(0x20))], [5, 0x10, -1, 0x20, 10, 0x10, -1]),
    ),
    "a parameter's name before a symbol's": ("n: Tensor([n], float32)", "ptr", direct("n"), [AT_16], [0x10]),
    "args of nothing": (FLOATS, "", direct(), [AT_16], []),
    "a symbol of a stride in a tuple": (
        *("t: Tuple(x: Tensor([2, 3], float32, strides=[k, 1])) where k: int32", "i32", direct(Var("k", "int32"))),
        *([array(tensor(DLTensor((2, 3), (-7, 1))))], [-7]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ARRIVES)
def test_what_arrives(case: str) -> None:
    params, types, provider, given, expected = ARRIVES[case]
    call, recording = recorded(params, types, provider)
    assert call(*given) is None
    assert recording.values == expected


@each
def test_streams_and_pointers(make: Any) -> None:
    params = "s: Stream, p: DataPointer, t: Stream, q: DataPointer(address_space=1)"
    call, recording = recorded(params, "ptr ptr ptr ptr<1>", make("callee"))
    big = 2**64 - 16
    assert call(of_pointer(0x70), of_int(big), Plain(0, 0x99), of_pointer(0x80)) is None
    assert recording.values == [0x70, big, 0, 0x80]
    assert call(of_int(-1), Plain(0), of_int(2), of_int(3)) is None
    assert recording.values == [2**64 - 1, 0, 2, 3]


def test_the_environments_stream() -> None:
    params = "s: EnvStream, c: Tensor([n], float32), x: Tensor([n], float32, device_type=cuda)"
    call, recording = recorded(params, "ptr ptr ptr")
    given = THREE, tensor(DLTensor((3,), data=0x50, device_type=2, device_id=5))
    with current_stream(0xABC0, 5):
        assert call(*given) is None
        assert recording.values == [0xABC0, 0x40, 0x50]
    assert call(*given) is None
    assert recording.values == [0, 0x40, 0x50]


def test_constants_in_args() -> None:
    call, recording = recorded([], "f64 ptr ptr", direct(0.5, b"text", None))
    assert call() is None
    half, text, null = recording.values
    assert (half, ctypes.string_at(text), null) == (0.5, b"text", 0)


def test_an_expression_in_args_that_overflows_is_an_error() -> None:
    call, recording = recorded([A64], "i64", direct(A64 * 4))
    assert call(of_int(2**60)) is None
    assert recording.values == [2**62]
    recording.clear()
    words = "The value of a * 4 does not fit int64 when calling: `f(a: int64)`"
    assert call(of_int(2**61)) == ("ValueError", words)
    assert recording.read(0, 0) == b""


def test_a_result_is_not_looked_at() -> None:
    text = """llvm.func @callee(%a: i64) -> i64 { llvm.return %a : i64 }"""
    assert wrap([A64], DIRECT, text)(3) is None
