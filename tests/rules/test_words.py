"""Errors show the expected value and the given one: a call for each way to show them."""

from __future__ import annotations

import math
from typing import Final

import pytest

from ffi_builder import spec
from ffi_builder.abi import TypeIndex
from ffi_builder.spec import Choice, Object, Optional, Param, Shape, Var, ceildiv, dims
from tests.differential.description import (
    NONE,
    DLTensor,
    Plain,
    Value,
    array,
    of_bool,
    of_float,
    of_int,
    of_pointer,
    shape,
    tensor,
)
from tests.rules.calls import f32, fault
from tests.support.raw import char_pointer, moved, object_, register, small, str_

n, m = dims("n m")
BASE: Final = register("tests.words.Base")
DERIVED: Final = register("tests.words.Derived", BASE, depth=2)
OTHER: Final = register("tests.words.Other")
TYPED: Final = Object("x", "tests.words.Derived")
ACT: Final = Choice("x", {"relu": 1, "gelu": 2})
A64, B64 = "a" * 63, "b" * 64
NEAR: Final = " (did you mean 'relu'?)"


def cpu(
    name: str, *entries: spec.Dim | None, strides: list[spec.Dim | None] | None = None
) -> Param:
    return spec.Tensor(name, entries, "float32", device_type="cpu", strides=strides)


def on(device_type: str, device_id: int | Var) -> Param:
    return spec.Tensor("x", [], "float32", device_type=device_type, device_id=device_id)


def scalar(device_type: int, device_id: int) -> Value:
    return tensor(DLTensor((), device_type=device_type, device_id=device_id))


KINDS: list[tuple[Param, Value, str]] = [
    (cpu("x"), object_(OTHER), "Tensor | tests.words.Other"),
    (cpu("x"), moved(object_(OTHER)), "Tensor | tests.words.Other"),
    (TYPED, object_(BASE), "tests.words.Derived | tests.words.Base"),
    (TYPED, moved(object_(OTHER)), "tests.words.Derived | tests.words.Other"),
    (TYPED, object_(TypeIndex.OBJECT), "tests.words.Derived | ffi.Object"),
    (TYPED, object_(DERIVED, says=OTHER), f"tests.words.Derived | type index {DERIVED}"),
    (TYPED, Plain(DERIVED), f"tests.words.Derived | type index {DERIVED}"),
    (spec.DataPointer("x"), f32(3), "opaque pointer, None or int | ffi.Tensor"),
    (Optional(spec.String("x")), of_int(7), "str or None | int"),
    (Optional(spec.Bytes("x")), of_int(7), "bytes or None | int"),
    (Optional(ACT), of_int(7), "str or None | int"),
    (Optional(spec.DType("x")), of_int(7), "dtype or None | int"),
    (Optional(spec.Device("x")), of_int(7), "device or None | int"),
    (Optional(Object("x")), of_int(7), "Object or None | int"),
    (Optional(Object("x", "ffi.Module")), of_int(7), "ffi.Module or None | int"),
    (Optional(spec.Function("x")), of_int(7), "Function or None | int"),
    (Optional(spec.Array("x")), of_int(7), "Array or None | int"),
    (Optional(spec.Map("x")), of_int(7), "Map or None | int"),
    (Optional(spec.Struct("x", [n])), of_int(7), "tuple or None | int"),
    (Optional(Shape("x", [n])), small(b""), "Shape or list of ints or None | str"),
    (Optional(Var("x", "float32")), small(b""), "float or None | str"),
    (Optional(spec.ConstBool("x", True)), of_int(7), "bool or None | int"),
]

CHOICES: list[tuple[Choice, Value, str]] = [
    (ACT, small(b"tanh"), "'tanh'"),
    (ACT, small(b"rleu"), "'rleu'" + NEAR),
    (ACT, small(b"elu"), "'elu'" + NEAR),
    (ACT, str_(b"gelu_"), "'gelu_' (did you mean 'gelu'?)"),
    (ACT, char_pointer(b"relu2"), "'relu2'" + NEAR),
    (ACT, small(b""), "''"),
    (ACT, str_(b"relu_relu"), "'relu_relu'"),
    (ACT, str_(b"r\xc3\xa9lu'\\\n"), r"'r\xc3\xa9lu\x27\x5c\x0a'"),
    (ACT, str_(b"relu\0"), r"'relu\x00'" + NEAR),
    (Choice("x", {A64: 1, B64: 2}), str_(b"b" * 63 + b"c"), f"'{'b' * 63}c'"),
    (
        Choice("x", {A64: 1, B64: 2}),
        str_(b"a" * 65),
        f"'{'a' * 64}'... (did you mean '{A64}'?)",
    ),
]

TWICE: list[tuple[str, Value, Value, str]] = [
    ("bool", of_bool(True), of_int(0), "True (a = a) | False"),
    ("uint64", of_int(2**64 - 1), of_int(1), "18446744073709551615 (a = a) | 1"),
    ("handle", of_pointer(0x7F10), Plain(0), "0x7f10 (a = a) | 0x0"),
    ("float64", of_float(0.1), of_float(0.1 + 2**-56), "0.1 (a = a) | 0.10000000000000002"),
    ("float32", of_float(0.1), of_float(math.nan), "0.10000000149011612 (a = a) | nan"),
    ("float16", of_float(1e9), of_int(3), "inf (a = a) | 3"),
    ("bfloat16", of_float(0.1), of_float(-0.5), "0.10009765625 (a = a) | -0.5"),
]

