"""DynamicParamPackCallProvider: what every pointer points to, byte by byte."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, Final

import pytest

from ffi_builder import spec
from ffi_builder.ir import Value as IrValue
from ffi_builder.providers import CallContext, DynamicParamPackCallProvider
from ffi_builder.spec import Tensor, Var, dims
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
from tests.providers.arriving import COUNTED, PACK, packed, recorded
from tests.providers.values import BYTES, CASES, IDS
from tests.support.recording import c_callees
from tests.support.wrapping import wrap, wrap_raw

n, m = dims("n m")
X: Final = Tensor("x", [n], "float32", device_type="cpu")
HALF: Final = Tensor("w", [n, m], "float4_e2m1fn", device_type="cpu", strides=[None, 1])


@pytest.mark.parametrize(("dtype", "given", "expected"), CASES, ids=IDS)
def test_every_dtype(dtype: str, given: Value, expected: bytes) -> None:
    callees = c_callees()
    callees.expect(BYTES[dtype])
    assert wrap_raw([Var("a", dtype)], PACK)(given) is None
    assert callees.read(0, BYTES[dtype]) == expected


class WithDevice(DynamicParamPackCallProvider):
    """A kernel whose tensors are {device_id, data, rank}."""

    def tensor_members(self, context: CallContext, tensor: Tensor) -> list[IrValue]:
        return [context.device_id(tensor), context.data(tensor), context.builder.i8(tensor.ndim)]


def row(sizes: tuple[int, ...], strides: tuple[int, ...] | None = None, **more: Any) -> Value:
    more.setdefault("data", 0x100)
    return tensor(DLTensor(sizes, strides, **more))


SEVERAL: Final = ", ".join(
    f"x{i}: Tensor([n, m, None], float32, strides=[s{i}, t{i}, u{i}])" for i in range(3)
)
NARROW: Final = """x: Tensor([a, b, c, n, a], float32, strides=[c, b, a, None, 1])
    where a: uint8, b: int32, c: uint16"""
CONSTANTS: Final = (
    "one: Literal[1], t: Tuple(s: Stream, none: None, u: Tuple(p: DataPointer)), flag: bool"
)
ORDERED: Final = DynamicParamPackCallProvider(
    "ffib_test_pack_n", include_num_args=True, args=[n + 1, X.data, X, n, 9, X]
)
ARRIVES: Final[dict[str, tuple[Sequence[spec.Param] | str, Any, Sequence[Value], str, list[Any]]]] = {
    # parameters, provider, a call, layouts of what the pointers point to, and what is there
    "a row-major tensor has no strides": ("x: Tensor([n, 4, None], float32)", PACK, [row((2, 4, 5), byte_offset=8)], "3q", [(0x108, 2, 5)]),
    # data; n, n, the None dimension; the None stride, n, n * 2
    "ints are left out and repeats kept": ("x: Tensor([n, n, 2, None], float32, strides=[None, n, n * 2, 1])", PACK, [row((3, 3, 2, 9), (77, 3, 6, 1))], "7q", [(0x100, 3, 3, 9, 77, 3, 6)]),
    "several tensors, some without strides": (
        *(SEVERAL, PACK, [row((2, 4, 5)), row((2, 4, 6), (100, -7, 3)), row((2, 4, 7))], "7q 7q 7q"),
        [(0x100, 2, 4, 5, 20, 5, 1), (0x100, 2, 4, 6, 100, -7, 3), (0x100, 2, 4, 7, 28, 7, 1)],
    ),
    # ptr 0, u8 8, i32 12, u16 16, i64 24, u8 32, u16 34, i32 36, u8 40, i64 48
    "symbols of narrow types, at their alignment": (
        *(NARROW, PACK, [row((200, 3, 60000, 5, 200), (60000, 3, 200, -4, 1))], "QBxxxiHxxxxxxqBxHiBxxxxxxxq"),
        [(0x100, 200, 3, 60000, 5, 200, 60000, 3, 200, -4)],
    ),
    "a stride that no element needs": ("x: Tensor([1, 4], float32, strides=[s, 1])", PACK, [row((1, 4), (12345, 1))], "2q", [(0x100, 12345)]),
    "shapes, and those of ints alone": ("none: Shape([2, 3]), s: Shape([k, 8, n]), empty: Shape([]) where k: int32", COUNTED, [shape(2, 3), shape(5, 8, 6), shape()], "ixxxxq", [(5, 6)]),
    "streams, pointers, tuples and constants": (
        *(CONSTANTS, COUNTED, [of_int(1), array(of_pointer(0x70), Plain(0), array(of_int(0x80))), of_bool(True)]),
        *("Q Q B", [(0x70,), (0x80,), (1,)]),
    ),
    "no parameters": ([], COUNTED, [], "", []),
    "args choose, order and repeat": ([X], ORDERED, [row((3,))], "q q 2q q q 2q", [(4,), (0x100,), (0x100, 3), (3,), (9,), (0x100, 3)]),
    "a packed tensor, as the kernel sees it": (
        *([spec.create_map_tensor_dtype_f4x2_to_f4_spec(HALF)], PACK),
        *([row((3, 8), (20, 1), dtype=(17, 4, 2))], "4q", [(0x100, 3, 16, 40)]),
    ),
    "another struct of a subclass": ("x: Tensor([n, 4], float32), n: int64", WithDevice("ffib_test_pack"), [row((3, 4), device_id=6), of_int(3)], "i4xQB q", [(6, 0x100, 2), (3,)]),
    "any strides, and column-major ones": (
        *("x: Tensor([n, m], float32, strides=F), y: Tensor([n, m], float32, strides=any)", PACK),
        *([row((2, 3), (1, 2)), row((2, 3), (0, -5))], "3q 5q", [(0x100, 2, 3), (0x100, 2, 3, 0, -5)]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ARRIVES)
def test_what_arrives(case: str) -> None:
    params, provider, given, layouts, expected = ARRIVES[case]
    assert packed(params, provider)(layouts, *given) == expected


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
    params = """x: Tensor([k, n], float32, strides=[n, 1]), a: int8, s: Shape([k, 3, n]), h: float16
        where k: int32"""
    struct_x, struct_s = "!llvm.struct<(ptr, i32, i64, i64)>", "!llvm.struct<(i32, i64)>"
    provider = DynamicParamPackCallProvider("callee", include_num_args=True, struct_call=True)
    call, recording = recorded(params, [struct_x, "i8", struct_s, "f16", "i32"], provider)
    x = row((2, 6), (6, 1), byte_offset=0x10)
    assert call(x, of_int(-3), shape(2, 3, 6), of_int(1)) is None
    # Its padding, between the i32 and the i64, may be anything.
    assert struct.unpack("<Qi4x2q", recording.read(0, 32)) == (0x110, 2, 6, 6)
    assert recording.signed(1, 1) == -3
    assert struct.unpack("<i4xq", recording.read(2, 16)) == (2, 6)
    assert recording.read(3, 2) == b"\x00\x3c"
    assert recording.signed(4, 4) == 4
