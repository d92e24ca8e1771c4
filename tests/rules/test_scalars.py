"""*Scalars and constants* of docs/checks.md."""

from __future__ import annotations

import math

import pytest

from ffi_builder.abi import TypeIndex
from ffi_builder.spec import (
    ConstBool,
    ConstFloat,
    ConstInt,
    ConstNone,
    DataPointer,
    Device,
    DType,
    Param,
    Stream,
    TupleParam,
    Var,
)
from ffi_builder.spec.numbers import INT_RANGES
from tests.differential.description import (
    NONE,
    BigInt,
    Object,
    Plain,
    Value,
    array,
    of_bool,
    of_float,
    of_int,
    of_pointer,
)
from tests.rules.calls import accepted, fault, values
from tests.support.raw import moved, object_

BIG = of_int(2**63)
VALUES: dict[str, Value] = {
    "None": Plain(TypeIndex.NONE, 99),
    "int": of_int(1),
    "bool": of_bool(True),
    "float": of_float(1.0),
    "opaque pointer": of_pointer(16),
    "int beyond int64": BIG,
    "dtype": Plain(TypeIndex.DATA_TYPE),
    "device": Plain(TypeIndex.DEVICE),
    "str": Plain(TypeIndex.SMALL_STR),
    "moved object": moved(object_(TypeIndex.BIG_INT, 1, 5)),
}


