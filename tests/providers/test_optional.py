"""Present and absent Optionals as kernels get them, with every provider."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any, Final

import pytest

from ffi_builder import spec
from ffi_builder.ir import Block, Value
from ffi_builder.providers import (
    CallContext,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
)
from ffi_builder.spec import Bytes, Choice, Optional, Shape, String, Struct, Tensor, TupleParam, Var
from ffi_builder.spec import dims as symbols
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
from tests.support.raw import object_, small, str_
from tests.support.recording import Recording, c_callees
from tests.support.wrapping import RawWrapper, current_stream, wrap_raw

n, m, k = symbols("n m k")
small_n = Var("small_n", "int16")
POINTER: Final = "!llvm.ptr"
DIRECT: Final = DirectCallProvider("callee")


def matrix(name: str, *entries: spec.Dim | None, strides: str | None = None) -> Tensor:
    return Tensor(name, entries, "float32", device_type="cpu", strides=strides)


def direct(
    params: list[spec.Param], *types: str, args: list[spec.Param | str] | None = None
) -> tuple[RawWrapper, Recording]:
    recording = Recording("callee", types)
    provider = DIRECT if args is None else DirectCallProvider("callee", args=args)
    return wrap_raw(params, provider, recording.text), recording


def packing(params: list[spec.Param], **options: Any) -> Callable[..., Any]:
    """Calls of a packing wrapper: they return what the callee saw, behind all but ``nulls``."""
    callees = c_callees()
    call = wrap_raw(params, DynamicParamPackCallProvider("ffib_test_pack", **options))

    def called(*sizes: int, given: Sequence[Given], nulls: Sequence[int] = ()) -> Any:
        callees.expect(*sizes)
        assert call(*given) is None
        assert callees.nulls == [*nulls]
        return callees

    return called


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
]
SCALAR_IDS: Final = [f"{type_}-{type(param).__name__}" for param, type_, _, _ in EVERY_SCALAR]


@pytest.mark.parametrize(("param", "type_", "given", "content"), EVERY_SCALAR, ids=SCALAR_IDS)
def test_a_scalar(param: spec.Param, type_: str, given: Given, content: bytes) -> None:
    args: list[spec.Param | str] = ["a", "a.present"]
    call, recording = direct([Optional(param)], type_, "i1", args=args)
    assert call(given) is None
    assert (recording.read(0, len(content)), recording.read(1, 1)) == (content, b"\1")
    recording.clear()
    assert call(NONE) is None
    assert (recording.read(0, len(content)), recording.read(1, 1)) == (bytes(len(content)), b"\0")


@pytest.mark.parametrize(("param", "type_", "given", "content"), EVERY_SCALAR, ids=SCALAR_IDS)
def test_a_packed_scalar(param: spec.Param, type_: str, given: Given, content: bytes) -> None:
    call = packing([Optional(param)], args=["a", "a.present"])
    callees = call(len(content), 1, given=[given])
    assert (callees.read(0, len(content)), callees.read(1, 1)) == (content, b"\1")
    callees = call(len(content), 1, given=[NONE], nulls=[0])
    assert callees.read(1, 1) == b"\0"


OBJECTS: Final[list[tuple[spec.Param, int]]] = [
    (spec.Object("a"), 64),
    (spec.Object("a", "ffi.Module"), 73),
    (spec.Function("a"), 68),
    (spec.Array("a"), 71),
    (spec.Map("a"), 72),
]


@pytest.mark.parametrize(("param", "index"), OBJECTS, ids=repr)
def test_an_object(param: spec.Param, index: int) -> None:
    call, recording = direct([Optional(param)], POINTER)
    given = object_(index)
    assert call(given) is None
    assert recording.unsigned(0) == given.payload
    assert call(NONE) is None
    assert recording.unsigned(0) == 0
    packed = packing([Optional(param)])
    seen = packed(8, given=[given]).read(0, 8)
    assert int.from_bytes(seen, "little") == given.payload
    packed(8, given=[NONE], nulls=[0])


@pytest.mark.parametrize(
    ("param", "given", "content"),
    [(String("s"), str_(b"12345678"), b"12345678"), (Bytes("s"), small(b"12", 12), b"12")],
    ids=["str", "bytes"],
)
def test_a_str(param: spec.Param, given: Given, content: bytes) -> None:
    call, recording = direct([Optional(param)], POINTER, "i64")
    assert call(given) is None
    assert ctypes.string_at(recording.unsigned(0), recording.signed(1)) == content
    assert call(NONE) is None
    assert (recording.unsigned(0), recording.signed(1)) == (0, 0)
    packed = packing([Optional(param)])
    seen = packed(16, given=[given]).read(0, 16)
    assert struct.unpack("<2q", seen)[1] == len(content)
    packed(16, given=[NONE], nulls=[0])


def test_a_tensor() -> None:
    x = Optional(matrix("x", n, m))
    args: list[spec.Param | str] = ["x", "x.data", "x.present", "x.dltensor", "x.ndim", "x.dtype"]
    args += ["x.device_type", "x.device_id"]
    call, recording = direct([x], POINTER, POINTER, "i1", POINTER, *["i32"] * 4, args=args)
    assert call(tensor(DLTensor((2, 3), data=0x40, byte_offset=8))) is None
    assert (recording.unsigned(0), recording.unsigned(1)) == (0x48, 0x48)
    assert recording.read(2, 1) == b"\1"
    seen = struct.unpack("<QiiiBBH", ctypes.string_at(recording.unsigned(3), 24))
    assert seen == (0x40, 1, 0, 2, 2, 32, 1)
    assert [recording.signed(i, 4) for i in range(4, 8)] == [2, 2 | 32 << 8 | 1 << 16, 1, 0]
    recording.clear()
    assert call(NONE) is None
    assert [recording.unsigned(i) for i in (0, 1, 3)] == [0, 0, 0]
    assert recording.read(2, 1) == b"\0"
    assert [recording.signed(i, 4) for i in range(4, 8)] == [0, 0, 0, 0]


def test_a_tensor_of_any_rank() -> None:
    x = Optional(Tensor("x", ..., "float32", device_type="any", strides="F"))
    args: list[spec.Param | str] = ["x", "x.data", "x.ndim"]
    call, recording = direct([x], POINTER, POINTER, "i32", args=args)
    assert call(tensor(DLTensor((2, 3), (1, 2), data=0x40))) is None
    assert struct.unpack("<Q", ctypes.string_at(recording.unsigned(0), 8)) == (0x40,)
    assert (recording.unsigned(1), recording.signed(2, 4)) == (0x40, 2)
    assert call(NONE) is None
    assert (recording.unsigned(0), recording.unsigned(1), recording.signed(2, 4)) == (0, 0, 0)
    packing([x])(48, given=[NONE], nulls=[0])


def test_a_packed_tensor() -> None:
    x = Optional(matrix("x", small_n, None, 3, m * 2, strides="any"))
    params: list[spec.Param] = [x, Optional(m)]
    # ptr 0, i16 8, i64 16, i64 24; four strides
    types = "!llvm.struct<(ptr, i16, i64, i64, i64, i64, i64, i64)>"
    body = DLTensor((5, 7, 3, 4), (-1, 0, 9, 2), data=0x40)
    packed = packing(params, args=["x"])
    seen = packed(64, given=[tensor(body), of_int(2)]).read(0, 64)
    layout = "<Qhxxxxxx6q"
    expected = (0x40, 5, 7, 4, -1, 0, 9, 2)
    assert struct.unpack(layout, seen) == expected
    packed(64, given=[NONE, of_int(2)], nulls=[0])
    recording = Recording("callee", [types])
    provider = DynamicParamPackCallProvider("callee", struct_call=True, args=["x"])
    by_value = wrap_raw(params, provider, recording.text)
    assert by_value(tensor(body), NONE) is None
    fields = ctypes.string_at(recording._buffer, 64)  # pyright: ignore[reportPrivateUsage] # all 64
    assert (fields[:10], fields[16:64]) == (
        struct.pack("<Qh", 0x40, 5),
        struct.pack("<6q", *expected[2:]),
    )
    recording.clear()
    assert by_value(NONE, of_int(2)) is None
    fields = ctypes.string_at(recording._buffer, 64)  # pyright: ignore[reportPrivateUsage] # all 64
    assert (fields[:10], fields[16:64]) == (bytes(10), bytes(48))


def memref(params: list[spec.Param], *ranks: int) -> tuple[RawWrapper, Recording]:
    types = [type_ for rank in ranks for type_ in [POINTER] * 2 + ["i64"] * (1 + 2 * rank)]
    recording = Recording("callee", types)
    return wrap_raw(params, MemRefCallProvider("callee"), recording.text), recording


def words(recording: Recording, start: int, rank: int) -> list[int]:
    return [recording.signed(start + i) for i in range(3 + 2 * rank)]


def test_a_memref() -> None:
    params: list[spec.Param] = [matrix("y", n), Optional(matrix("x", n, None, 4))]
    call, recording = memref(params, 1, 3)
    y = tensor(DLTensor((5,), data=0x80))
    assert call(y, tensor(DLTensor((5, 3, 4), data=0x40))) is None
    assert words(recording, 5, 3) == [0x40, 0x40, 0, 5, 3, 4, 12, 4, 1]
    assert call(y, NONE) is None
    # A symbol and an int keep their value; what would have been read is 0.
    assert words(recording, 5, 3) == [0, 0, 0, 5, 0, 4, 0, 0, 1]
    assert words(recording, 0, 1) == [0x80, 0x80, 0, 5, 1]


@pytest.mark.parametrize("strides", ["F", "any"])
def test_the_strides_of_a_memref(strides: str) -> None:
    call, recording = memref([Optional(matrix("x", n, m, strides=strides))], 2)
    assert call(tensor(DLTensor((5, 3), (1, 5), data=0x40))) is None
    assert words(recording, 0, 2) == [0x40, 0x40, 0, 5, 3, 1, 5]
    assert call(NONE) is None
    assert words(recording, 0, 2)[:5] == [0] * 5
    assert words(recording, 0, 2)[5:] == ([1, 0] if strides == "F" else [0, 0])


def test_a_shape() -> None:
    params: list[spec.Param] = [Optional(Shape("s", [n, 3, n * 2, small_n])), Optional(n)]
    call, recording = direct(params, "i64", "i64", "i16", "i64")
    assert call(shape(4, 3, 8, -0), NONE) is None
    assert [recording.signed(0), recording.signed(1), recording.signed(3)] == [4, 8, 4]
    assert call(shape(4, 3, 8, 9), of_int(4)) is None
    assert recording.signed(2, 2) == 9
    assert call(NONE, NONE) is None
    assert [recording.signed(i, 2 if i == 2 else 8) for i in range(4)] == [0] * 4
    # The symbol is bound by the other one; an expression is nobody's but the Shape's.
    assert call(NONE, of_int(2**62)) is None
    assert [recording.signed(i, 2 if i == 2 else 8) for i in range(4)] == [2**62, 0, 0, 2**62]
    callees = packing(params)(24, 8, given=[NONE, of_int(2**62)], nulls=[0])
    assert callees.read(1, 8) == struct.pack("<q", 2**62)


def test_a_tuple() -> None:
    inner = Optional(Struct("c", [Var("a", "int8"), String("s")]))
    params: list[spec.Param] = [Optional(TupleParam("t", [matrix("x", n), inner]))]
    args: list[spec.Param | str] = ["t", "t.present", "t[1].present"]
    types = [POINTER, "i8", POINTER, "i64", "i1", "i1"]
    call, recording = direct(params, *types, args=args)
    x = tensor(DLTensor((3,), data=0x40))
    sizes = (8, 1, 8, 8, 1, 1)
    for given, expected in (
        (array(x, array(of_int(7), str_(b"12345678"))), (0x40, 7, None, 8, 1, 1)),
        (array(x, NONE), (0x40, 0, 0, 0, 1, 0)),
        (NONE, (0, 0, 0, 0, 0, 0)),
    ):
        recording.clear()
        assert call(given) is None
        got = [recording.unsigned(i, size) for i, size in enumerate(sizes)]
        assert all(right in (None, seen) for seen, right in zip(got, expected, strict=True))
    packed = packing(params)
    for given, nulls in ((array(x, NONE), [1, 2]), (NONE, [0, 1, 2])):
        packed(16, 1, 16, given=[given], nulls=nulls)


def test_a_symbol_has_the_value_that_it_has_elsewhere() -> None:
    """An Optional symbol that is absent is not 0 where something else binds it."""
    params: list[spec.Param] = [Optional(n), matrix("x", n)]
    call, recording = direct(params, "i64", "i1", args=["n", "n.present"])
    assert call(NONE, tensor(DLTensor((5,)))) is None
    assert (recording.signed(0), recording.read(1, 1)) == (5, b"\0")
    assert call(of_int(5), tensor(DLTensor((5,)))) is None
    assert (recording.signed(0), recording.read(1, 1)) == (5, b"\1")
    assert call(of_int(4), tensor(DLTensor((5,)))) is not None


def test_the_environments_stream() -> None:
    gpu = Optional(Tensor("x", [], "float32", device_type="cuda"))
    other = Tensor("y", ..., "float32", device_type="any")
    call, recording = direct([spec.EnvStream("s"), gpu, other], POINTER, args=["s"])
    first, second = (tensor(DLTensor((), device_type=2, device_id=i)) for i in (3, 4))
    host = tensor(DLTensor(()))
    with current_stream(0x30, 3), current_stream(0x40, 4), current_stream(0x10, 0, "cpu"):
        for given, stream in (
            ((first, first), 0x30),
            ((NONE, second), 0x40),
            ((first, host), 0x30),
            ((NONE, host), 0),
        ):
            assert call(*given) is None
            assert recording.unsigned(0) == stream


@pytest.mark.parametrize("optional", [False, True])
def test_the_environments_stream_of_a_list(optional: bool) -> None:
    """A signature may have no other tensor on a device."""
    gpus = spec.TensorList(Tensor("xs", [], "float32", device_type="cuda"))
    xs = Optional(gpus) if optional else gpus
    call, recording = direct([spec.EnvStream("s"), xs], POINTER, args=["s"])
    first = tensor(DLTensor((), device_type=2, device_id=3))
    with current_stream(0x30, 3):
        for given, stream in (
            (array(first, first), 0x30),
            (array(), 0),
            *([(NONE, 0)] if optional else []),
        ):
            assert call(given) is None
            assert recording.unsigned(0) == stream


def test_what_a_provider_of_ones_own_is_told() -> None:
    """Also from within a branch of its own."""
    x = matrix("x", n, None, strides="any")
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
    assert [recording.signed(i) for i in range(9)] == [1, 1, 1, 2, 3, -7, 9, 3, -3]
    assert call(tensor(DLTensor((2, 3))), NONE, NONE) is None
    assert [recording.signed(i) for i in range(9)] == [1, 0, 0, 2, 3, 3, 1, 0, 0]
    assert call.with_arguments(Arguments((NONE, NONE))) is not None
