"""Python values as the callee gets them: the facts of the ABI that no header says."""

from __future__ import annotations

import ctypes
import gc
import struct
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import NamedTuple

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import abi
from ffi_builder.abi import TypeIndex

SafeCall = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p
)


class Callee:
    """A C function that shows the address of its one argument to ``look`` and returns None."""

    def __init__(self, look: Callable[[int], object]) -> None:
        self.seen: list[object] = []

        def call(_handle: int | None, args: int, _num_args: int, result: int) -> int:
            self.seen.append(look(args))
            ctypes.memset(result, 0, abi.ANY_SIZE)
            return 0

        self._call = SafeCall(call)
        self.address = ctypes.cast(self._call, ctypes.c_void_p).value or 0


def arrival(value: object, look: Callable[[int], object]) -> object:
    """Return what ``look`` reads from the Any of ``value``."""
    callee = Callee(look)
    function = tvm_ffi.Function.__from_extern_c__(callee.address, keep_alive_object=callee)
    function(value)
    return callee.seen[0]


def type_index(args: int) -> int:
    return ctypes.c_int32.from_address(args + abi.ANY_TYPE_INDEX).value


def payload(args: int) -> int:
    return ctypes.c_uint64.from_address(args + abi.ANY_PAYLOAD).value


def read(layout: str, address: int) -> tuple[int, ...]:
    return struct.unpack(layout, ctypes.string_at(address, struct.calcsize(layout)))


@dataclass
class PlainDataclass:
    field: int = 1


class WithStream:
    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, 5


class WithPointer:
    def __tvm_ffi_opaque_ptr__(self) -> int:
        return 7


class WithDevice:
    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 3


class Label(str):
    __slots__ = ()


class Letter(str, Enum):
    ALPHA = "alpha"


class Number(IntEnum):
    ONE = 1


class Pair(NamedTuple):
    first: int
    second: str


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, TypeIndex.NONE),
        (True, TypeIndex.BOOL),
        (1, TypeIndex.INT),
        (-(2**63), TypeIndex.INT),
        (2**63, TypeIndex.BIG_INT),
        (-(2**63) - 1, TypeIndex.BIG_INT),
        (1.5, TypeIndex.FLOAT),
        (np.float16(1), TypeIndex.FLOAT),
        (np.float32(1), TypeIndex.FLOAT),
        (np.float64(1), TypeIndex.FLOAT),
        (np.int8(1), TypeIndex.INT),
        (np.uint64(1), TypeIndex.INT),
        (np.bool_(True), TypeIndex.OPAQUE_PY_OBJECT),
        (1j, TypeIndex.OPAQUE_PY_OBJECT),
        (PlainDataclass(), TypeIndex.OPAQUE_PY_OBJECT),
        ("", TypeIndex.SMALL_STR),
        ("1234567", TypeIndex.SMALL_STR),
        ("12345678", TypeIndex.STR),
        ("ünïcö", TypeIndex.STR),  # 8 bytes
        (tvm_ffi.core.String("12345678"), TypeIndex.STR),
        (Label("12345678"), TypeIndex.STR),
        (b"", TypeIndex.SMALL_BYTES),
        (b"1234567", TypeIndex.SMALL_BYTES),
        (b"12345678", TypeIndex.BYTES),
        (bytearray(b"1234567"), TypeIndex.SMALL_BYTES),
        (bytearray(b"12345678"), TypeIndex.BYTES),
        (Letter.ALPHA, TypeIndex.SMALL_STR),
        (Number.ONE, TypeIndex.INT),
        (np.dtype("float32"), TypeIndex.DATA_TYPE),
        (tvm_ffi.dtype("float32"), TypeIndex.DATA_TYPE),
        (tvm_ffi.device("cpu:0"), TypeIndex.DEVICE),
        (WithDevice(), TypeIndex.DEVICE),
        (np.zeros(3), TypeIndex.TENSOR),
        (tvm_ffi.from_dlpack(np.zeros(3)), TypeIndex.TENSOR),
        ((1, 2), TypeIndex.ARRAY),
        ([1, 2], TypeIndex.ARRAY),
        (tvm_ffi.Array([1]), TypeIndex.ARRAY),
        (tvm_ffi.List([1]), TypeIndex.LIST),
        (tvm_ffi.Shape((1, 2)), TypeIndex.SHAPE),
        (Pair(1, "x"), TypeIndex.ARRAY),
        ([], TypeIndex.ARRAY),
        ({1: 2}, TypeIndex.MAP),
        ({}, TypeIndex.MAP),
        (tvm_ffi.Map({1: 2}), TypeIndex.MAP),
        (tvm_ffi.Dict({1: 2}), TypeIndex.DICT),
        (len, TypeIndex.FUNCTION),
        (lambda: None, TypeIndex.FUNCTION),
        (tvm_ffi.convert(len), TypeIndex.FUNCTION),
        (PlainDataclass, TypeIndex.FUNCTION),
        (np.float32, TypeIndex.FUNCTION),  # a class, and no dtype
        (tvm_ffi.system_lib(), TypeIndex.MODULE),
        (ValueError("wrong"), TypeIndex.ERROR),
        (memoryview(b"12345678"), TypeIndex.OPAQUE_PY_OBJECT),
        ({1, 2}, TypeIndex.OPAQUE_PY_OBJECT),
        (ctypes.c_void_p(5), TypeIndex.OPAQUE_PTR),
        (WithStream(), TypeIndex.OPAQUE_PTR),
        (WithPointer(), TypeIndex.OPAQUE_PTR),
        (tvm_ffi.Array([1])._move(), TypeIndex.OBJECT_RVALUE_REF),  # pyright: ignore[reportPrivateUsage]
        (tvm_ffi.Map({1: 2})._move(), TypeIndex.OBJECT_RVALUE_REF),  # pyright: ignore[reportPrivateUsage]
    ],
    ids=lambda value: value.name if isinstance(value, TypeIndex) else type(value).__name__,
)
def test_type_index(value: object, expected: TypeIndex) -> None:
    assert arrival(value, type_index) == expected


