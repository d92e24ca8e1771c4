"""Arguments of call_packed, as callees get them."""

from __future__ import annotations

import ctypes
import gc
import struct
import sys
from collections.abc import Callable
from typing import Any, Final, TypeAlias, cast

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import packed
from ffi_builder.abi import TypeIndex
from ffi_builder.packed import (
    AnyValue,
    Bytes,
    CString,
    Device,
    DType,
    GlobalFunction,
    Object,
    Pointer,
    String,
    Tensor,
    Unsigned,
)
from tests.packed.conftest import Called
from tests.packed.kernels import GLOBAL, compiled, empty_kernel, refused

CALLEE: Final = GlobalFunction(GLOBAL)

Arguments: TypeAlias = Callable[[list[Any]], Any]
Row: TypeAlias = tuple[str, list[str], Arguments, list[Any]]


def number(dtype: str, type_: str, *values: Any) -> Row:
    return (dtype, [type_], lambda a: [a[0]], [*values])


PASSED: Final[list[Row]] = [
    # A parameter's type, those of the kernel's own, the arguments, and values.
    number("bool", "i1", False, True),
    number("int8", "i8", -128, 127),
    number("int16", "i16", -(2**15), 3),
    number("int32", "i32", -(2**31), 4),
    number("int64", "i64", -(2**63), 2**63 - 1),
    number("float16", "f16", 0.5, -65504.0),
    number("bfloat16", "bf16", 0.5, -(2.0**100)),
    number("float32", "f32", 0.25, float("inf")),
    number("float64", "f64", 0.1, -1e300),
    *(
        (f"uint{bits}", [f"i{bits}"], lambda a: [Unsigned(a[0])], [0, 2 ** (bits - 1) - 1, 2 ** (bits - 1), 2**bits - 1])
        for bits in (8, 16, 32, 64)
    ),
    ("String", ["!llvm.ptr", "i64"], lambda a: [String(a[0], a[1])], ["", "abc", "seven b", "a longer one", "ä\0ö and more of it"]),
    ("Bytes", ["!llvm.ptr", "i64"], lambda a: [Bytes(a[0], a[1])], [b"", b"\0", b"\xff" * 100]),
    ("DType", ["i32"], lambda a: [DType(a[0])], [tvm_ffi.dtype("float16x4")]),
    ("Device", ["i64"], lambda a: [Device(a[0])], [tvm_ffi.device("cuda", 3)]),
]  # fmt: skip


@pytest.mark.parametrize("row", PASSED, ids=lambda row: row[0])
def test_values(called: Called, row: Row) -> None:
    kind, types, args, values = row
    call = compiled(f"k(a: {kind})", types, CALLEE, args)
    for value in values:
        call(value)
        (got,) = called.calls.pop()
        assert got == value
        # True == 1 == 1.0
        assert isinstance(got, type(value))
        assert isinstance(got, bool) is isinstance(value, bool)


CONSTANTS: Final[list[Any]] = [
    *(None, False, True, 0, -(2**63), -0.1),
    *("", "sevenby", "eight by", "äöü", "a\0b", "a longer one\0with NUL\0"),
    *(b"\0\xff", bytes(range(256))),
]


@pytest.mark.parametrize("value", CONSTANTS)
def test_constants(called: Called, value: Any) -> None:
    compiled("k()", [], CALLEE, [value, value])()
    assert called.args == (value, value)
    assert all(isinstance(arg, type(value)) for arg in called.args)


def test_constants_are_of_their_own_type(called: Called) -> None:
    compiled("k()", [], CALLEE, [True, 1, 1.0])()
    assert [type(arg) for arg in called.args] == [bool, int, float]


def test_tensors(called: Called) -> None:
    seen: list[Any] = []

    # Python gets a view that is valid during the call, and cannot be exported by DLPack.
    def read(args: tuple[Any, ...]) -> None:
        (x,) = args
        seen.append(x and (tuple(x.shape), str(x.dtype), x.data_ptr()))

    called.answer = read
    call = compiled(
        "k(x: Optional(Tensor([n], float32)))",
        ["!llvm.ptr"],
        CALLEE,
        lambda a: [Tensor(a[0])],
        passed=["x.dltensor"],
    )
    x = np.array([1, 2], "float32")
    call(x)
    call(None)
    assert seen == [((2,), "float32", x.ctypes.data), None]


def test_objects(called: Called) -> None:
    call = compiled("k(o: Optional(Object))", ["!llvm.ptr"], CALLEE, lambda a: [Object(a[0])])
    array, mapping = tvm_ffi.convert([1, 2]), tvm_ffi.convert({"a": 1})
    for given in (array, mapping, tvm_ffi.convert(print)):
        call(given)
        assert called.calls.pop()[0].same_as(given)
    call(tvm_ffi.Shape((3, 4)))
    assert called.calls.pop() == ((3, 4),)
    call(None)
    assert called.args == (None,)


