"""``"&n"`` in ``args=``: a value that the callee takes by address, and a result written over it."""

from __future__ import annotations

import ctypes
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import spec
from ffi_builder.providers import (
    DirectCallProvider,
    DynamicParamPackCallProvider,
    PackedCallProvider,
    Variant,
    VariantsCallProvider,
)
from tests.support.native import loaded
from tests.support.wrapping import refused, wrapped

SOURCE: Final = """
#include <stdint.h>
#define READ(name, type) double ffib_##name(const type *x) { return x ? (double)*x : -999; }
READ(i8, int8_t) READ(u8, uint8_t) READ(i32, int32_t) READ(u32, uint32_t) READ(i64, int64_t)
READ(u64, uint64_t) READ(f32, float) READ(f64, double) READ(bool, _Bool) READ(ptr, uintptr_t)
void ffib_twice(int64_t *n, _Bool *flag, void **p) { *n *= 2; *flag = !*flag; *p = (char *)*p + 1; }
void ffib_spoil(int64_t *n, int64_t *again, double *seen) { *n = 99; *seen = (double)*again; }
void ffib_pack(void **params) {
  double *seen = params[1];
  *seen += (double)**(int64_t **)params[0];
}
"""
N: Final = spec.Var("n", "int64")


@pytest.fixture(scope="module", autouse=True)
def kernels() -> ctypes.CDLL:
    return loaded(SOURCE)


def reading(kind: str, params: str, entry: str) -> Any:
    """Return a function that returns what the callee finds at the address."""
    return wrapped(f"f({params}) -> r: float64", DirectCallProvider(f"ffib_{kind}", args=[entry]))


@pytest.mark.parametrize(
    ("kind", "dtype", "value"),
    [
        *(("i8", "int8", -128), ("u8", "uint8", 255), ("i32", "int32", -(2**31))),
        *(("u32", "uint32", 2**32 - 1), ("i64", "int64", -(2**53)), ("u64", "uint64", 2**53)),
        *(("f32", "float32", 0.5), ("f64", "float64", -0.1), ("bool", "bool", True)),
    ],
)
def test_a_value_of_each_dtype(kind: str, dtype: str, value: Any) -> None:
    assert reading(kind, f"x: {dtype}", "&x")(value) == value
    assert reading(kind, "", f"&{dtype}({value if dtype != 'bool' else 1})")() == value
    absent = reading(kind, f"x: Optional({dtype})", "&x")  # NULL
    assert [absent(value), absent(None)] == [value, -999]


@pytest.mark.parametrize(
    ("kind", "entry", "expected"),
    [
        *(("i64", "&n", 3), ("i64", "& n", 3), ("i64", "&n * 2 - 1", 5), ("i64", "&-4", -4)),
        *(("i64", "&ceildiv(n, 2)", 2), ("i32", "&int32(n)", 3), ("u8", "&uint8(n * 80)", 240)),
        *(("f64", "&0.5", 0.5), ("f64", "&-1e3", -1000), ("f64", "&float64(3)", 3)),
        *(("f32", "&float32(0.5)", 0.5), ("f64", "&float64(inf)", float("inf"))),
        *(("i32", "&x.ndim", 1), ("bool", "&y.present", 0), ("i64", "&xs.length", 2)),
        *(("i32", "&mode", 7), ("f64", "&p.b", 2.5), ("i64", "&t[0]", 11), ("ptr", "&h", 5)),
        # As which Fortran takes a bool.
        ("i32", "&int32(flag)", 1),
    ],
)
def test_what_has_an_address(kind: str, entry: str, expected: float) -> None:
    found = reading(
        kind,
        "x: Tensor([n], float32), y: Optional(Tensor([n], float32)), "
        "xs: TensorList(Tensor([n], float32)), mode: Choice({'a': 6, 'b': 7}, int32), "
        "p: Struct(a: int32, b: float64), t: Tuple(i: int64, j: int64), h: handle, flag: bool",
        entry,
    )
    x = np.ones(3, "float32")
    given = (x, None, [x, x], "b", (1, 2.5), (11, 12), ctypes.c_void_p(5), True)
    assert found(*given) == expected