@pytest.mark.parametrize(
    ("value", "seen"), [(-1, 2**64 - 1), (True, 1), (False, 0), (1.5, 0x3FF8 << 48)]
)
def test_payload(value: object, seen: int) -> None:
    assert arrival(value, payload) == seen


def test_torch_dtype() -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    assert arrival(torch.float32, type_index) == TypeIndex.DATA_TYPE
    # tvm-ffi does not know torch.device: it wants a tvm_ffi.Device.
    assert arrival(torch.device("cpu"), type_index) == TypeIndex.OPAQUE_PY_OBJECT


def test_dtypes_and_devices_are_payloads() -> None:
    def low(args: int) -> tuple[int, ...]:
        return read("<BBH", args + abi.ANY_PAYLOAD)

    def device(args: int) -> tuple[int, ...]:
        return read("<2i", args + abi.ANY_PAYLOAD)

    assert arrival(np.dtype("int16"), low) == (0, 16, 1)
    assert arrival(tvm_ffi.dtype("float4_e2m1fnx2"), low) == (17, 4, 2)
    assert arrival(tvm_ffi.device("cuda", 3), device) == (2, 3)
    assert arrival(WithDevice(), device) == (2, 3)


@pytest.mark.parametrize("content", [b"", b"1", b"1234567"])
def test_small_strings_are_held_in_place(content: bytes) -> None:
    def small(args: int) -> bytes:
        (length,) = read("<I", args + abi.ANY_SMALL_LENGTH)
        assert length <= abi.SMALL_CAPACITY
        return ctypes.string_at(args + abi.ANY_PAYLOAD, length)

    assert arrival(content, small) == content
    assert arrival(content.decode(), small) == content
    assert arrival(bytearray(content), small) == content