def test_pointers(called: Called) -> None:
    call = compiled(
        "k(p: handle, s: handle, a: handle)",
        ["!llvm.ptr"] * 3,
        CALLEE,
        lambda a: [Pointer(a[0]), CString(a[1]), AnyValue(a[2]), AnyValue(a[2])],
    )
    text = ctypes.create_string_buffer("größer".encode())
    memory = ctypes.create_string_buffer(struct.pack("<iiq", TypeIndex.INT, 0, -5), 16)
    addresses = (ctypes.cast(each, ctypes.c_void_p) for each in (text, memory))
    call(ctypes.c_void_p(0x1234), *addresses)
    pointer, *others = called.args
    assert pointer.value == 0x1234
    assert others == ["größer", -5, -5]


@pytest.mark.parametrize("count", [0, 100])
def test_how_many(called: Called, count: int) -> None:
    compiled("k()", [], CALLEE, list(range(count)))()
    assert called.args == (*range(count),)


def test_objects_made_for_the_call_are_released(called: Called) -> None:
    """Strs and BigInts live until the callee returns, also if it fails."""

    def fail(*args: Any) -> None:
        raise ValueError("no")

    call = compiled(
        "k(s: String, n: uint64)",
        ["!llvm.ptr", "i64", "i64"],
        CALLEE,
        lambda a: [String(a[0], a[1]), Unsigned(a[2]), "a constant\0with NUL"],
    )
    text = "a long str " * 10_000

    def rounds(count: int) -> None:
        for _ in range(count):
            called.returns(None)
            call(text, 2**64 - 1)
            called.answer = fail
            with pytest.raises(ValueError, match="no"):
                call(text, 2**64 - 1)
            called.calls.clear()
        gc.collect()

    rounds(100)  # the first error takes memory that stays
    before = _resident()
    rounds(500)
    # 110 kB each: one leak a round would be 55 MB.
    assert _resident() - before < 20e6


def _resident() -> int:
    with open("/proc/self/statm") as file:  # noqa: PTH123 # not a file of ours
        return int(file.read().split()[1]) * 4096


def test_objects_are_borrowed(called: Called) -> None:
    def callback() -> None: ...

    call = compiled("k(o: Object)", ["!llvm.ptr"], CALLEE, lambda a: [Object(a[0]), Object(a[0])])
    before = sys.getrefcount(callback)
    given = tvm_ffi.convert(callback)
    for _ in range(100):
        call(given)
    called.calls.clear()
    del given
    gc.collect()
    assert sys.getrefcount(callback) == before


# ---- mistakes


NUMBERS: Final = "a value of one of i1, i8, i16, i32, i64, f16, bf16, f32, f64"
MISTAKES: Final[list[tuple[Arguments, str]]] = [
    (lambda a: [a[2], a[0]], "argument 1: a pointer may be anything: say what it is by packed.Tensor(value), Object, Pointer, CString, String, Bytes or AnyValue"),
    (lambda a: [a[1]], f"argument 0: expected {NUMBERS} but got one of type f80"),
    (lambda a: [1, a[3]], f"argument 1: expected {NUMBERS} but got one of type i128"),
    (lambda a: [Tensor(a[2])], "argument 0: Tensor: expected a value of type !llvm.ptr but got one of type i64"),
    (lambda a: [String(a[0], a[0])], "argument 0: String length: expected a value of type i64 but got one of type !llvm.ptr"),
    (lambda a: [Unsigned(a[3])], "argument 0: Unsigned: expected a value of type i8 or i16 or i32 or i64 but got one of type i128"),
    (lambda a: [DType(a[2])], "argument 0: DType: expected a value of type i32 but got one of type i64"),
    (lambda a: [Object(cast("Any", None))], "argument 0: Object: expected a value but got None"),
    (lambda a: [2**63], "argument 0: 9223372036854775808 does not fit int64"),
    (lambda a: [[1]], "argument 0: expected a value (an ir.Value), a constant (None, bool, int, float, str or bytes) or a pointer in a class of ffi_builder.packed, but got [1]"),
    (lambda a: "ab", "expected a list of arguments but got 'ab'"),
]  # fmt: skip


@pytest.mark.parametrize(("args", "words"), MISTAKES)
def test_mistakes(args: Arguments, words: str) -> None:
    kernel = empty_kernel(["!llvm.ptr", "f80", "i64", "i128"])
    assert refused(kernel, args=args) == f"call_packed: {words}"


def test_every_class_is_public() -> None:
    assert {"Tensor", "Object", "String", "AnyValue"} <= set(packed.__all__)