@pytest.mark.parametrize(
    ("param", "takes", "expected"),
    [
        (Var("x", "uint64"), "int, bool, int beyond int64", "int"),
        (Var("x", "bool"), "int, bool", "bool"),
        (Var("x", "float32"), "int, bool, float", "float"),
        (Var("x", "handle"), "opaque pointer, None", "opaque pointer or None"),
        (Stream("x"), "opaque pointer, None, int", "opaque pointer, None or int"),
        (
            DataPointer("x"),
            "opaque pointer, None, int, int beyond int64",
            "opaque pointer, None or int",
        ),
        (DType("x"), "dtype", "dtype"),
        (Device("x"), "device", "device"),
        (ConstNone("x"), "None", "None"),
        (ConstInt("x", 1), "int", "int"),
        (ConstBool("x", True), "bool", "bool"),
        (ConstFloat("x", 1.0), "float, int", "float"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_kinds(param: Param, takes: str, expected: str) -> None:
    for kind, given in VALUES.items():
        if kind in takes.split(", "):
            assert accepted([param], given)
        else:
            assert fault([param], given) == f"TypeError #0 type of x: {expected} | {kind}"


class TestBool:
    x = Var("x", "bool")

    def test_values(self) -> None:
        for given in (of_int(1), of_bool(True)):
            assert values([self.x], given)["x"] is True
        assert values([self.x], of_int(0))["x"] is False

    @pytest.mark.parametrize("given", [of_int(2), of_int(-1), Plain(TypeIndex.BOOL, 256)])
    def test_other_numbers(self, given: Plain) -> None:
        expected = f"ValueError #0 x: True, False, 0 or 1 | {given.payload}"
        assert fault([self.x], given) == expected

    def test_equal(self) -> None:
        params = [self.x, TupleParam("t", [self.x])]
        assert fault(params, of_int(1), array(of_bool(False))) == (
            "ValueError #1 t[0]: True (x = x) | False"
        )


class TestFloat:
    @pytest.mark.parametrize(
        ("dtype", "given", "bound"),
        [
            ("float64", 0.1, 0.1),
            ("float32", 0.1, 0.10000000149011612),
            ("float16", 65519.99, 65504.0),
            ("float16", 65520.0, math.inf),
            ("bfloat16", 1.00390625, 1.0),
            ("float32", -1e39, -math.inf),
        ],
    )
    def test_rounded(self, dtype: str, given: float, bound: float) -> None:
        assert values([Var("x", dtype)], of_float(given)) == {"x": bound}

    def test_int_is_first_a_float64(self) -> None:
        assert values([Var("x", "float64")], of_int(2**53 + 1)) == {"x": 2.0**53}
        # The nearest float64 is a tie of float32, which goes up; the int itself is below it.
        given = 2**63 - 2**38 - 1
        assert values([Var("x", "float32")], of_int(given)) == {"x": 2.0**63}
        assert values([Var("x", "float32")], Plain(TypeIndex.BOOL, 2)) == {"x": 2.0}

    def pair(self, dtype: str) -> list[Param]:
        x = Var("x", dtype)
        return [x, TupleParam("t", [x])]

    def test_compared_after_rounding(self) -> None:
        params = self.pair("float16")
        assert accepted(params, of_float(0.1), array(of_float(0.1000001)))
        assert fault(params, of_float(0.1), array(of_float(0.2))) == (
            "ValueError #1 t[0]: 0.0999755859375 (x = x) | 0.199951171875"
        )

    def test_nan_equals_nan(self) -> None:
        params = self.pair("float32")
        assert accepted(params, of_float(math.nan), array(Plain(TypeIndex.FLOAT, -1)))
        assert fault(params, of_float(math.nan), array(of_float(-math.inf))) == (
            "ValueError #1 t[0]: nan (x = x) | -inf"
        )

    def test_minus_zero_equals_zero(self) -> None:
        assert accepted(self.pair("float64"), of_float(0.0), array(of_float(-0.0)))
        assert fault(self.pair("float64"), of_float(-0.0), array(of_float(1e-5))) == (
            "ValueError #1 t[0]: -0 (x = x) | 1e-05"
        )

    def test_shown_with_as_many_digits_as_needed(self) -> None:
        given = of_float(0.1 + 0.2), array(of_float(0.3))
        assert fault(self.pair("float64"), *given) == (
            "ValueError #1 t[0]: 0.30000000000000004 (x = x) | 0.3"
        )


class TestHandles:
    def test_handle(self) -> None:
        x = Var("x", "handle")
        params = [x, TupleParam("t", [x])]
        assert values([x], of_pointer(2**64 - 1)) == {"x": 2**64 - 1}
        assert values([x], Plain(TypeIndex.NONE, 5)) == {"x": 0}
        assert fault(params, of_pointer(0x7F10), array(NONE)) == (
            "ValueError #1 t[0]: 0x7f10 (x = x) | 0x0"
        )

    def test_stream_takes_any_int(self) -> None:
        assert accepted([Stream("x")], of_int(-1))

    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            (-1, "a non-negative value | -1"),
            (-(2**63) - 1, "a non-negative value | an int beyond 64 bits"),
            (
                2**64,
                "a value that fits uint64 (0 to 18446744073709551615) | an int beyond 64 bits",
            ),
        ],
    )
    def test_data_pointer(self, given: int, expected: str) -> None:
        assert fault([DataPointer("x")], of_int(given)) == f"ValueError #0 x: {expected}"
        assert accepted([DataPointer("x")], of_int(2**64 - 1))


class TestDTypeAndDevice:
    def test_the_bits_of_a_dtype(self) -> None:
        given = Plain(TypeIndex.DATA_TYPE, 0x1234_5678_0002_2002)
        assert accepted([DType("x")], given).singles == {"x": 0x0002_2002}

    def test_type_and_id_of_a_device(self) -> None:
        given = Plain(TypeIndex.DEVICE, 3 << 32 | 99)
        assert accepted([Device("x")], given).singles == {"x": (99, 3)}
        given = Plain(TypeIndex.DEVICE, (2**32 - 1) << 32 | 2)
        assert accepted([Device("x")], given).singles == {"x": (2, -1)}


@pytest.mark.parametrize(
    ("given", "address"),
    [(of_pointer(2**64 - 1), 2**64 - 1), (Plain(TypeIndex.NONE, 5), 0), (of_int(64), 64)],
)
def test_addresses(given: Value, address: int) -> None:
    found = accepted([Stream("s"), DataPointer("p")], given, given)
    assert found.singles == {"s": address, "p": address}


class TestBigInt:
    @pytest.mark.parametrize(
        ("words", "value"),
        [((-1, 0), 2**64 - 1), ((-(2**63), 0), 2**63), ((5, 0, 0), 5), ((7,), 7)],
    )
    def test_words(self, words: tuple[int, ...], value: int) -> None:
        given = Object(TypeIndex.BIG_INT, BigInt(words))
        assert values([Var("x", "uint64")], given) == {"x": value}

    @pytest.mark.parametrize("dtype", ["int8", "int64", "uint64"])
    def test_null_fits_nothing(self, dtype: str) -> None:
        assert fault([Var("x", dtype)], Plain(TypeIndex.BIG_INT)) == (
            f"ValueError #0 x: a value that fits {dtype} ({' to '.join(map(str, INT_RANGES[dtype]))})"
            " | an int beyond 64 bits"
        )

    def test_null_is_not_negative(self) -> None:
        assert fault([DataPointer("x")], Plain(TypeIndex.BIG_INT)) == (
            "ValueError #0 x: a value that fits uint64 (0 to 18446744073709551615)"
            " | an int beyond 64 bits"
        )


class TestConstants:
    def test_int(self) -> None:
        assert fault([ConstInt("x", 3)], of_int(-4)) == "ValueError #0 x: 3 | -4"

    def test_bool(self) -> None:
        assert fault([ConstBool("x", True)], of_bool(False)) == "ValueError #0 x: True | False"
        assert accepted([ConstBool("x", False)], of_bool(False))

    @pytest.mark.parametrize("payload", [2, -1, 256])
    def test_bool_is_compared_as_an_int(self, payload: int) -> None:
        for value in (True, False):
            given = Plain(TypeIndex.BOOL, payload)
            assert fault([ConstBool("x", value)], given) == f"ValueError #0 x: {value} | {payload}"

    def test_float(self) -> None:
        assert fault([ConstFloat("x", 0.5)], of_float(2.5)) == "ValueError #0 x: 0.5 | 2.5"
        assert fault([ConstFloat("x", 0.5)], of_int(3)) == "ValueError #0 x: 0.5 | 3"
        assert accepted([ConstFloat("x", math.nan)], of_float(math.nan))
        assert accepted([ConstFloat("x", 0.0)], of_float(-0.0))
        assert accepted([ConstFloat("x", 2.0**53)], of_int(2**53 + 1))
        assert fault([ConstFloat("x", math.nan)], of_float(0.0)) == "ValueError #0 x: nan | 0"