HUGE: Final = 2**62
WAITING: Final = Shape("d", [n * 2 + HUGE + HUGE, n + 1])
WAITING_TEXT: Final = "n * 2 + 4611686018427387904 + 4611686018427387904"
MAYBE: Final = (Optional(cpu("x", n)), Optional(Shape("d", [n * 2, 3])), n)

VALUES: list[tuple[tuple[Param, ...], tuple[Value, ...], str]] = [
    (
        (on("cuda", Var("d", "int8", min=2)),),
        (scalar(2, 1),),
        "#0 x.device_id: at least 2 (min of d) | 1",
    ),
    (
        (on("any", Var("d", "int32", max=3)),),
        (scalar(99, 4),),
        "#0 x.device_id: at most 3 (max of d) | 4",
    ),
    (
        (cpu("x", n, m, strides=[Var("s", "int64"), Var("s", "int64")]),),
        (f32(3, 4, strides=(4, 1)),),
        "#0 x.strides[1]: 4 (s = x.strides[0]) | 1 (shape=[3, 4], strides=[4, 1])",
    ),
    (
        (cpu("x", n, m, strides=[m * 2, 1]),),
        (f32(3, 4, strides=(4, 1)),),
        "#0 x.strides[0]: 8 (m * 2 with m = 4 from x.shape[1]) | 4 (shape=[3, 4], strides=[4, 1])",
    ),
    (
        (spec.Tensor("x", [n, m], "float32", device_type="cpu", strides="F"),),
        (f32(3, 4),),
        "#0 x.strides[0]: 1 (column-major contiguous) | 4 (shape=[3, 4], strides=NULL)",
    ),
    (
        (spec.Tensor("x", ..., "float32", device_type="cpu", strides="F", data_alignment=16),),
        (f32(3, 1, 4, 2, strides=(1, 99, 4, 12)),),
        "#0 x.strides[2]: 3 (column-major contiguous) | 4 (shape=[3, 1, 4, 2], strides=[1, 99, 4, 12])",
    ),
    (
        (spec.Tensor("x", ..., "float32", device_type="cpu", strides="F", data_alignment=16),),
        (f32(3, 4, strides=(1, 3), data=0x1008),),
        "#0 x.data: an address aligned to 16 bytes (data_alignment of x) | 0x1008 (aligned to 8)",
    ),
    (
        (cpu("x", n, m), cpu("y", n * 2 + m)),
        (f32(3, 4), f32(7)),
        "#1 y.shape[0]: 10 (n * 2 + m with n = 3 from x.shape[0], m = 4 from x.shape[1]) | 7",
    ),
    (
        (Shape("d", [ceildiv(n, 4)]), n),
        (shape(3), of_int(5)),
        "#0 d[0]: 2 (ceildiv(n, 4) with n = 5 from n) | 3",
    ),
    (
        (n, Shape("d", [n * 2])),
        (of_int(HUGE), shape(1)),
        "#1 d[0]: n * 2 within int64, with n = 4611686018427387904 from n | 1",
    ),
    (
        (WAITING,),
        (shape(5, 0),),
        f"#0 d[0]: 9223372036854775806 ({WAITING_TEXT} with n = -1 from n in d[1]) | 5",
    ),
    (
        (WAITING,),
        (shape(5, 1),),
        f"#0 d[0]: {WAITING_TEXT} within int64, with n = 0 from n in d[1] | 5",
    ),
    (
        (cpu("x", Var("n", "int64", max=3) * 2),),
        (f32(8),),
        "#0 n in x.shape[0]: at most 3 (max of n) | 4",
    ),
    (MAYBE, (f32(3), NONE, of_int(4)), "#2 n: 3 (n = x.shape[0]) | 4"),
    (MAYBE, (NONE, shape(7, 3), of_int(3)), "#1 d[0]: 6 (n * 2 with n = 3 from n) | 7"),
    (
        (n, spec.TupleParam("t", [n, spec.Struct("u", [cpu("x", None, n)])])),
        (of_int(5), array(of_int(5), array(f32(2, 6)))),
        "#1 t[1].x.shape[1]: 5 (n = n) | 6",
    ),
]


@pytest.mark.parametrize(("param", "given", "words"), KINDS)
def test_kinds(param: Param, given: Value, words: str) -> None:
    assert fault([param], given) == f"TypeError #0 type of x: {words}"


@pytest.mark.parametrize(("param", "given", "got"), CHOICES)
def test_choices(param: Choice, given: Value, got: str) -> None:
    names = ", ".join(f"'{name}'" for name in param.choices)
    assert fault([param], given) == f"ValueError #0 x: one of {names} | {got}"


@pytest.mark.parametrize(("dtype", "first", "second", "words"), TWICE)
def test_values_of_each_dtype(dtype: str, first: Value, second: Value, words: str) -> None:
    a = Var("a", dtype)
    found = fault([a, spec.TupleParam("t", [a])], first, array(second))
    assert found == f"ValueError #1 t[0]: {words}"


@pytest.mark.parametrize(("params", "given", "words"), VALUES)
def test_values(params: tuple[Param, ...], given: tuple[Value, ...], words: str) -> None:
    assert fault(params, *given) == f"ValueError {words}"
