"""Strings, choices, dtypes, devices and objects as kernels get them, with every provider."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any, Final

import pytest

from ffi_builder.abi import TypeIndex
from ffi_builder.providers import (
    CallProvider,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
    NestedTensorCallProvider,
)
from ffi_builder.spec import Choice
from tests.differential.description import (
    DLTensor,
    Plain,
    Pointer,
    Value,
    array,
    of_float,
    tensor,
)
from tests.providers.arriving import COUNTED, packed, recorded
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
from tests.support.recording import c_callees
from tests.support.wrapping import wrap

Make = Callable[[str], CallProvider]
BY_VALUE: Final = DynamicParamPackCallProvider("callee", struct_call=True)
SCALARS: Final[dict[str, Make]] = {
    "direct": DirectCallProvider,
    "memref": MemRefCallProvider,
    "nested": NestedTensorCallProvider,
    "struct call": lambda _: BY_VALUE,
}
"""Providers that pass what is no tensor and no str as it is."""
each = pytest.mark.parametrize("make", SCALARS.values(), ids=[*SCALARS])
as_two = pytest.mark.parametrize("make", [*SCALARS.values()][:3], ids=[*SCALARS][:3])
ADDED: Final = register("tests.providers.Added")
DERIVED: Final = register("tests.providers.Derived", ADDED, depth=2)
LONG: Final = "ünïcödé, and long".encode()
STRINGS: Final[dict[str, tuple[Value, bytes]]] = {
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
BYTES: Final[dict[str, tuple[Value, bytes]]] = {
    "small": (small(b"a\0c", TypeIndex.SMALL_BYTES), b"a\0c"),
    "bytes": (bytes_(b"\xff" * 9), b"\xff" * 9),
    "byte array": (byte_array(b"\0\1\2"), b"\0\1\2"),
    "empty byte array": (byte_array(b""), b""),
    "moved": (moved(bytes_(LONG)), LONG),
}


@as_two
@pytest.mark.parametrize(("kind", "forms"), [("String", STRINGS), ("Bytes", BYTES)])
def test_a_text_of_each_form(kind: str, forms: dict[str, tuple[Value, bytes]], make: Make) -> None:
    call, recording = recorded(f"s: {kind}", "ptr i64", make("callee"))
    for given, content in forms.values():
        assert call(given) is None
        assert ctypes.string_at(*recording.values) == content


def test_a_text_is_packed_as_a_byte_array() -> None:
    given = str_(LONG), small(b"ab", TypeIndex.SMALL_BYTES)
    found = packed("s: String, b: Bytes")("2q 2q", *given)
    assert [ctypes.string_at(*pair) for pair in found] == [LONG, b"ab"]
    call, recording = recorded("s: String", ["!llvm.struct<(ptr, i64)>"], BY_VALUE)
    assert call(str_(LONG)) is None
    assert ctypes.string_at(*struct.unpack("<2q", recording.read(0, 16))) == LONG


CHOICES: Final = {
    "int8": -128,
    "uint8": 255,
    "int16": -2,
    "uint16": 65535,
    "int32": -(2**31),
    "uint32": 2**32 - 1,
    "int64": -(2**63),
    "uint64": 2**64 - 1,
}


@each
@pytest.mark.parametrize(("dtype", "value"), CHOICES.items())
def test_a_choice(dtype: str, value: int, make: Make) -> None:
    choice = Choice("act", {"relu": 1, "gelu": value, "a" * 63: 0}, dtype)
    bits = int(dtype.lstrip("uint"))
    call, recording = recorded([choice], f"i{bits}", make("callee"))
    for given, expected in (
        (small(b"relu"), 1),
        (str_(b"gelu"), value),
        (char_pointer(b"gelu"), value),
        (moved(str_(b"a" * 63)), 0),
    ):
        assert call(given) is None
        assert recording.unsigned(0, bits // 8) == expected % 2**bits
    [(found,)] = packed([choice])(f"{bits // 8}s", str_(b"gelu"))
    assert int.from_bytes(found, "little") == value % 2**bits


def test_narrow_choices_are_widened_as_c_expects() -> None:
    dtypes = {"int8": -2, "uint8": 254, "int16": -300, "uint16": 65000, "int32": -70000}
    params = [Choice(f"c{i}", {"on": v}, dtype) for i, (dtype, v) in enumerate(dtypes.items())]
    callees = c_callees()
    callees.expect()
    wrap(params, DirectCallProvider("ffib_test_wide"))(*["on"] * 5)
    assert struct.unpack("<5i", callees.all(20)) == tuple(dtypes.values())


def dtype(code: int, bits: int, lanes: int) -> int:
    return lanes << 16 | bits << 8 | code


@each
def test_dtypes_and_devices(make: Make) -> None:
    call, recording = recorded("t: DType, d: Device", "i32 i64", make("callee"))
    # The bytes above the four of a dtype are ignored.
    assert call(Plain(5, dtype(17, 4, 2) | 0xABCD << 48), Plain(6, 7 << 32 | 2)) is None
    assert recording.values == [dtype(17, 4, 2), 7 << 32 | 2]


OBJECTS: Final = """any: Object, module: Object('ffi.Module'), added: Object('tests.providers.Added'),
    callback: Function, list: Array, dict: Map"""


@each
def test_objects_are_borrowed(make: Make) -> None:
    call, recording = recorded(OBJECTS, ["ptr"] * 6, make("callee"))
    values = [object_(index) for index in (DERIVED, 73, DERIVED, 68, 71, 72)]
    for given in (values, [moved(value) for value in values]):
        assert call(*given) is None
        assert recording.values == [value.payload for value in values]
    for value in values:  # one strong and one weak reference, as before
        assert ctypes.c_uint64.from_address(value.payload).value == 1 | 1 << 32


@each
def test_any_value_comes_by_the_address_of_its_cell(make: Make) -> None:
    params = "a: Any, t: Tuple(b: Any), o: Optional(Tuple(c: Any))"
    call, recording = recorded(params, "ptr ptr ptr", make("callee"))
    every = [Plain(0), of_float(0.5), object_(73), moved(object_(73)), small(b"abc"), Plain(99)]
    for value in every:
        for outer, third in ((Plain(0), Plain(0)), (array(value), value)):
            assert call(value, array(value), outer) is None
            found: list[Any] = [
                struct.unpack("<iIQ", ctypes.string_at(at, 16)) for at in recording.values
            ]
            types = [cell[0] for cell in found]
            assert types == [each.type_index for each in (value, value, third)]
            assert found[0] == found[1]


def test_what_is_packed_is_the_value() -> None:
    values = [object_(index) for index in (64, 73, ADDED, 68, 71, 72)]
    given = Plain(5, dtype(2, 32, 1)), Plain(6, 1 << 32 | 10), *values
    expected = [(2, 32, 1), (10, 1), *((value.payload,) for value in values)]
    call = packed(f"t: DType, d: Device, {OBJECTS}", COUNTED)
    assert call("BBH 2i Q Q Q Q Q Q", *given) == expected


@each
def test_tensors_of_any_rank_are_dltensors(make: Make) -> None:
    provider = make("callee")
    if isinstance(provider, MemRefCallProvider):
        provider = MemRefCallProvider("callee", args=["x.dltensor"])
    call, recording = recorded(
        "x: Tensor(..., float32, device_type=any, strides=any)", "ptr", provider
    )
    for shape, strides in (((), None), ((2, 3, 4), (7, -1, 0)), ((0,) * 9, None)):
        body = DLTensor(shape, strides, 0x100, device_type=2, device_id=3, byte_offset=8)
        for given in (tensor(body), Pointer(body)):
            assert call(given) is None
            seen = struct.unpack("<QiiiBBHQQQ", ctypes.string_at(recording.unsigned(0), 48))
            assert seen[:7] == (0x100, 2, 3, len(shape), 2, 32, 1)
            sizes = ctypes.string_at(seen[7], 8 * len(shape))
            assert struct.unpack(f"<{len(shape)}q", sizes) == shape
            assert (seen[8] == 0, seen[9]) == (strides is None, 8)


def test_tensors_of_any_rank_are_what_is_pointed_to() -> None:
    call = packed("x: Tensor(..., float32 | int8)")
    [seen] = call("QiiiBBHQQQ", tensor(DLTensor((2, 3), data=0x40, dtype=(0, 8, 1))))
    assert seen[:7] == (0x40, 1, 0, 2, 0, 8, 1)


@each
def test_structs_and_tuples_are_their_elements(make: Make) -> None:
    params = "cfg: Struct(alpha: float32, t: Tuple(c: Choice({'on': 5})))"
    call, recording = recorded(params, "f32 i32", make("callee"))
    assert call(array(of_float(0.5), array(small(b"on")))) is None
    assert recording.values == [0.5, 5]


def test_the_environments_stream_is_packed() -> None:
    params = "s: EnvStream, x: Tensor([3], float32, device_type=cuda)"
    call = packed(params, DynamicParamPackCallProvider("ffib_test_pack", args=["s"]))
    assert call("Q", tensor(DLTensor((3,), device_type=2))) == [(0,)]


def test_a_symbol_that_is_two_parameters_is_packed() -> None:
    call = packed(
        "n: int32, t: Tuple(n: int32)", DynamicParamPackCallProvider("ffib_test_pack", args=["n"])
    )
    assert call("i", Plain(1, 9), array(Plain(1, 9))) == [(9,)]
