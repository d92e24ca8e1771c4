"""*Values* of docs/checks.md: ints, symbols and expressions, where they are no strides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pytest

from ffi_builder import spec
from ffi_builder.spec import Dim, Param, Shape, Var, ceildiv
from ffi_builder.spec.expr import Expr
from tests.differential.description import Value, array, of_int, shape
from tests.rules.calls import accepted, f32, fault, values

Tensor = partial(spec.Tensor, dtype="float32", device_type="cpu")
n, k, m = spec.dims("n k m")


def test_int() -> None:
    params = [Tensor("A", [4])]
    assert accepted(params, f32(4))
    assert fault(params, f32(5)) == "ValueError #0 A.shape[0]: 4 | 5"


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [
        ("int8", -128, 127),
        ("int32", -(2**31), 2**31 - 1),
        ("uint8", 0, 255),
        ("uint16", 0, 65535),
        ("int64", -(2**63), 2**63 - 1),
        ("uint64", 0, 2**64 - 1),
    ],
)
def test_fits(dtype: str, low: int, high: int) -> None:
    x = Var("x", dtype)
    assert values([x], of_int(low)) == {"x": low}
    assert values([x], of_int(high)) == {"x": high}
    for beyond in (low - 1, high + 1):
        shown = beyond if -(2**63) <= beyond < 2**64 else "an int beyond 64 bits"
        expected = f"ValueError #0 x: a value that fits {dtype} ({low} to {high}) | {shown}"
        assert fault([x], of_int(beyond)) == expected


def test_dimensions_and_entries_of_int32() -> None:
    i, j = spec.dims("i j", "int32")
    x, y = Tensor("x", [i, 0]), Tensor("y", [i, j])
    high, beyond = 2**31 - 1, 2**31
    together = spec.TupleParam("t", [x, y])
    cases: list[tuple[list[Param], Callable[[int], Sequence[Value]], str]] = [
        ([x], lambda n: [f32(n, 0)], "#0 x.shape[0]"),
        ([x, y], lambda n: [f32(n, 0), f32(n, 0)], "#0 x.shape[0]"),
        ([x, y], lambda n: [f32(1, 0), f32(1, n, data=0x1000)], "#1 y.shape[1]"),
        ([together], lambda n: [array(f32(n, 0), f32(n, 0))], "#0 t[0].shape[0]"),
        ([spec.Optional(x)], lambda n: [f32(n, 0)], "#0 x.shape[0]"),
        ([Shape("s", [i, j])], lambda n: [shape(0, n)], "#0 s[1]"),
    ]
    for params, call, place in cases:
        accepted(params, *call(high))
        expected = f"a value that fits int32 (-2147483648 to 2147483647) | {beyond}"
        assert fault(params, *call(beyond)) == f"ValueError {place}: {expected}"


def test_order_of_the_checks_of_a_symbol() -> None:
    x = Var("x", "int8", min=-8, max=8, divisibility=4)
    params = [spec.TupleParam("t", [x]), Tensor("A", [x])]
    assert fault([x], of_int(-9)) == "ValueError #0 x: at least -8 (min of x) | -9"
    assert fault([x], of_int(9)) == "ValueError #0 x: at most 8 (max of x) | 9"
    assert fault([x], of_int(5)) == "ValueError #0 x: a multiple of 4 (divisibility of x) | 5"
    assert values([x], of_int(-4)) == {"x": -4}
    assert fault(params, array(of_int(4)), f32(300)) == (
        "ValueError #1 A.shape[0]: a value that fits int8 (-128 to 127) | 300"
    )
    assert fault(params, array(of_int(4)), f32(8)) == "ValueError #1 A.shape[0]: 4 (x = t[0]) | 8"


def test_divisibility_is_mathematical() -> None:
    x = Var("x", "int64", divisibility=16)
    assert values([x], of_int(-16)) == {"x": -16}
    y = Var("y", "uint64", divisibility=3)
    assert values([y], of_int(2**64 - 1)) == {"y": 2**64 - 1}
    assert fault([y], of_int(2**64 - 2)).endswith(f"| {2**64 - 2}")


def test_bounds_of_uint64_are_unsigned() -> None:
    x = Var("x", "uint64", min=2**63, max=2**64 - 2)
    assert values([x], of_int(2**63 + 1)) == {"x": 2**63 + 1}
    assert fault([x], of_int(5)) == f"ValueError #0 x: at least {2**63} (min of x) | 5"
    assert fault([x], of_int(2**64 - 1)).startswith("ValueError #0 x: at most ")


def test_equal_to_the_binding() -> None:
    params = [Tensor("A", [n, k]), Tensor("B", [k, m])]
    assert values(params, f32(2, 3), f32(3, 5)) == {"n": 2, "k": 3, "m": 5}
    assert fault(params, f32(2, 3), f32(4, 5)) == (
        "ValueError #1 B.shape[0]: 3 (k = A.shape[1]) | 4"
    )


def test_a_uint64_symbol_and_a_dimension() -> None:
    x = Var("x", "uint64")
    params: list[Param] = [x, Tensor("A", [x])]
    assert fault(params, of_int(2**63 + 1), f32(1)) == (
        f"ValueError #1 A.shape[0]: {2**63 + 1} (x = x) | 1"
    )


class TestExpressions:
    def test_of_bound_symbols(self) -> None:
        params = [Tensor("A", [n, m]), Tensor("B", [n * 2]), Tensor("C", [m * n + n])]
        assert accepted(params, f32(3, 4), f32(6), f32(15))
        assert fault(params, f32(3, 4), f32(7), f32(15)) == (
            "ValueError #1 B.shape[0]: 6 (n * 2 with n = 3 from A.shape[0]) | 7"
        )
        assert fault(params, f32(3, 4), f32(6), f32(7)) == (
            "ValueError #2 C.shape[0]: "
            "15 (m * n + n with m = 4 from A.shape[1], n = 3 from A.shape[0]) | 7"
        )

    def test_waits_for_its_symbols(self) -> None:
        params = [Tensor("B", [n * 2]), Tensor("C", [n + 1]), Tensor("A", [n])]
        assert values(params, f32(6), f32(4), f32(3)) == {"n": 3}
        assert fault(params, f32(6), f32(9), f32(3)) == (
            "ValueError #1 C.shape[0]: 4 (n + 1 with n = 3 from A.shape[0]) | 9"
        )
        assert fault(params, f32(7), f32(9), f32(3)).startswith("ValueError #0 B.shape[0]: 6 ")
        assert fault(params, f32(7), f32(9), f32(-3)).startswith("ValueError #2 A.shape[0]: ")

    @pytest.mark.parametrize(
        ("expression", "given", "value"),
        [
            (n // 4, 7, 1),
            (n // 4, -7, -2),
            (n % 8, -3, 5),
            (ceildiv(n, 4), 5, 2),
            (ceildiv(n, 4), -5, -1),
            (n - 3, 1, -2),
            (10 - n, 3, 7),
        ],
    )
    def test_rounding(self, expression: Dim, given: int, value: int) -> None:
        wrong = value + 10**6
        params = [n, Tensor("A", [None], strides=[expression])]
        assert accepted(params, of_int(given), f32(2, strides=[value]))
        expected = f": {value} ({expression} with n = {given} from n) | {wrong} (shape"
        assert expected in fault(params, of_int(given), f32(2, strides=[wrong]))

    @pytest.mark.parametrize(
        ("expression", "given"),
        [
            (n * 2, 2**62),
            (n * 2 // 2, 2**62),
            (n + 1, 2**63 - 1),
            (n - 1, -(2**63)),
            (0 - n, -(2**63)),
            (n * n, 2**32),
        ],
    )
    def test_overflow(self, expression: Expr, given: int) -> None:
        params = [n, Tensor("A", [expression])]
        assert fault(params, of_int(given), f32(1)) == (
            f"ValueError #1 A.shape[0]: {expression} within int64, with n = {given} from n | 1"
        )

    def test_overflow_of_uint64(self) -> None:
        x = Var("x", "uint64")
        params: list[Param] = [x, Tensor("A", [x // 2])]
        assert fault(params, of_int(2**63), f32(1)).startswith(
            f"ValueError #1 A.shape[0]: x // 2 within int64, with x = {2**63} from x"
        )
        assert accepted(params, of_int(2**63 - 1), f32(2**62 - 1))


class TestSolving:
    def test_solved_then_compared(self) -> None:
        params = [Tensor("A", [n * 2 + 1]), Tensor("B", [n * 3])]
        assert values(params, f32(7), f32(9)) == {"n": 3}
        assert fault(params, f32(4), f32(9)) == (
            "ValueError #0 A.shape[0]: a value of n * 2 + 1 for an integer n | 4"
        )
        assert fault(params, f32(7), f32(10)) == (
            "ValueError #1 B.shape[0]: 9 (n * 3 with n = 3 from n in A.shape[0]) | 10"
        )

    def test_the_solution_has_the_checks_of_a_symbol(self) -> None:
        x = Var("x", "uint8", min=1, max=4, divisibility=2)
        params = [Tensor("A", [x * 2 + 10])]
        assert values(params, f32(14)) == {"x": 2}
        for given, expected in [
            (8, "a value that fits uint8 (0 to 255) | -1"),
            (10, "at least 1 (min of x) | 0"),
            (22, "at most 4 (max of x) | 6"),
            (16, "a multiple of 2 (divisibility of x) | 3"),
        ]:
            assert fault(params, f32(given)) == f"ValueError #0 x in A.shape[0]: {expected}"

    def test_a_symbol_that_stands_alone_later_waits(self) -> None:
        params = [Tensor("A", [n * 2]), n]
        assert fault(params, f32(7), of_int(3)).startswith("ValueError #0 A.shape[0]: 6 (n * 2 ")

    @pytest.mark.parametrize("scale", [1, 2])
    def test_the_difference_fits_int64(self, scale: int) -> None:
        expression = n * scale + (-(2**63) + 2)
        params = [Tensor("A", [expression])]
        largest = 2 - scale  # so that the difference is the largest int64 that is a multiple
        assert values(params, f32(largest)) == {"n": (2**63 - scale) // scale}
        for beyond in (largest + scale, 2**62, 2**63 - 2):
            assert fault(params, f32(beyond)) == (
                f"ValueError #0 A.shape[0]: a value of {expression} for an integer n | {beyond}"
            )

    def test_parts_are_not_computed(self) -> None:
        params = [Tensor("A", [n * 2**62 - n * (2**62 - 1) - 5])]
        assert values(params, f32(2**62)) == {"n": 2**62 + 5}

    BEYOND = n * 2 + 2**62 + 2**62

    def test_constants_beyond_int64_wait(self) -> None:
        params = [Shape("s", [self.BEYOND, n + 1])]
        assert values(params, shape(2**63 - 2, 0)) == {"n": -1}
        assert fault(params, shape(5, 0)) == (
            f"ValueError #0 s[0]: {2**63 - 2} ({self.BEYOND} with n = -1 from n in s[1]) | 5"
        )
        assert fault(params, shape(5, 1)) == (
            f"ValueError #0 s[0]: {self.BEYOND} within int64, with n = 0 from n in s[1] | 5"
        )

    def test_so_do_factors_beyond_int64(self) -> None:
        params = [Shape("s", [n * 2**62 * 2, n])]
        assert values(params, shape(0, 0)) == {"n": 0}
        assert fault(params, shape(1, 0)).startswith(
            "ValueError #0 s[0]: 0 (n * 4611686018427387904 * 2 "
        )

    def test_constants_that_come_to_fit(self) -> None:
        params = [Shape("s", [n * 2 + 2**62 + 2**62 - 2**62])]
        assert values(params, shape(2**62 + 6)) == {"n": 3}
        expression = n * 2 - 2**62 - 2**62  # the least int64
        params = [Shape("s", [expression])]
        assert fault(params, shape(0)) == (
            f"ValueError #0 s[0]: a value of {expression} for an integer n | 0"
        )

    @pytest.mark.parametrize("expression", [(n - n + 2) * n, n - n + 3, n * 2 + k - k])
    def test_what_is_not_linear_waits(self, expression: Expr) -> None:
        params = [Shape("s", [expression, n + 1, k + 1])]
        assert "for an integer" not in fault(params, shape(2**62, 1, 1))

    def test_a_quotient_beyond_int64(self) -> None:
        params = [Tensor("A", [None, None], strides=[0 - n, None])]
        assert values(params, f32(2, 2, strides=[5, 0])) == {"n": -5}
        assert "for an integer n" in fault(params, f32(2, 2, strides=[-(2**63), 0]))

    def test_in_a_shape(self) -> None:
        params = [Shape("s", [n * 2])]
        assert values(params, shape(6)) == {"n": 3}
