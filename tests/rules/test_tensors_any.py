"""Tensors of one of several dtypes, of any rank and on any device."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from ffi_builder import spec
from ffi_builder.abi import TypeIndex
from tests.differential.description import NONE, DLTensor, Plain, Value, array, tensor
from tests.rules.calls import accepted, f32, fault
from tests.support.raw import kept, words

n = spec.Var("n", "int64")


class TestSeveralDtypes:
    params = (spec.Tensor("A", [n], ("float16", "bfloat16", "float4_e2m1fnx2"), device_type="cpu"),)

    @pytest.mark.parametrize("dtype", [(2, 16, 1), (4, 16, 1), (17, 4, 2)])
    def test_any_of_them(self, dtype: tuple[int, int, int]) -> None:
        given = tensor(DLTensor((3,), dtype=dtype))
        assert accepted(self.params, given).tensors["A"].dtype == dtype

    def test_none_of_them(self) -> None:
        expected = "TypeError #0 A.dtype: one of float16, bfloat16, float4_e2m1fnx2 | "
        assert fault(self.params, f32(3)) == f"{expected}float32"
        given = tensor(DLTensor((3,), dtype=(2, 16, 2)))
        assert fault(self.params, given) == f"{expected}float16x2"


class TestAnyRank:
    A = (spec.Tensor("A", ..., "float32", device_type="cpu"),)

    @pytest.mark.parametrize("dims", [(), (0,), (3, 4), (2,) * 9])
    def test_any_number_of_dimensions(self, dims: tuple[int, ...]) -> None:
        found = accepted(self.A, f32(*dims)).tensors["A"]
        assert (found.ndim, found.shape) == (len(dims), dims)

    def test_the_address_of_the_dltensor(self) -> None:
        shapes = words(3, 4)
        content = struct.pack("<QiiiBBHQQQ", 64, 1, 7, 2, 2, 32, 1, shapes, 0, 4)
        address = kept(content)
        found = accepted(self.A, Plain(TypeIndex.DL_TENSOR_PTR, address)).tensors["A"]
        assert (found.address, found.data, found.device_type, found.device_id) == (
            address,
            68,
            1,
            7,
        )
        header = struct.pack("<QiIQ", 1, TypeIndex.TENSOR, 0, 0)
        address = kept(header + content)
        found = accepted(self.A, Plain(TypeIndex.TENSOR, address)).tensors["A"]
        assert found.address == address + 24

    @pytest.mark.parametrize("ndim", [-1, -(2**31)])
    def test_ndim_is_not_negative(self, ndim: int) -> None:
        given = tensor(DLTensor(None, dtype=(9, 9, 9), ndim=ndim))
        assert fault(self.A, given) == f"ValueError #0 A.ndim: a non-negative value | {ndim}"

    def test_shape_pointer(self) -> None:
        given = tensor(DLTensor(None, ndim=1))
        assert fault(self.A, given) == "ValueError #0 A.shape: a non-NULL pointer | NULL"
        assert accepted(self.A, tensor(DLTensor(None)))

    def test_dimensions_are_not_negative(self) -> None:
        expected = "ValueError #0 A.shape[1]: a non-negative value | -2"
        assert fault(self.A, f32(1, -2)) == expected

    def test_strides_product_and_data_as_of_other_tensors(self) -> None:
        assert fault(self.A, f32(3, 4, strides=[8, 1])) == (
            "ValueError #0 A.strides[0]: 4 (row-major contiguous) | 8 (shape=[3, 4], strides=[8, 1])"
        )
        assert fault(self.A, f32(2**32, 2**32)) == (
            "ValueError #0 A.shape: a product of dimensions that fits int64 | "
            "[4294967296, 4294967296]"
        )
        assert fault(self.A, f32(data=0)) == (
            "ValueError #0 A.data: a non-NULL pointer, as A has elements | NULL"
        )


class TestListsOfMoreThan64Entries:
    A = (spec.Tensor("A", ..., "float32", device_type="cpu"),)

    @pytest.mark.parametrize(("ndim", "cut"), [(64, ""), (65, ", ...")])
    def test_cut(self, ndim: int, cut: str) -> None:
        dims = (2,) + (1,) * (ndim - 1)
        shown = f"[{', '.join(['2'] + ['1'] * 63)}{cut}]"
        strides = f"[{', '.join(['7'] * 64)}{cut}]"
        assert fault(self.A, f32(*dims, strides=[7] * ndim)) == (
            f"ValueError #0 A.strides[0]: 1 (row-major contiguous) | 7 (shape={shown}, strides={strides})"
        )

    @pytest.mark.parametrize(("ndim", "cut"), [(64, ""), (65, ", ...")])
    def test_of_the_product(self, ndim: int, cut: str) -> None:
        shown = f"[{', '.join(['2'] * 64)}{cut}]"
        assert fault(self.A, f32(*[2] * ndim)) == (
            f"ValueError #0 A.shape: a product of dimensions that fits int64 | {shown}"
        )


class TestAnyDevice:
    A = spec.Tensor("A", [], "float32", device_type="any")
    B = spec.Tensor("B", [], "float32", device_type="any")
    C = spec.Tensor("C", [], "float32", device_type="cuda")

    def on(self, code: int, device_id: int) -> Value:
        return tensor(DLTensor((), device_type=code, device_id=device_id))

    @pytest.mark.parametrize("code", [1, 2, 99, -1])
    def test_every_device_type(self, code: int) -> None:
        found = accepted([self.A], self.on(code, 5)).tensors["A"]
        assert (found.device_type, found.device_id) == (code, 5)

    def test_same_device_as_the_first_that_came_on_this_type(self) -> None:
        params = [self.A, self.B, self.C]
        assert accepted(params, self.on(1, 1), self.on(10, 2), self.on(2, 3))
        assert accepted(params, self.on(2, 3), self.on(1, 0), self.on(2, 3))
        assert fault(params, self.on(2, 3), self.on(1, 0), self.on(2, 4)) == (
            "ValueError #2 C.device_id: 3 (the device of A) | 4"
        )
        assert fault(params, self.on(1, 0), self.on(2, 3), self.on(2, 4)) == (
            "ValueError #2 C.device_id: 3 (the device of B) | 4"
        )
        assert fault(params, self.on(99, 0), self.on(99, 1), self.on(2, 4)) == (
            "ValueError #1 B.device_id: 0 (the device of A) | 1"
        )

    def test_absent_tensors_do_not_count(self) -> None:
        params = [spec.Optional(self.A), spec.Struct("s", [self.B]), self.C]
        second = array(self.on(2, 3))
        assert accepted(params, NONE, second, self.on(2, 3))
        assert fault(params, NONE, second, self.on(2, 4)) == (
            "ValueError #2 C.device_id: 3 (the device of s.B) | 4"
        )
        assert fault(params, self.on(2, 5), second, self.on(2, 3)) == (
            "ValueError #1 s.B.device_id: 5 (the device of A) | 3"
        )

    def test_a_device_id_that_is_given(self) -> None:
        params = [self.A, replace(self.B, device_id=1)]
        assert accepted(params, self.on(2, 0), self.on(2, 1))
        assert fault(params, self.on(2, 0), self.on(2, 0)) == "ValueError #1 B.device_id: 1 | 0"
