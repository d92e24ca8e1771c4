"""Strings, choices, dtypes, devices and objects as kernels get them, with every provider."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Final

import pytest

from ffi_builder import abi, spec
from ffi_builder.abi import TypeIndex
from ffi_builder.providers import (
    CallProvider,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
    NestedTensorCallProvider,
)
from ffi_builder.spec import Bytes, Choice, String, Struct, Tensor, TupleParam, Var
from tests.differential.description import DLTensor, Plain, Pointer, array, of_float, tensor
from tests.support.raw import (
    byte_array,
    bytes_,
    char_pointer,
    moved,
    object_,
    register,
    small,
    str_,
)
from tests.support.recording import Recording, c_callees
from tests.support.wrapping import RawWrapper, wrap, wrap_raw

SCALARS: Final[list[Callable[[str], CallProvider]]] = [
    DirectCallProvider,
    MemRefCallProvider,
    lambda callee: DynamicParamPackCallProvider(callee, struct_call=True),
    NestedTensorCallProvider,
]
"""Providers that pass what is no tensor and no str as it is."""
each = pytest.mark.parametrize("make", SCALARS, ids=["direct", "memref", "struct call", "nested"])
as_two = pytest.mark.parametrize(
    "make", [*SCALARS[:2], SCALARS[3]], ids=["direct", "memref", "nested"]
)
ADDED: Final = register("tests.providers.Added")
DERIVED: Final = register("tests.providers.Derived", ADDED, depth=2)
POINTER: Final = "!llvm.ptr"
LONG: Final = "ünïcödé, and long".encode()

STRINGS: Final = {
    "small": (small(b"abc"), b"abc"),
    "of 7 bytes": (small(b"1234567"), b"1234567"),
    "empty": (small(b""), b""),
    "str": (str_(LONG), LONG),
    "empty object": (object_(TypeIndex.STR, 0, 0), b""),
    "char*": (char_pointer(LONG), LONG),
    "empty char*": (char_pointer(b""), b""),
    "moved": (moved(str_(LONG)), LONG),
    "with a NUL": (str_(b"a\0b"), b"a\0b"),
}
BYTES: Final = {
    "small": (small(b"a\0c", TypeIndex.SMALL_BYTES), b"a\0c"),
    "bytes": (bytes_(b"\xff" * 9), b"\xff" * 9),
    "byte array": (byte_array(b"\0\1\2"), b"\0\1\2"),
    "empty byte array": (byte_array(b""), b""),
    "moved": (moved(bytes_(LONG)), LONG),
}


def recorded(
    params: list[spec.Param], make: Callable[[str], CallProvider], *types: str
) -> tuple[RawWrapper, Recording]:
    recording = Recording("callee", types)
    return wrap_raw(params, make("callee"), recording.text), recording


@as_two
@pytest.mark.parametrize("form", STRINGS)
def test_a_str(form: str, make: Callable[[str], CallProvider]) -> None:
    given, content = STRINGS[form]
    call, recording = recorded([String("s")], make, POINTER, "i64")
    assert call(given) is None
    assert ctypes.string_at(recording.unsigned(0), recording.signed(1)) == content


@as_two
@pytest.mark.parametrize("form", BYTES)
def test_bytes(form: str, make: Callable[[str], CallProvider]) -> None:
    given, content = BYTES[form]
    call, recording = recorded([Bytes("b")], make, POINTER, "i64")
    assert call(given) is None
    assert ctypes.string_at(recording.unsigned(0), recording.signed(1)) == content


def test_a_str_is_packed_as_a_byte_array() -> None:
    callees = c_callees()
    callees.expect(abi.BYTE_ARRAY_SIZE, abi.BYTE_ARRAY_SIZE)
    call = wrap_raw([String("s"), Bytes("b")], DynamicParamPackCallProvider("ffib_test_pack"))
    assert call(str_(LONG), small(b"ab", TypeIndex.SMALL_BYTES)) is None
    for index, content in enumerate((LONG, b"ab")):
        data, length = struct.unpack("<2q", callees.read(index, 16))
        assert ctypes.string_at(data, length) == content


def test_a_str_by_value() -> None:
    call, recording = recorded([String("s")], SCALARS[2], "!llvm.struct<(ptr, i64)>")
    assert call(str_(LONG)) is None
    data, length = struct.unpack("<2q", recording.read(0, 16))
    assert ctypes.string_at(data, length) == LONG


CHOICES: Final = [
    ("int8", -128, "i8"),
    ("uint8", 255, "i8"),
    ("int16", -2, "i16"),
    ("uint16", 65535, "i16"),
    ("int32", -(2**31), "i32"),
    ("uint32", 2**32 - 1, "i32"),
    ("int64", -(2**63), "i64"),
    ("uint64", 2**64 - 1, "i64"),
]


@each
@pytest.mark.parametrize(("dtype", "value", "type_"), CHOICES)
def test_a_choice(dtype: str, value: int, type_: str, make: Callable[[str], CallProvider]) -> None:
    choice = Choice("act", {"relu": 1, "gelu": value, "a" * 63: 0}, dtype)
    call, recording = recorded([choice], make, type_)
    size = int(type_[1:]) // 8
    for given, expected in (
        (small(b"relu"), 1),
        (str_(b"gelu"), value),
        (char_pointer(b"gelu"), value),
        (moved(str_(b"a" * 63)), 0),
    ):
        assert call(given) is None
        assert recording.unsigned(0, size) == expected % 2 ** (8 * size)
    callees = c_callees()
    callees.expect(size)
    assert wrap_raw([choice], DynamicParamPackCallProvider("ffib_test_pack"))(str_(b"gelu")) is None
    assert int.from_bytes(callees.read(0, size), "little") == value % 2 ** (8 * size)


def test_narrow_choices_are_widened_as_c_expects() -> None:
    dtypes = {"int8": -2, "uint8": 254, "int16": -300, "uint16": 65000, "int32": -70000}
    params = [Choice(f"c{i}", {"on": v}, dtype) for i, (dtype, v) in enumerate(dtypes.items())]
    callees = c_callees()
    callees.expect()
    wrap(params, DirectCallProvider("ffib_test_wide"))(*["on"] * 5)
    assert struct.unpack("<5i", callees.all(20)) == tuple(dtypes.values())


@each
def test_dtypes_and_devices(make: Callable[[str], CallProvider]) -> None:
    call, recording = recorded([spec.DType("t"), spec.Device("d")], make, "i32", "i64")
    dtype = int.from_bytes(struct.pack("<BBH", 17, 4, 2), "little")
    device = int.from_bytes(struct.pack("<2i", 2, 7), "little")
    # The bytes above the four of a dtype are ignored.
    assert call(Plain(5, dtype | 0xABCD << 48), Plain(6, device)) is None
    assert struct.unpack("<BBH", recording.read(0, 4)) == (17, 4, 2)
    assert struct.unpack("<2i", recording.read(1, 8)) == (2, 7)


OBJECTS: Final[list[spec.Param]] = [
    spec.Object("any"),
    spec.Object("module", "ffi.Module"),
    spec.Object("added", "tests.providers.Added"),
    spec.Function("callback"),
    spec.Array("list"),
    spec.Map("dict"),
]


@each
def test_objects_are_borrowed(make: Callable[[str], CallProvider]) -> None:
    call, recording = recorded(OBJECTS, make, *[POINTER] * 6)
    values = [object_(index) for index in (DERIVED, 73, DERIVED, 68, 71, 72)]
    for given in (values, [moved(value) for value in values]):
        assert call(*given) is None
        assert [recording.unsigned(i) for i in range(6)] == [value.payload for value in values]
    for value in values:  # one strong and one weak reference, as before
        assert ctypes.c_uint64.from_address(value.payload).value == 1 | 1 << 32


@each
def test_any_value_comes_by_the_address_of_its_cell(make: Callable[[str], CallProvider]) -> None:
    params: list[spec.Param] = [
        spec.Any("a"),
        TupleParam("t", [spec.Any("b")]),
        spec.Optional(TupleParam("o", [spec.Any("c")])),
    ]
    call, recording = recorded(params, make, *[POINTER] * 3)
    for value in (
        Plain(0),
        of_float(0.5),
        object_(73),
        moved(object_(73)),
        small(b"abc"),
        Plain(99),
    ):
        for outer in (Plain(0), array(value)):
            assert call(value, array(value), outer) is None
            found = [_cell(recording.unsigned(i)) for i in range(3)]
            expected = value if outer != Plain(0) else Plain(0)
            assert [each[0] for each in found] == [value.type_index] * 2 + [expected.type_index]
            assert found[0] == found[1]


def _cell(address: int) -> tuple[int, int, int]:
    return struct.unpack("<iIQ", ctypes.string_at(address, 16))


def test_what_is_packed_is_the_value() -> None:
    callees = c_callees()
    callees.expect(4, 8, *[8] * 6)
    params = [spec.DType("t"), spec.Device("d"), *OBJECTS]
    provider = DynamicParamPackCallProvider("ffib_test_pack_n", include_num_args=True)
    values = [object_(index) for index in (64, 73, ADDED, 68, 71, 72)]
    device = int.from_bytes(struct.pack("<2i", 10, 1), "little")
    assert wrap_raw(params, provider)(Plain(5, 0x00012002), Plain(6, device), *values) is None
    assert callees.count == 8
    assert struct.unpack("<BBH", callees.read(0, 4)) == (2, 32, 1)
    assert struct.unpack("<2i", callees.read(1, 8)) == (10, 1)
    pointers = [int.from_bytes(callees.read(i, 8), "little") for i in range(2, 8)]
    assert pointers == [value.payload for value in values]


@each
def test_tensors_of_any_rank_are_dltensors(make: Callable[[str], CallProvider]) -> None:
    x = Tensor("x", ..., "float32", device_type="any", strides="any")
    params: list[spec.Param] = [x]
    if make is MemRefCallProvider:
        recording = Recording("callee", [POINTER])
        provider: CallProvider = MemRefCallProvider("callee", args=["x.dltensor"])
        call = wrap_raw(params, provider, recording.text)
    else:
        call, recording = recorded(params, make, POINTER)
    for shape, strides in (((), None), ((2, 3, 4), (7, -1, 0)), ((0,) * 9, None)):
        body = DLTensor(shape, strides, 0x100, device_type=2, device_id=3, byte_offset=8)
        for given in (tensor(body), Pointer(body)):
            assert call(given) is None
            seen = struct.unpack("<QiiiBBHQQQ", ctypes.string_at(recording.unsigned(0), 48))
            assert seen[:7] == (0x100, 2, 3, len(shape), 2, 32, 1)
            assert (
                struct.unpack(f"<{len(shape)}q", ctypes.string_at(seen[7], 8 * len(shape))) == shape
            )
            assert (seen[8] == 0, seen[9]) == (strides is None, 8)


def test_tensors_of_any_rank_are_what_is_pointed_to() -> None:
    x = Tensor("x", ..., ("float32", "int8"), device_type="cpu")
    callees = c_callees()
    callees.expect(abi.DLTENSOR_SIZE)
    call = wrap_raw([x], DynamicParamPackCallProvider("ffib_test_pack"))
    assert call(tensor(DLTensor((2, 3), data=0x40, dtype=(0, 8, 1)))) is None
    seen = struct.unpack("<QiiiBBHQQQ", callees.read(0, 48))
    assert seen[:7] == (0x40, 1, 0, 2, 0, 8, 1)


@each
def test_structs_and_tuples_are_their_elements(make: Callable[[str], CallProvider]) -> None:
    cfg = Struct("cfg", [Var("alpha", "float32"), TupleParam("t", [Choice("c", {"on": 5})])])
    call, recording = recorded([cfg], make, "f32", "i32")
    assert call(array(of_float(0.5), array(small(b"on")))) is None
    assert struct.unpack("<f", recording.read(0, 4)) == (0.5,)
    assert recording.signed(1, 4) == 5


@each
def test_the_environments_stream(make: Callable[[str], CallProvider]) -> None:
    params = [spec.EnvStream("s"), Tensor("x", ..., "float32", device_type="any")]
    provider = make("callee")
    if isinstance(provider, MemRefCallProvider):
        provider = MemRefCallProvider("callee", args=["s", "x.data"])
    recording = Recording("callee", [POINTER] * 2)
    call = wrap_raw(params, provider, recording.text)
    assert call(tensor(DLTensor((3,)))) is None
    assert recording.unsigned(0) == 0


def test_the_environments_stream_is_packed() -> None:
    callees = c_callees()
    callees.expect(8)
    params = [spec.EnvStream("s"), Tensor("x", [3], "float32", device_type="cuda")]
    call = wrap_raw(params, DynamicParamPackCallProvider("ffib_test_pack", args=["s"]))
    assert call(tensor(DLTensor((3,), device_type=2))) is None
    assert callees.read(0, 8) == bytes(8)


def test_a_symbol_that_is_two_parameters_is_packed() -> None:
    n = Var("n", "int32")
    callees = c_callees()
    callees.expect(4)
    provider = DynamicParamPackCallProvider("ffib_test_pack", args=[n])
    assert wrap_raw([n, TupleParam("t", [n])], provider)(Plain(1, 9), array(Plain(1, 9))) is None
    assert callees.read(0, 4) == b"\x09\0\0\0"
