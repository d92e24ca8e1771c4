"""DynamicParamPackCallProvider: what every pointer points to, byte by byte."""

from __future__ import annotations

import struct

import pytest

from ffi_builder import spec
from ffi_builder.ir import Value as IrValue
from ffi_builder.providers import CallContext, DynamicParamPackCallProvider
from ffi_builder.spec import DataPointer, Shape, Stream, Tensor, TupleParam, Var, dims
from tests.differential.description import (
    DLTensor,
    Plain,
    Value,
    array,
    of_bool,
    of_int,
    of_pointer,
    shape,
    tensor,
)
from tests.providers.values import BYTES, CASES, IDS
from tests.support.recording import Recording, c_callees
from tests.support.wrapping import wrap, wrap_raw

n, m = dims("n m")
PACK = DynamicParamPackCallProvider("ffib_test_pack")
COUNTED = DynamicParamPackCallProvider("ffib_test_pack_n", include_num_args=True)


def matrix(
    name: str,
    entries: list[spec.Dim | None],
    strides: list[spec.Dim | None] | None = None,
    *,
    dtype: str = "float32",
) -> Tensor:
    return Tensor(name, entries, dtype, device_type="cpu", strides=strides)


@pytest.mark.parametrize(("dtype", "given", "expected"), CASES, ids=IDS)
def test_every_dtype(dtype: str, given: Value, expected: bytes) -> None:
    callees = c_callees()
    callees.expect(BYTES[dtype])
    assert wrap_raw([Var("a", dtype)], PACK)(given) is None
    assert callees.read(0, BYTES[dtype]) == expected


def test_a_row_major_tensor_has_no_strides_in_its_struct() -> None:
    callees = c_callees()
    callees.expect(24)
    call = wrap_raw([matrix("x", [n, 4, None])], PACK)
    assert call(tensor(DLTensor((2, 4, 5), data=0x100, byte_offset=8))) is None
    assert struct.unpack("<3q", callees.read(0, 24)) == (0x108, 2, 5)


def test_ints_are_left_out_and_repeats_kept() -> None:
    callees = c_callees()
    callees.expect(48)
    x = matrix("x", [n, n, 2, None], [None, n, n * 2, 1])
    call = wrap_raw([x], PACK)
    assert call(tensor(DLTensor((3, 3, 2, 9), (77, 3, 6, 1), data=0x100))) is None
    # data; n, n, the None dimension; the None stride, n, n * 2
    assert struct.unpack("<6q", callees.read(0, 48)) == (0x100, 3, 3, 9, 77, 3)
    callees.expect(56)
    assert call(tensor(DLTensor((3, 3, 2, 9), (77, 3, 6, 1), data=0x100))) is None
    assert struct.unpack("<7q", callees.read(0, 56))[-1] == 6


def test_strides_of_several_tensors_of_which_some_came_with_none() -> None:
    names = [[Var(f"s{i}_{axis}", "int64") for axis in range(3)] for i in range(3)]
    tensors = [matrix(f"x{i}", [n, m, None], list(names[i])) for i in range(3)]
    callees = c_callees()
    callees.expect(56, 56, 56)
    call = wrap_raw(tensors, PACK)
    given = [None, (100, -7, 3), None]
    sizes = [5, 6, 7]
    arguments = [
        tensor(DLTensor((2, 4, size), strides, data=0x100))
        for size, strides in zip(sizes, given, strict=True)
    ]
    assert call(*arguments) is None
    for i, (size, strides) in enumerate(zip(sizes, given, strict=True)):
        expected = strides or (4 * size, size, 1)
        assert struct.unpack("<7q", callees.read(i, 56)) == (0x100, 2, 4, size, *expected)


def test_members_have_their_symbols_types_at_natural_alignment() -> None:
    a, b, c = Var("a", "uint8"), Var("b", "int32"), Var("c", "uint16")
    x = matrix("x", [a, b, c, n, a], [c, b, a, None, 1])
    callees = c_callees()
    callees.expect(48)
    sizes, strides = (200, 3, 60000, 5, 200), (60000, 3, 200, -4, 1)
    assert wrap_raw([x], PACK)(tensor(DLTensor(sizes, strides, data=0x100))) is None
    # ptr 0, u8 8, i32 12, u16 16, i64 24, u8 32, u16 34, i32 36, u8 40, i64 48
    got = struct.unpack_from("<QBxxxiHxxxxxxqBxHiB", callees.read(0, 48))
    assert got == (0x100, 200, 3, 60000, 5, 200, 60000, 3, 200)
    callees.expect(56)
    assert wrap_raw([x], PACK)(tensor(DLTensor(sizes, strides, data=0x100))) is None
    assert struct.unpack_from("<q", callees.read(0, 56), 48) == (-4,)


def test_strides_given_as_symbols_of_a_free_stride() -> None:
    s = Var("s", "int64")
    callees = c_callees()
    callees.expect(16)
    call = wrap_raw([matrix("x", [1, 4], [s, 1])], PACK)
    assert call(tensor(DLTensor((1, 4), (12345, 1), data=0x100))) is None
    assert struct.unpack("<2q", callees.read(0, 16)) == (0x100, 12345)


def test_shapes_and_those_of_ints_alone() -> None:
    k = Var("k", "int32")
    params: list[spec.Param] = [Shape("none", [2, 3]), Shape("s", [k, 8, n]), Shape("empty", [])]
    callees = c_callees()
    callees.expect(16)
    assert wrap_raw(params, COUNTED)(shape(2, 3), shape(5, 8, 6), shape()) is None
    assert callees.count == 1
    assert struct.unpack("<ixxxxq", callees.read(0, 16)) == (5, 6)


