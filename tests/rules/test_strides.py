"""*Strides*, and *Free strides and symbols*, of docs/checks.md."""

from __future__ import annotations

from functools import partial
from types import EllipsisType

import pytest

from ffi_builder import spec
from ffi_builder.spec import Dim, Var
from tests.differential.description import of_int
from tests.rules.calls import accepted, f32, fault, values

Tensor = partial(spec.Tensor, dtype="float32", device_type="cpu")
n, k, s, t = spec.dims("n k s t")


class TestRowMajor:
    A = (Tensor("A", [None, None, None]),)

    @pytest.mark.parametrize("strides", [None, [20, 5, 1]])
    def test_contiguous(self, strides: list[int] | None) -> None:
        assert accepted(self.A, f32(3, 4, 5, strides=strides)).tensors["A"].strides == (20, 5, 1)

    def test_not_contiguous(self) -> None:
        params = [Tensor("A", [n, k])]
        expected = "ValueError #0 A.strides[0]: 4 (row-major contiguous) | 8 (shape=[3, 4], strides=[8, 1])"
        assert fault(params, f32(3, 4, strides=[8, 1])) == expected
        assert fault(params, f32(3, 4, strides=[4, 2])).startswith("ValueError #0 A.strides[1]: 1 ")

    def test_free_where_the_dimension_is_1(self) -> None:
        assert accepted(self.A, f32(3, 1, 5, strides=[5, -99, 1]))
        assert accepted(self.A, f32(1, 1, 1, strides=[7, 8, 9]))
        assert fault(self.A, f32(3, 1, 5, strides=[6, -99, 1])).startswith(
            "ValueError #0 A.strides[0]: 5 "
        )

    def test_all_free_where_a_dimension_is_0(self) -> None:
        assert accepted(self.A, f32(3, 4, 0, strides=[0, 0, 0]))
        assert accepted(self.A, f32(2**62, 2**62, 0, strides=[9, 9, 9]))

    def test_products_wrap_as_the_check_of_the_product_is_later(self) -> None:
        given = f32(2, 2**62, 4, strides=[0, 4, 1])
        assert fault(self.A, given).startswith("ValueError #0 A.shape: a product ")
        given = f32(2, 2**62, 2, strides=[0, 2, 1])
        assert "-9223372036854775808 (row-major contiguous) | 0 " in fault(self.A, given)


class TestColumnMajor:
    A = (Tensor("A", [None, None, None], strides="F"),)

    def test_contiguous(self) -> None:
        found = accepted(self.A, f32(3, 4, 5, strides=[1, 3, 12]))
        assert found.tensors["A"].strides == (1, 3, 12)

    def test_not_contiguous(self) -> None:
        params = [Tensor("A", [n, k], strides="F")]
        assert fault(params, f32(3, 4, strides=[4, 1])) == (
            "ValueError #0 A.strides[0]: 1 (column-major contiguous) | 4 (shape=[3, 4], strides=[4, 1])"
        )
        assert fault(params, f32(3, 4, strides=[1, 1])) == (
            "ValueError #0 A.strides[1]: 3 (column-major contiguous) | 1 (shape=[3, 4], strides=[1, 1])"
        )

    def test_null_strides_are_row_major(self) -> None:
        assert fault(self.A, f32(3, 4, 5)) == (
            "ValueError #0 A.strides[0]: 1 (column-major contiguous) | 20 "
            "(shape=[3, 4, 5], strides=NULL)"
        )
        assert accepted(self.A, f32(1, 1, 5))
        assert accepted(self.A, f32(0, 4, 5)).tensors["A"].strides == (20, 5, 1)

    def test_free(self) -> None:
        assert accepted(self.A, f32(3, 1, 5, strides=[1, -99, 3]))
        assert accepted(self.A, f32(3, 0, 5, strides=[9, 9, 9]))
        assert fault(self.A, f32(3, 1, 5, strides=[1, -99, 4])).startswith(
            "ValueError #0 A.strides[2]: 3 (column-major contiguous) | 4 "
        )

    def test_products_wrap(self) -> None:
        given = f32(2, 2**62, 2, strides=[1, 2, 0])
        assert "-9223372036854775808 (column-major contiguous) | 0 " in fault(self.A, given)

    def test_of_any_rank(self) -> None:
        params = [spec.Tensor("A", ..., "float32", device_type="cpu", strides="F")]
        assert accepted(params, f32(3, 4, strides=[1, 3]))
        assert fault(params, f32(3, 4, strides=[1, 4])) == (
            "ValueError #0 A.strides[1]: 3 (column-major contiguous) | 4 (shape=[3, 4], strides=[1, 4])"
        )