def test_longer_strings_are_cells() -> None:
    def cell(args: int) -> bytes:
        data, length = read("<2Q", payload(args) + abi.CELL_DATA)
        return ctypes.string_at(data, length)

    assert arrival("ünïcö 12", cell) == "ünïcö 12".encode()
    assert arrival(b"1234\x005678", cell) == b"1234\x005678"
    assert arrival(bytearray(b"12345678"), cell) == b"12345678"


def test_big_int_is_a_count_and_its_words() -> None:
    def words(args: int) -> tuple[int, ...]:
        return read("<Qqq", payload(args) + abi.BIG_INT_COUNT)

    assert arrival(2**64 - 1, words) == (2, -1, 0)
    assert arrival(-(2**63) - 1, words) == (2, 2**63 - 1, -1)


def test_object_header() -> None:
    def header(args: int) -> tuple[int, ...]:
        return read("<QiIQ", payload(args))

    found = arrival(tvm_ffi.Shape((1, 2)), header)
    assert isinstance(found, tuple)
    assert found[1] == TypeIndex.SHAPE
    assert found[3] != 0, "the deleter"


def test_shape_and_array_cells() -> None:
    def shape(args: int) -> tuple[int, ...]:
        data, size = read("<QQ", payload(args) + abi.CELL_DATA)
        return read(f"<{size}q", data)

    def array(args: int) -> list[int]:
        data, size = read("<QQ", payload(args) + abi.CELL_DATA)
        return [payload(data + index * abi.ANY_SIZE) for index in range(size)]

    assert arrival(tvm_ffi.Shape((3, 4)), shape) == (3, 4)
    assert arrival((5, 6, 7), array) == [5, 6, 7]
    assert arrival(tvm_ffi.List([5, 6]), array) == [5, 6]


def dltensor(args: int) -> tuple[int, ...]:
    """ndim, dtype code, bits and lanes, device, and whether shape and strides are there."""
    tensor = payload(args) + abi.OBJECT_SIZE
    data, device_type, device_id, ndim, code, bits, lanes, shape, strides, offset = read(
        "<QiiiBBHQQQ", tensor
    )
    assert offset == 0
    assert data != 0
    return ndim, code, bits, lanes, device_type, device_id, shape != 0, strides != 0


def test_tensor_object_is_a_header_and_a_dltensor() -> None:
    assert arrival(np.zeros((2, 3), np.float32), dltensor) == (2, 2, 32, 1, 1, 0, 1, 1)


def test_a_moved_object_is_a_pointer_to_its_pointer() -> None:
    def moved(args: int) -> int:
        (held,) = read("<Q", payload(args))
        return read("<QiI", held)[1]

    value = tvm_ffi.Array([1])._move()  # pyright: ignore[reportPrivateUsage]
    assert arrival(value, moved) == TypeIndex.ARRAY
    value = tvm_ffi.Map({1: 2})._move()  # pyright: ignore[reportPrivateUsage]
    assert arrival(value, moved) == TypeIndex.MAP


def test_strides_of_empty_numpy_arrays_depend_on_numpy() -> None:
    def strides(args: int) -> tuple[int, ...]:
        (address,) = read("<Q", payload(args) + abi.OBJECT_SIZE + abi.DLTENSOR_STRIDES)
        return read("<2q", address)

    # numpy's own, or, of a numpy that gives none where they are contiguous, tvm-ffi's row-major.
    assert arrival(np.zeros((3, 0)), strides) in ((0, 0), (0, 1))


def test_numpy_arrays_without_dimensions_may_lack_shape_and_strides() -> None:
    found = arrival(np.zeros((), np.float32), dltensor)
    assert isinstance(found, tuple)
    assert found[:-2] == (0, 2, 32, 1, 1, 0)  # then whether they are there: new numpys have neither


def test_a_function_keeps_its_owner_until_it_goes() -> None:
    callee = Callee(type_index)
    alive = weakref.ref(callee)
    function = tvm_ffi.Function.__from_extern_c__(callee.address, keep_alive_object=callee)
    del callee
    gc.collect()
    assert alive() is not None
    del function
    gc.collect()
    assert alive() is None
