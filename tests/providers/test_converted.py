"""``"float32(x)"`` in ``args=``: a value that the callee gets as another dtype."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import spec
from ffi_builder.ir import PlainModule
from ffi_builder.providers import (
    CudaLaunchCallProvider,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    PackedCallProvider,
)
from ffi_builder.testing import FakeCuda
from tests.support.native import loaded
from tests.support.wrapping import new_module, refused, wrapped

SOURCE: Final = r"""
#include <stdint.h>
#define AS(name, type) double ffib_as_##name(type x) { return (double)x; }
#define AT(name, type) double ffib_at_##name(const type *x) { return x ? (double)*x : -999; }
AS(i8, int8_t) AS(u8, uint8_t) AS(i32, int32_t) AS(i64, int64_t) AS(u64, uint64_t)
AS(f32, float) AS(f64, double) AT(i64, int64_t) AT(f32, float) AT(f64, double)
void ffib_conv_pack(void **params) { *(double *)params[1] = *(float *)params[0]; }
float ffib_round(double x) { return (float)x; }
"""
PARAMS: Final = (
    "f(x: Tensor([n], float32), k: int64, a: float64, s: float32, b: bool, u: uint64, t: uint8, "
    "m: Choice({'lo': 7}, int32), text: String, o: Optional(float64), d: DType) -> r: float64"
)
GIVEN: Final = (
    *(np.ones(3, "f4"), -5, 0.1, 0.1, True, 2**53, 200, "lo", "four", None),
    tvm_ffi.dtype("int8"),
)
MODULES: Final = [pytest.param(new_module, id="MLIR"), pytest.param(PlainModule, id="plain")]
BIG: Final = (2**25 + 1, 2**53 + 1)
"""Integers that float32 and float64 do not hold."""


@pytest.fixture(scope="module", autouse=True)
def kernels() -> ctypes.CDLL:
    return loaded(SOURCE)


def rounded(value: float) -> float:
    return float(np.float32(value))


@pytest.mark.parametrize("make", MODULES)
@pytest.mark.parametrize(
    ("kind", "entry", "expected"),
    [
        *(("as_f32", "float32(a)", rounded(0.1)), ("as_f32", "float32( a )", rounded(0.1))),
        *(("as_f64", "float64(s)", rounded(0.1)), ("as_f64", "float64(a)", 0.1)),
        *(("as_f32", "float32(k)", -5.0), ("as_f64", "float64(k * n)", -15.0)),
        *(("as_f64", "float64(t)", 200.0), ("as_f64", "float64(u)", 2.0**53)),
        *(("as_f32", "float32(0.1)", rounded(0.1)), ("as_f64", "float64(3)", 3.0)),
        *(("as_i32", "int32(k)", -5), ("as_i8", "int8(k * 2 - 118)", -128), ("as_u8", "uint8(n)", 3)),
        *(("as_i64", "int64(t)", 200), ("as_u64", "uint64(n)", 3), ("as_i8", "int8(-4)", -4)),
        *(("as_i32", "int32(b)", 1), ("as_i64", "int64(m)", 7), ("as_u8", "uint8(x.ndim)", 1)),
        *(("as_u8", "uint8(text.length)", 4), ("as_i64", "int64(o.present)", 0)),
        *(("as_f32", "float32(o)", 0.0), ("as_f32", "float32(ceildiv(n, 2))", 2.0)),
        *(("at_f32", "&float32(a)", rounded(0.1)), ("at_f32", "&float32(o)", -999.0)),
        *(("at_f64", "&float64(n)", 3.0), ("at_f64", "&float64(s)", rounded(0.1))),
    ],
)  # fmt: skip
def test_a_value_as_another_dtype(
    kind: str, entry: str, expected: float, make: Callable[[], Any]
) -> None:
    provider = DirectCallProvider(f"ffib_{kind}", args=[entry])
    assert wrapped(PARAMS, provider, make=make)(*GIVEN) == expected


@pytest.mark.parametrize("make", MODULES)
@pytest.mark.parametrize(
    "value", [1e300, -1e300, math.inf, math.nan, 3.4028235677973366e38, 1e-46, 16777217.0, -0.0]
)
def test_a_float_is_rounded_as_c_rounds_it(
    value: float, make: Callable[[], Any], kernels: ctypes.CDLL
) -> None:
    """To even, beyond the range to infinity."""
    c_round = kernels.ffib_round
    c_round.restype, c_round.argtypes = ctypes.c_float, [ctypes.c_double]
    as_float = DirectCallProvider("ffib_as_f32", args=["float32(a)"])
    found = wrapped("f(a: float64) -> r: float64", as_float, make=make)(value)
    np.testing.assert_array_equal([found], [c_round(value)])
    assert math.copysign(1, found) == math.copysign(1, value)


@pytest.mark.parametrize("make", MODULES)
def test_an_integer_that_a_float_does_not_hold_is_rounded(make: Callable[[], Any]) -> None:
    for kind, dtype, value in zip(("f32", "f64"), ("float32", "float64"), BIG, strict=True):
        provider = DirectCallProvider(f"ffib_as_{kind}", args=[f"{dtype}(k)"])
        assert wrapped("f(k: int64) -> r: float64", provider, make=make)(value) == value - 1


@pytest.mark.parametrize("make", MODULES)
@pytest.mark.parametrize(
    ("kind", "entry", "fits", "beyond", "words"),
    [
        ("as_i32", "int32(k)", 2**31 - 1, 2**31, "k is 2147483648, but int32 is passed, which"),
        ("as_i32", "int32(k)", -(2**31), -(2**31) - 1, "holds -2147483648 to 2147483647"),
        ("as_u64", "uint64(k)", 0, -1, "k is -1, but uint64 is passed, which holds 0 to"),
        ("as_u8", "uint8(k * 5)", 51, 52, r"k \* 5 is 260, but uint8 is passed, which holds 0 to"),
    ],
)
def test_an_integer_has_to_fit(
    kind: str, entry: str, fits: int, beyond: int, words: str, make: Callable[[], Any]
) -> None:
    provider = DirectCallProvider(f"ffib_{kind}", args=[entry])
    f = wrapped("f(k: int64) -> r: float64", provider, make=make)
    assert f(fits) == (fits * 5 if "*" in entry else fits)
    with pytest.raises(ValueError, match=words):
        f(beyond)


@pytest.mark.parametrize("make", MODULES)
@pytest.mark.parametrize(
    ("kind", "entry", "fits"),
    [("as_i64", "int64(u)", 2**63 - 1), ("as_i32", "int32(u)", 7), ("at_i64", "&int64(u)", 7)],
)
def test_a_uint64_is_no_negative_number(
    kind: str, entry: str, fits: int, make: Callable[[], Any]
) -> None:
    """Its bits are those of one, from 2**63 on."""
    provider = DirectCallProvider(f"ffib_{kind}", args=[entry])
    f = wrapped("f(u: uint64) -> r: float64", provider, make=make)
    assert f(fits) == float(fits)
    dtype = "int32" if "32" in entry else "int64"
    for beyond in (2**63, 2**64 - 1):
        with pytest.raises(ValueError, match=f"u is too large, but {dtype} is passed, which holds"):
            f(beyond)


@pytest.mark.parametrize("make", MODULES)
@pytest.mark.parametrize("value", [2**63 + 2048, 2**64 - 1, 5])
def test_a_uint64_as_a_float(value: int, make: Callable[[], Any]) -> None:
    for kind, dtype in (("f32", np.float32), ("f64", np.float64)):
        provider = DirectCallProvider(f"ffib_as_{kind}", args=[f"{np.dtype(dtype)}(u)"])
        f = wrapped("f(u: uint64) -> r: float64", provider, make=make)
        assert f(value) == float(dtype(value))


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("int32(a)", "but a is float64, and int32 is passed: declare `a: int32`"),
        ("int64(s)", "but s is float32, and int64 is passed: declare `s: int64`"),
        ("int32(0.5)", "but 0.5 is float64, and int32 is passed"),
        ("float32(b)", "but b is bool, and float32 is passed: declare `b: float32`"),
        ("bool(k)", "but k is int64, and bool is passed: declare `k: bool`"),
        ("float16(a)", "but a is float64, and float16 is passed: declare `a: float16`"),
        ("int8(300)", "but int8 holds -128 to 127"),
        ("float32(1e39)", "but float32 does not hold 1e"),
        ("int64(d)", "but d is int32, and int64 is passed"),
        ("int64(x.dtype)", "but x.dtype is int32, and int64 is passed"),
        ("float32(x)", "but x is not one number or handle; write the name of one"),
        ("float32(x.data)", "but x.data is not one number or handle"),
        ("int32(text)", "but text is not one number or handle"),
        ("float32(c)", "'c', which names no parameter or symbol of 'f'"),
        ("float32()", "expected the value of a field"),
        ("float32(int32(k))", "'int32(k)': expected ceildiv, max, min"),
    ],
)
def test_what_is_not_converted(entry: str, words: str) -> None:
    said = refused(PARAMS, DirectCallProvider("ffib_as_i64", args=[entry]))
    assert said.startswith("DirectCallProvider: args= has ")
    assert words in said


def test_the_dtype_is_what_a_callee_has_to_take() -> None:
    """Numbers without a dtype take that of the callee, these do not."""
    provider = DirectCallProvider("k", args=["float32(0.5)", "int32(4)"])
    said = refused("f(a: float64)", provider, "llvm.func @k(f64, i64)")
    assert ">  #0  f64       f32 (float32(0.5))\n>  #1  i64       i32 (int32(4))" in said


@pytest.mark.parametrize("args", [["float32(a)"], ["float32(a)", "&k -> r"]])
def test_an_array_of_pointers(args: list[str]) -> None:
    """The start of a result has its dtype."""
    provider = DynamicParamPackCallProvider("ffib_conv_pack", args=args)
    f = wrapped("f(a: float64, k: int64) -> r: float64", provider)
    assert f(0.1, 2) == rounded(0.1)


def test_functions_of_tvm_ffi_take_no_other_dtype() -> None:
    provider = PackedCallProvider(spec.Function("callback"), args=["int32(k)"])
    words = "args= has 'int32(k)', but functions of TVM-FFI take numbers of 64 bits: pass 'k'"
    assert words in refused("f(callback: Function, k: int64)", provider)


def test_a_launch() -> None:
    ptx = """.version 7.0
    .target sm_70
    .address_size 64
    .visible .entry k(.param .u64 y, .param .f32 a) { ret; }
    """
    signature = spec.Signature.parse("f(y: Tensor([n], float32), a: float64)", device="cuda")
    provider = CudaLaunchCallProvider(ptx, "k", grid=1, block=1, args=["y", "float32(a)"])
    launch = wrapped(signature, provider, make=PlainModule)
    with FakeCuda() as gpu:
        launch(gpu.array(np.zeros(4, "float32")), 0.1)
        assert gpu.launches[-1].arguments[1] == np.float32(0.1).tobytes()