def test_a_number_that_is_narrowed_must_fit() -> None:
    found = reading("u8", "x: Tensor([n], float32)", "&uint8(n * 2)")
    assert found(np.ones(127, "float32")) == 254
    words = r"n \* 2 is 256, but uint8 is passed, which holds 0 to 255"
    with pytest.raises(ValueError, match=words):
        found(np.ones(128, "float32"))
    signed = reading("u64", "k: int64", "&uint64(k)")
    assert signed(2**53) == 2**53
    with pytest.raises(ValueError, match="k is -1, but uint64 is passed, which"):
        signed(-1)


def test_the_callee_gets_a_copy() -> None:
    """A callee that writes there changes neither the value nor another copy of it."""
    provider = DirectCallProvider("ffib_spoil", args=["&n", "&n", "seen"])
    spoil = wrapped("f(x: Tensor([n], float32)) -> (seen: float64, s: Shape([n]))", provider)
    for _ in range(2):
        seen, shape = spoil(np.ones(3, "float32"))
        assert (seen, tuple(shape)) == (3.0, (3,))


@pytest.mark.parametrize("start", ["&n -> m", "&n->m", "&n + 0 -> m"])
def test_a_result_that_is_written_over_a_value(start: str) -> None:
    args = [start, "&flag -> unflag", "&p -> next"]
    twice = wrapped(
        "f(n: int64, flag: bool, p: handle) -> (m: int64, unflag: bool, next: handle)",
        DirectCallProvider("ffib_twice", args=[*args]),
    )
    for flag in (True, False):
        m, unflag, after = twice(21, flag, ctypes.c_void_p(6))
        assert (m, unflag, after.value) == (42, not flag, 7)


def test_each_variant_starts_anew() -> None:
    variants = [
        Variant(
            DirectCallProvider("ffib_twice", args=[start, "&flag -> unflag", "&p -> next"]),
            when=condition,
        )
        for start, condition in (("&n -> m", N < 10), ("&100 -> m", None))
    ]
    twice = wrapped(
        "f(n: int64, flag: bool, p: handle) -> (m: int64, unflag: bool, next: handle)",
        VariantsCallProvider(variants),
    )
    assert [twice(n, True, None)[0] for n in (9, 10)] == [18, 200]


def test_an_array_of_pointers() -> None:
    """Of a pointer, the array has the address, as of any parameter; a result's is there itself."""
    provider = DynamicParamPackCallProvider("ffib_pack", args=["&n", "&0.5 -> r"])
    assert wrapped("f(n: int64) -> r: float64", provider)(3) == 3.5


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("&", "expected the address of a value, as in '&n'"),
        ("&n ->", "expected the address of a value, as in '&n'"),
        ("&m", "'m', which names no parameter or symbol of 'f'"),
        ("&x", "but x is not one number or handle"),
        ("&x.data", "but x.data is not one number or handle"),
        ("&s", "but s is not one number or handle"),
        ("&r", "'r', which names no parameter or symbol"),
        ("&int8(300)", "but int8 holds -128 to 127"),
        ("&float32(1e39)", "but float32 does not hold 1e"),
        ("&int32(k)", "but k is float64, and int32 is passed: declare `k: int32`"),
        ("&n -> q", "but no number or handle 'q' is a result; results that are written by address"),
        ("&float64(k) -> r", "but the result 'r' says the dtype: drop float64(…)"),
        ("&o -> r", "but o may be absent"),
    ],
)
def test_what_has_none(entry: str, words: str) -> None:
    params = "x: Tensor([n], float32), s: String, k: float64, o: Optional(float64)"
    said = refused(f"f({params}) -> r: float64", DirectCallProvider("ffib_i64", args=[entry]))
    assert said.startswith("DirectCallProvider: args= has ")
    assert words in said


def test_a_provider_without_addresses() -> None:
    provider = PackedCallProvider(spec.Function("callback"), args=["&n"])
    words = "an address in memory of the host; only providers of C"
    assert words in refused("f(callback: Function, n: int64)", provider)