class TestAny:
    @pytest.mark.parametrize("dims", [[n, k], ...], ids=["two", "any rank"])
    def test_no_stride_is_looked_at(self, dims: list[Dim] | EllipsisType) -> None:
        params = [spec.Tensor("A", dims, "float32", device_type="cpu", strides="any")]
        found = accepted(params, f32(3, 4, strides=[-7, 2**62]))
        assert found.tensors["A"].strides == (-7, 2**62)
        assert accepted(params, f32(3, 4)).tensors["A"].strides == (4, 1)
        assert fault(params, f32(3, -4, strides=[0, 0])) == (
            "ValueError #0 A.shape[1]: a non-negative value | -4"
        )


class TestGiven:
    def test_int(self) -> None:
        params = [Tensor("A", [n, k], strides=[None, 1])]
        assert accepted(params, f32(3, 4, strides=[-7, 1]))
        assert accepted(params, f32(3, 4))
        assert fault(params, f32(3, 4, strides=[8, 2])) == (
            "ValueError #0 A.strides[1]: 1 | 2 (shape=[3, 4], strides=[8, 2])"
        )
        assert accepted(params, f32(3, 1, strides=[8, 2]))

    def test_null_strides_are_row_major(self) -> None:
        params = [Tensor("A", [n, k], strides=[s, t])]
        assert values(params, f32(3, 4)) == {"n": 3, "k": 4, "s": 4, "t": 1}
        assert fault([Tensor("A", [n, k], strides=[1, 3])], f32(3, 4)) == (
            "ValueError #0 A.strides[0]: 1 | 4 (shape=[3, 4], strides=NULL)"
        )

    def test_null_strides_wrap(self) -> None:
        params = [Tensor("A", [n, k, k], strides=[0, s, 1])]
        assert fault(params, f32(2, 2**32, 2**32)).startswith("ValueError #0 A.shape: a product ")

    def test_symbol(self) -> None:
        params = [Tensor("A", [n, k], strides=[k, None])]
        assert accepted(params, f32(3, 4, strides=[4, 9]))
        assert fault(params, f32(3, 4, strides=[5, 9])) == (
            "ValueError #0 A.strides[0]: 4 (k = A.shape[1]) | 5 (shape=[3, 4], strides=[5, 9])"
        )

    def test_expression(self) -> None:
        params = [Tensor("A", [n, k], strides=[k * 2, 1])]
        assert accepted(params, f32(3, 4, strides=[8, 1]))
        assert fault(params, f32(3, 4, strides=[9, 1])) == (
            "ValueError #0 A.strides[0]: 8 (k * 2 with k = 4 from A.shape[1]) | "
            "9 (shape=[3, 4], strides=[9, 1])"
        )

    def test_overflow_shows_no_layout(self) -> None:
        params = [n, Tensor("A", [None], strides=[n * 2])]
        assert fault(params, of_int(2**62), f32(3, strides=[9])) == (
            f"ValueError #1 A.strides[0]: n * 2 within int64, with n = {2**62} from n | 9"
        )

    def test_a_solved_symbol_shows_the_layout(self) -> None:
        params = [Tensor(name, [None], strides=[s * 2]) for name in "AB"]
        assert fault(params, f32(3, strides=[4]), f32(3, strides=[6])) == (
            "ValueError #1 s in B.strides[0]: 2 (s = s in A.strides[0]) | "
            "3 (shape=[3], strides=[6])"
        )

    def test_bounds_show_no_layout(self) -> None:
        bounded = Var("s", "int32", min=0, max=8, divisibility=4)
        params = [Tensor("A", [n], strides=[bounded])]
        assert fault(params, f32(3, strides=[-4])) == (
            "ValueError #0 A.strides[0]: at least 0 (min of s) | -4"
        )
        assert fault(params, f32(3, strides=[12])) == (
            "ValueError #0 A.strides[0]: at most 8 (max of s) | 12"
        )
        assert fault(params, f32(3, strides=[3])) == (
            "ValueError #0 A.strides[0]: a multiple of 4 (divisibility of s) | 3"
        )

    def test_fits_also_where_free(self) -> None:
        params = [Tensor("A", [n], strides=[Var("s", "uint8", min=5)])]
        expected = "ValueError #0 A.strides[0]: a value that fits uint8 (0 to 255) | -1"
        for dimension in (3, 1, 0):
            assert fault(params, f32(dimension, strides=[-1])) == expected
        assert values(params, f32(1, strides=[2])) == {"n": 1, "s": 2}


