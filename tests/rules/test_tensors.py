"""*A tensor* of docs/checks.md, each row accepted and rejected."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from ffi_builder import spec
from ffi_builder.abi import DEVICE_TYPES, UNIFIED_DEVICES, TypeIndex
from ffi_builder.spec import Var
from ffi_builder.spec.dtypes import parse_dtype
from tests.differential.description import (
    DLTensor,
    Moved,
    Object,
    Plain,
    Pointer,
    Value,
    array,
    shape,
    tensor,
)
from tests.rules.calls import accepted, f32, fault, values

Tensor = partial(spec.Tensor, device_type="cpu")
n, k, m = spec.dims("n k m")
RIGHT = DLTensor((3, 4), (4, 1))
A = [Tensor("A", [n, k], "float32")]

NULL = "ValueError #0 A: a non-NULL object | NULL"


def of(**changes: object) -> Value:
    """The right tensor, with something else about it."""
    return tensor(replace(RIGHT, **changes))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "right",
    [tensor(RIGHT), Pointer(RIGHT), Moved(Object(TypeIndex.TENSOR, RIGHT))],
    ids=["object", "pointer", "moved"],
)
def test_kinds_that_are_tensors(right: Value) -> None:
    assert values(A, right) == {"n": 3, "k": 4}


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (Plain(TypeIndex.INT, 5), "int"),
        (Plain(TypeIndex.NONE, 5), "None"),
        (Plain(TypeIndex.OPAQUE_PTR, 5), "opaque pointer"),
        (shape(3, 4), "ffi.Shape"),
        (array(), "list"),
        (Moved(shape(3, 4)), "ffi.Shape"),
        (Moved(Object(64)), "ffi.Object"),
        (Plain(TypeIndex.MAP), "dict"),
        (Plain(63), "type index 63"),
        (Plain(-1), "type index -1"),
    ],
)
def test_nothing_else_is_a_tensor(given: Value, kind: str) -> None:
    assert fault(A, given) == f"TypeError #0 type of A: Tensor | {kind}"


@pytest.mark.parametrize(
    "null",
    [
        Plain(TypeIndex.TENSOR),
        Plain(TypeIndex.DL_TENSOR_PTR),
        Plain(TypeIndex.OBJECT_RVALUE_REF),
        Moved(None),
    ],
)
def test_null(null: Value) -> None:
    assert fault(A, null) == NULL


@pytest.mark.parametrize("ndim", [0, 1, 3, -1, 2**31 - 1])
def test_ndim_before_the_shape_is_read(ndim: int) -> None:
    given = of(ndim=ndim, shape=None, dtype=(9, 9, 9))
    assert fault(A, given) == f"ValueError #0 A.ndim: 2 | {ndim}"


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        ((2, 64, 1), "float64"),
        ((0, 32, 1), "int32"),
        ((2, 32, 2), "float32x2"),
        ((2, 32, 0), "float32x0"),
        ((99, 3, 1), "dtype(code=99, bits=3, lanes=1)"),
        ((17, 4, 2), "float4_e2m1fnx2"),
        ((6, 8, 1), "bool"),
    ],
)
def test_dtype_before_device(dtype: tuple[int, int, int], name: str) -> None:
    given = of(dtype=dtype, device_type=2)
    assert fault(A, given) == f"TypeError #0 A.dtype: float32 | {name}"


class TestDTypeOfAnother:
    params = (
        Tensor("x", [], ["float32", "uint8"]),
        Tensor("y", [], "x.dtype"),
        spec.Optional(Tensor("z", [], "y.dtype")),
    )

    def given(self, *dtypes: tuple[int, int, int]) -> list[Value]:
        return [tensor(DLTensor((), dtype=dtype)) for dtype in dtypes]

    def test_accepted(self) -> None:
        for dtype in ((2, 32, 1), (1, 8, 1)):
            assert accepted(self.params, *self.given(dtype, dtype, dtype))
            assert accepted(self.params, *self.given(dtype, dtype), Plain(0))

    def test_rejected(self) -> None:
        f, u, other = (2, 32, 1), (1, 8, 1), (99, 3, 1)
        found = [fault(self.params, *self.given(*each)) for each in ((u, f, u), (f, f, other))]
        assert found == [
            "TypeError #1 y.dtype: uint8 (dtype of x) | float32",
            "TypeError #2 z.dtype: float32 (dtype of y) | dtype(code=99, bits=3, lanes=1)",
        ]
        before = fault(self.params, *self.given(other, other, f))
        assert before == (
            "TypeError #0 x.dtype: one of float32, uint8 | dtype(code=99, bits=3, lanes=1)"
        )

    def test_of_one_dtype(self) -> None:
        params = [Tensor("x", [], "float32"), Tensor("y", [], "x.dtype")]
        found = fault(params, *self.given((2, 32, 1), (1, 8, 1)))
        assert found == "TypeError #1 y.dtype: float32 | uint8"


@pytest.mark.parametrize(
    ("code", "name"), [(2, "cuda"), (10, "rocm"), (99, "device type 99"), (-1, "device type -1")]
)
def test_device_type_before_the_shape(code: int, name: str) -> None:
    given = of(device_type=code, device_id=5, shape=None, ndim=2)
    assert fault(A, given) == f"ValueError #0 A.device_type: cpu | {name}"


class TestDeviceId:
    d = Var("d", "int32")

    def test_of_one_tensor_alone_is_free(self) -> None:
        assert accepted(A, of(device_id=7)).tensors["A"].device_id == 7

    def test_int(self) -> None:
        params = [Tensor("A", [], "float32", device_id=1)]
        assert accepted(params, f32(device_id=1))
        assert fault(params, f32(device_id=0)) == "ValueError #0 A.device_id: 1 | 0"

    def test_symbol(self) -> None:
        params = [Tensor(name, [], "float32", device_id=self.d) for name in "AB"]
        assert values(params, f32(device_id=-3), f32(device_id=-3)) == {"d": -3}
        expected = "ValueError #1 B.device_id: 1 (d = A.device_id) | 2"
        assert fault(params, f32(device_id=1), f32(device_id=2)) == expected

    def test_same_device_as_the_first_of_the_type(self) -> None:
        params = [
            spec.TupleParam("cfg", [Tensor("x", [], "float32", device_id=self.d)]),
            spec.Tensor("G", [], "float32", device_type="cuda"),
            Tensor("B", [], "float32"),
        ]
        cuda = tensor(DLTensor((), device_type=2, device_id=9))
        first = array(f32(device_id=1))
        assert accepted(params, first, cuda, f32(device_id=1))
        expected = "ValueError #2 B.device_id: 1 (the device of cfg[0]) | 2"
        assert fault(params, first, cuda, f32(device_id=2)) == expected


def test_shape_pointer() -> None:
    given = of(shape=None, ndim=2, data=0)
    assert fault(A, given) == "ValueError #0 A.shape: a non-NULL pointer | NULL"
    assert accepted([Tensor("A", [], "float32")], tensor(DLTensor(None)))
    assert accepted([Tensor("A", [], "float32")], tensor(DLTensor((), ())))


def test_dimensions_are_not_negative() -> None:
    params = [Tensor("A", [None, n], "float32")]
    assert accepted(params, f32(3, 4))
    assert fault(params, f32(-1, -2)) == "ValueError #0 A.shape[0]: a non-negative value | -1"
    assert fault(params, f32(1, -2)) == "ValueError #0 A.shape[1]: a non-negative value | -2"


class TestProduct:
    expected = "ValueError #0 A.shape: a product of dimensions that fits int64 | "

    def test_overflows(self) -> None:
        given = f32(2**32, 2**31, strides=[2**31, 1])
        assert fault(A, given) == self.expected + "[4294967296, 2147483648]"

    def test_of_null_strides(self) -> None:
        assert fault(A, f32(2**32, 2**32)) == self.expected + "[4294967296, 4294967296]"

    def test_largest(self) -> None:
        assert accepted(A, f32(2**63 - 1, 1))

    def test_zero_dimension(self) -> None:
        params = [Tensor("A", [None, None, 0], "float32")]
        assert accepted(params, f32(2**62, 2**62, 0))

    def test_before_byte_offset(self) -> None:
        given = tensor(DLTensor((2**32, 2**32), data=2**64 - 1, byte_offset=1))
        assert fault(A, given).startswith(self.expected)


class TestData:
    def test_byte_offset_wraps(self) -> None:
        given = of(data=0xFFFFFFFFFFFFFF00, byte_offset=0x200)
        expected = (
            "ValueError #0 A.byte_offset: data + byte_offset within the address space | "
            "0xffffffffffffff00 + 0x200"
        )
        assert fault(A, given) == expected
        assert fault(A, of(shape=(0, 4), data=2**64 - 1, byte_offset=1)).startswith(expected[:30])
        assert accepted(A, of(data=2**64 - 5, byte_offset=1)).tensors["A"].data == 2**64 - 4

    def test_null_needs_no_elements(self) -> None:
        expected = "ValueError #0 A.data: a non-NULL pointer, as A has elements | NULL"
        assert fault(A, of(data=0)) == expected
        assert fault(A, of(data=0, byte_offset=64)) == expected
        assert accepted(A, of(data=0, shape=(3, 0)))
        scalar = [spec.TupleParam("t", [Tensor("A", [], "float32")])]
        expected = "ValueError #0 t[0].data: a non-NULL pointer, as t[0] has elements | NULL"
        assert fault(scalar, array(f32(data=0))) == expected

    def test_alignment(self) -> None:
        params = [Tensor("A", [n, k], "float32", data_alignment=16)]
        wanted = "an address aligned to 16 bytes (data_alignment of A)"
        expected = f"ValueError #0 A.data: {wanted} | 0x7f04 (aligned to 4)"
        assert fault(params, of(data=0x7F04)) == expected
        assert fault(params, of(data=0x7F00, byte_offset=4)) == expected
        assert accepted(params, of(data=0x7F04, byte_offset=12))
        assert accepted(params, of(data=0x7F04, shape=(3, 0)))

    @pytest.mark.parametrize(
        ("dtype", "alignment"),
        [
            *(("float64", 8), ("int64", 8), ("float32", 4), ("float16", 2), ("bfloat16", 2)),
            *(("complex64", 4), ("complex128", 8), ("float32x4", 4), ("int16x3", 2)),
            *(("int8", 1), ("bool", 1), ("float8_e4m3fn", 1), ("int4x2", 1), ("uint8x16", 1)),
        ],
    )
    def test_alignment_of_elements(self, dtype: str, alignment: int) -> None:
        found = parse_dtype(dtype)
        code = (found.code, found.bits, found.lanes)

        def at(address: int, *dims: int, offset: int = 0) -> Value:
            made = DLTensor(dims or (3,), None, dtype=code, data=address, byte_offset=offset)
            return tensor(made)

        params = [Tensor("x", [n], dtype)]
        assert accepted(params, at(0x7F00 + alignment))
        if alignment == 1:
            return
        wanted = f"an address aligned to {alignment} bytes, as elements of x are"
        expected = f"ValueError #0 x.data: {wanted} | 0x7f01 (aligned to 1)"
        assert fault(params, at(0x7F01)) == expected
        assert fault(params, at(0x7F00, offset=1)) == expected
        assert accepted(params, at(0x7F01, offset=alignment - 1))
        assert accepted(params, at(0x7F01, 0))
        assert accepted([Tensor("x", [n], dtype, data_alignment=1)], at(0x7F01))
        assert "(data_alignment of x)" in fault(
            [Tensor("x", [n], dtype, data_alignment=16)], at(0x7F01)
        )

    def test_alignment_of_one_of_several_dtypes(self) -> None:
        params = [Tensor("x", [n], ("uint8", "float32", "float64"))]
        for dtype, code in (("uint8", (1, 8, 1)), ("float32", (2, 32, 1)), ("float64", (2, 64, 1))):
            size = parse_dtype(dtype).alignment
            for address in range(0x7F00, 0x7F09):
                given = tensor(DLTensor((3,), None, dtype=code, data=address))
                if address % size == 0:
                    assert accepted(params, given)
                else:
                    assert f"aligned to {size} bytes, as elements of x" in fault(params, given)

    @pytest.mark.parametrize("device", DEVICE_TYPES)
    def test_alignment_on_devices(self, device: str) -> None:
        given = tensor(DLTensor((3,), None, data=0x7F01, device_type=DEVICE_TYPES[device]))
        checked = device in UNIFIED_DEVICES
        for device_type in (device, "any"):
            params = [Tensor("x", [n], "float32", device_type=device_type)]
            if checked:
                assert "aligned to 4 bytes, as elements of x" in fault(params, given)
            else:
                assert accepted(params, given)

    def test_alignment_of_several_tensors(self) -> None:
        params = [
            Tensor(name, [n], dtype)
            for name, dtype in zip("wxyz", ("float32", "int64") * 2, strict=True)
        ]
        codes = ((2, 32, 1), (0, 64, 1)) * 2

        def given(**addresses: int) -> list[Value]:
            return [
                tensor(DLTensor((3,), None, dtype=code, data=addresses.get(name, 0x7F08)))
                for name, code in zip("wxyz", codes, strict=True)
            ]

        assert accepted(params, *given())
        assert accepted(params, *given(w=0x7F04, y=0x7F0C))
        for name, alignment in zip("wxyz", (4, 8) * 2, strict=True):
            found = fault(params, *given(**{name: 0x7F08 + alignment // 2}))
            assert f"{name}.data: an address aligned to {alignment} bytes" in found


class TestPacked:
    x = Tensor("x", [m, k], "float4_e2m1fn", storage_dtype="float4_e2m1fnx2")
    y = Tensor("x", [k, m], "float4_e2m1fn", storage_dtype="float4_e2m1fnx2", strides=[1, n])
    limit = "at most 4611686018427387903 in magnitude, as elements are packed"

    def f4(self, *dims: int, strides: tuple[int, ...] | None = None) -> Value:
        return tensor(DLTensor(dims, strides, dtype=(17, 4, 2)))

    def test_last_dimension_without_strides(self) -> None:
        found = accepted([self.x], self.f4(3, 4, strides=(4, 1)))
        assert found.values == {"m": 3, "k": 8}
        assert found.tensors["x"].shape == (3, 8)
        assert found.tensors["x"].strides == (8, 1)

    def test_contiguity_is_of_what_is_stored(self) -> None:
        expected = "4 (row-major contiguous) | 8 (shape=[3, 4], strides=[8, 1])"
        assert fault([self.x], self.f4(3, 4, strides=(8, 1))) == (
            f"ValueError #0 x.strides[0]: {expected}"
        )

    def test_first_dimension_with_column_major_strides(self) -> None:
        params = [replace(self.x, strides="F")]
        found = accepted(params, self.f4(3, 5, strides=(1, 3)))
        assert found.values == {"m": 6, "k": 5}
        assert found.tensors["x"].shape == (6, 5)
        assert found.tensors["x"].strides == (1, 6)
        assert fault(params, self.f4(3, 5, strides=(1, 6))) == (
            "ValueError #0 x.strides[1]: 3 (column-major contiguous) | 6 (shape=[3, 5], strides=[1, 6])"
        )
        assert fault(params, self.f4(2**62, 3)) == (
            f"ValueError #0 x.shape[0]: {self.limit} | 4611686018427387904"
        )

    def test_the_dimension_with_stride_1(self) -> None:
        assert values([self.y], self.f4(3, 5, strides=(1, 7))) == {"k": 6, "m": 5, "n": 14}

    def test_dtype_is_the_stored_one(self) -> None:
        given = tensor(DLTensor((3, 4), dtype=(17, 4, 1)))
        assert fault([self.x], given) == ("TypeError #0 x.dtype: float4_e2m1fnx2 | float4_e2m1fn")

    def test_too_large_to_multiply(self) -> None:
        given = self.f4(3, 2**62, strides=(1, 1))
        assert fault([self.x], given) == (
            f"ValueError #0 x.shape[1]: {self.limit} | 4611686018427387904"
        )

    @pytest.mark.parametrize("columns", [5, 1], ids=["", "free"])
    def test_too_large_a_stride(self, columns: int) -> None:
        for stride in (2**62, -(2**62)):
            given = self.f4(3, columns, strides=(1, stride))
            assert fault([self.y], given) == f"ValueError #0 x.strides[1]: {self.limit} | {stride}"
        assert values([self.y], self.f4(3, 5, strides=(1, -(2**62) + 1)))["n"] == -(2**63) + 2

    def test_negative_before_too_large(self) -> None:
        given = self.f4(3, -(2**63))
        expected = "ValueError #0 x.shape[1]: a non-negative value | -9223372036854775808"
        assert fault([self.x], given) == expected

    def test_values_are_of_the_product(self) -> None:
        params = [Tensor("x", [3, 8], "int4", storage_dtype="int8")]
        given = tensor(DLTensor((3, 5), dtype=(0, 8, 1)))
        assert fault(params, given) == "ValueError #0 x.shape[1]: 8 | 10"

    def test_storage_of_equal_width_is_not_packed(self) -> None:
        params = [Tensor("x", [n], "float32", storage_dtype="int32")]
        assert values(params, tensor(DLTensor((3,), dtype=(0, 32, 1)))) == {"n": 3}