def test_streams_pointers_tuples_and_constants() -> None:
    params: list[spec.Param] = [
        spec.ConstInt("one", 1),
        TupleParam("t", [Stream("s"), spec.ConstNone("none"), TupleParam("u", [DataPointer("p")])]),
        Var("flag", "bool"),
    ]
    callees = c_callees()
    callees.expect(8, 8, 1)
    values = (of_int(1), array(of_pointer(0x70), Plain(0), array(of_int(0x80))), of_bool(True))
    assert wrap_raw(params, COUNTED)(*values) is None
    assert callees.count == 3
    assert struct.unpack("<Q", callees.read(0, 8)) == (0x70,)
    assert struct.unpack("<Q", callees.read(1, 8)) == (0x80,)
    assert callees.read(2, 1) == b"\x01"


def test_no_parameters_at_all() -> None:
    callees = c_callees()
    callees.expect()
    assert wrap([], COUNTED)() is None
    assert (callees.calls, callees.count) == (1, 0)


def test_args_choose_order_and_repeat() -> None:
    x = matrix("x", [n])
    provider = DynamicParamPackCallProvider(
        "ffib_test_pack_n", include_num_args=True, args=[n + 1, x.data, x, n, 9, x]
    )
    callees = c_callees()
    callees.expect(8, 8, 16, 8, 8, 16)
    assert wrap_raw([x], provider)(tensor(DLTensor((3,), data=0x40))) is None
    assert callees.count == 6
    got = [int.from_bytes(callees.read(i, 8), "little") for i in (0, 1, 3, 4)]
    assert got == [4, 0x40, 3, 9]
    assert callees.read(2, 16) == callees.read(5, 16) == struct.pack("<2q", 0x40, 3)


@pytest.mark.parametrize("counted", [False, True])
def test_a_status_is_an_error(counted: bool) -> None:
    name = "ffib_test_pack_n_status" if counted else "ffib_test_pack_status"
    parameters = "!llvm.ptr, i32" if counted else "!llvm.ptr"
    provider = DynamicParamPackCallProvider(name, counted)
    declaration = f"llvm.func @{name}({parameters}) -> i32"
    call = wrap([Var("a", "int32")], provider, declaration)
    callees = c_callees()
    callees.expect(4)
    call(5)
    assert callees.read(0, 4) == b"\x05\x00\x00\x00"
    assert callees.count == (1 if counted else -1)
    for status in (1, -3, 2**31 - 1):
        callees.expect(4, status=status)
        with pytest.raises(RuntimeError) as raised:
            call(5)
        assert str(raised.value) == (
            f"{name} failed with status {status} when calling: `f(a: int32)`"
        )


def test_struct_call_passes_first_class_aggregates() -> None:
    k = Var("k", "int32")
    params: list[spec.Param] = [
        matrix("x", [k, n], [n, 1]),
        Var("a", "int8"),
        Shape("s", [k, 3, n]),
        Var("h", "float16"),
    ]
    struct_x, struct_s = "!llvm.struct<(ptr, i32, i64, i64)>", "!llvm.struct<(i32, i64)>"
    recording = Recording("callee", [struct_x, "i8", struct_s, "f16", "i32"])
    provider = DynamicParamPackCallProvider("callee", include_num_args=True, struct_call=True)
    call = wrap_raw(params, provider, recording.text)
    x = tensor(DLTensor((2, 6), (6, 1), data=0x100, byte_offset=0x10))
    assert call(x, of_int(-3), shape(2, 3, 6), of_int(1)) is None
    # Its padding, between the i32 and the i64, may be anything.
    assert struct.unpack("<Qi4x2q", recording.read(0, 32)) == (0x110, 2, 6, 6)
    assert recording.signed(1, 1) == -3
    assert struct.unpack("<i4xq", recording.read(2, 16)) == (2, 6)
    assert recording.read(3, 2) == b"\x00\x3c"
    assert recording.signed(4, 4) == 4


def test_a_packed_tensor_gives_what_the_kernel_sees() -> None:
    half = Tensor("w", [n, m], "float4_e2m1fn", device_type="cpu", strides=[None, 1])
    packed = spec.create_map_tensor_dtype_f4x2_to_f4_spec(half)
    callees = c_callees()
    callees.expect(32)
    given = DLTensor((3, 8), (20, 1), data=0x100, dtype=(17, 4, 2))
    assert wrap_raw([packed], PACK)(tensor(given)) is None
    assert struct.unpack("<4q", callees.read(0, 32)) == (0x100, 3, 16, 40)


class WithDevice(DynamicParamPackCallProvider):
    """A kernel whose tensors are {device_id, data, rank}."""

    def tensor_members(self, context: CallContext, tensor: Tensor) -> list[IrValue]:
        return [context.device_id(tensor), context.data(tensor), context.builder.i8(tensor.ndim)]


def test_a_subclass_gives_tensors_another_struct() -> None:
    callees = c_callees()
    callees.expect(17, 8)
    call = wrap_raw([matrix("x", [n, 4]), n], WithDevice("ffib_test_pack"))
    assert call(tensor(DLTensor((3, 4), data=0x100, device_id=6)), of_int(3)) is None
    assert struct.unpack("<i4xQB", callees.read(0, 17)) == (6, 0x100, 2)
    assert struct.unpack("<q", callees.read(1, 8)) == (3,)