class TestFreeStridesAndSymbols:
    AB = (Tensor("A", [None], strides=[s]), Tensor("B", [None], strides=[s]))

    def test_a_single_occurrence_binds(self) -> None:
        assert values([Tensor("A", [None], strides=[s])], f32(1, strides=[77])) == {"s": 77}

    @pytest.mark.parametrize(
        ("first", "second", "bound"),
        [
            (f32(1, strides=[7]), f32(1, strides=[8]), 7),
            (f32(1, strides=[7]), f32(5, strides=[8]), 8),
            (f32(5, strides=[7]), f32(1, strides=[8]), 7),
            (f32(5, strides=[7]), f32(5, strides=[7]), 7),
        ],
    )
    def test_what_is_not_free_binds(self, first: object, second: object, bound: int) -> None:
        assert values(self.AB, first, second) == {"s": bound}  # pyright: ignore[reportArgumentType]

    def test_two_that_are_not_free_are_equal(self) -> None:
        assert fault(self.AB, f32(5, strides=[7]), f32(5, strides=[8])) == (
            "ValueError #1 B.strides[0]: 7 (s = A.strides[0]) | 8 (shape=[5], strides=[8])"
        )

    def test_the_place_is_that_of_the_first_that_is_not_free(self) -> None:
        params = [*self.AB, Tensor("C", [None], strides=[s])]
        given = f32(1, strides=[6]), f32(5, strides=[7]), f32(5, strides=[8])
        assert "7 (s = B.strides[0])" in fault(params, *given)

    def test_elsewhere_binds_for_certain(self) -> None:
        params = [Tensor("A", [None], strides=[s]), s]
        assert values(params, f32(1, strides=[7]), of_int(8)) == {"s": 8}
        assert fault(params, f32(5, strides=[7]), of_int(8)) == (
            "ValueError #1 s: 7 (s = A.strides[0]) | 8"
        )
        assert values([s, params[0]], of_int(8), f32(1, strides=[7])) == {"s": 8}
        assert fault([s, params[0]], of_int(8), f32(2, strides=[7])) == (
            "ValueError #1 A.strides[0]: 8 (s = s) | 7 (shape=[2], strides=[7])"
        )

    def test_a_free_stride_still_fits(self) -> None:
        narrow = Var("s", "int8")
        params = [narrow, Tensor("A", [None], strides=[narrow])]
        assert fault(params, of_int(1), f32(1, strides=[300])) == (
            "ValueError #1 A.strides[0]: a value that fits int8 (-128 to 127) | 300"
        )

    def test_a_provisional_symbol_makes_expressions_wait(self) -> None:
        params = [Tensor("X", [None], strides=[s]), Tensor("Y", [s * 2]), s]
        assert values(params, f32(1, strides=[7]), f32(8), of_int(4)) == {"s": 4}
        assert fault(params, f32(1, strides=[7]), f32(14), of_int(4)) == (
            "ValueError #1 Y.shape[0]: 8 (s * 2 with s = 4 from s) | 14"
        )
        params = [Tensor("X", [s * 2]), *self.AB]
        assert fault(params, f32(8), f32(1, strides=[3]), f32(1, strides=[4])) == (
            "ValueError #0 X.shape[0]: 6 (s * 2 with s = 3 from A.strides[0]) | 8"
        )

    def test_a_free_expression_is_not_looked_at(self) -> None:
        params = [n, Tensor("A", [None], strides=[n * 2])]
        assert accepted(params, of_int(2**62), f32(1, strides=[5]))
        assert accepted(list(reversed(params)), f32(1, strides=[5]), of_int(2**62))
        assert fault(list(reversed(params)), f32(2, strides=[5]), of_int(3)) == (
            "ValueError #0 A.strides[0]: 6 (n * 2 with n = 3 from n) | 5 (shape=[2], strides=[5])"
        )


class TestSolvedInStrides:
    def test_free_without_a_solution(self) -> None:
        params = [Tensor("A", [None], strides=[n * 2])]
        assert values(params, f32(1, strides=[5])) == {"n": 0}
        assert values(params, f32(1, strides=[6])) == {"n": 3}
        assert fault(params, f32(2, strides=[5])) == (
            "ValueError #0 A.strides[0]: a value of n * 2 for an integer n | 5"
        )

    def test_free_still_fits(self) -> None:
        narrow = Var("n", "int8", min=5)
        params = [Tensor("A", [None], strides=[narrow * 2])]
        assert values(params, f32(1, strides=[5])) == {"n": 0}
        assert fault(params, f32(1, strides=[300])) == (
            "ValueError #0 n in A.strides[0]: a value that fits int8 (-128 to 127) | 150"
        )

    def test_replaced_by_what_is_not_free(self) -> None:
        params = [Tensor("A", [None], strides=[n * 2]), Tensor("B", [n * 3])]
        assert values(params, f32(1, strides=[4]), f32(15)) == {"n": 5}
        assert fault(params, f32(2, strides=[4]), f32(15)) == (
            "ValueError #1 n in B.shape[0]: 2 (n = n in A.strides[0]) | 5"
        )
