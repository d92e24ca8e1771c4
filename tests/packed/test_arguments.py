"""Arguments of call_packed, as callees get them."""

from __future__ import annotations

import ctypes
import gc
import struct
import sys
from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import BuildError, call_packed, packed
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
from tests.packed.kernels import GLOBAL, compiled, empty_kernel, function, terminator
from tests.support.wrapping import new_module

CALLEE: Final = GlobalFunction(GLOBAL)

NUMBERS: Final = {
    "bool": ("i1", [False, True]),
    "int8": ("i8", [-128, 127]),
    "int16": ("i16", [-(2**15), 3]),
    "int32": ("i32", [-(2**31), 4]),
    "int64": ("i64", [-(2**63), 2**63 - 1]),
    "float16": ("f16", [0.5, -65504.0]),
    "bfloat16": ("bf16", [0.5, -(2.0**100)]),
    "float32": ("f32", [0.25, float("inf")]),
    "float64": ("f64", [0.1, -1e300]),
}


@pytest.mark.parametrize("dtype", NUMBERS)
def test_numbers(called: Called, dtype: str) -> None:
    type_, values = NUMBERS[dtype]
    call = compiled(f"k(a: {dtype})", [type_], CALLEE, lambda a: [a[0]])
    for value in values:
        call(value)
        assert called.calls.pop() == (value,)
        # True == 1 == 1.0
    call(values[1])
    assert type(called.args[0]) is type(values[1])


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_unsigned_integers(called: Called, bits: int) -> None:
    call = compiled(f"k(a: uint{bits})", [f"i{bits}"], CALLEE, lambda a: [Unsigned(a[0])])
    for value in (0, 2 ** (bits - 1) - 1, 2 ** (bits - 1), 2**bits - 1):
        call(value)
        assert called.calls.pop() == (value,)


CONSTANTS: Final[dict[str, Any]] = {
    "None": None,
    "False": False,
    "True": True,
    "0": 0,
    "least": -(2**63),
    "float": -0.1,
    "no str": "",
    "small str": "sevenby",
    "str": "eight by",
    "umlauts": "äöü",
    "str with NUL": "a\0b",
    "longer str with NUL": "a longer one\0with NUL\0",
    "small bytes": b"\0\xff",
    "bytes": bytes(range(256)),
}


@pytest.mark.parametrize("case", CONSTANTS)
def test_constants(called: Called, case: str) -> None:
    value = CONSTANTS[case]
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
    call = compiled("k(p: handle)", ["!llvm.ptr"], CALLEE, lambda a: [Pointer(a[0]), Pointer(a[0])])
    call(ctypes.c_void_p(0x1234))
    assert [arg.value for arg in called.args] == [0x1234] * 2


@pytest.mark.parametrize("text", ["", "abc", "seven b", "a longer one", "ä\0ö and more of it"])
def test_strings(called: Called, text: str) -> None:
    call = compiled(
        "k(s: String)", ["!llvm.ptr", "i64"], CALLEE, lambda a: [String(a[0], a[1]), "x"]
    )
    call(text)
    assert called.args == (text, "x")


def test_strings_of_c(called: Called) -> None:
    text = ctypes.create_string_buffer("größer".encode())
    call = compiled("k(s: handle)", ["!llvm.ptr"], CALLEE, lambda a: [CString(a[0])])
    call(ctypes.cast(text, ctypes.c_void_p))
    assert called.args == ("größer",)


@pytest.mark.parametrize("data", [b"", b"\0", b"\xff" * 100])
def test_bytes(called: Called, data: bytes) -> None:
    call = compiled("k(s: Bytes)", ["!llvm.ptr", "i64"], CALLEE, lambda a: [Bytes(a[0], a[1])])
    call(data)
    assert called.args == (data,)


def test_dtypes_and_devices(called: Called) -> None:
    call = compiled(
        "k(t: DType, d: Device)", ["i32", "i64"], CALLEE, lambda a: [DType(a[0]), Device(a[1])]
    )
    call(tvm_ffi.dtype("float16x4"), tvm_ffi.device("cuda", 3))
    dtype, device = called.args
    assert (str(dtype), str(device)) == ("float16x4", "cuda:3")


def test_any_value(called: Called) -> None:
    call = compiled(
        "k(a: handle)", ["!llvm.ptr"], CALLEE, lambda a: [AnyValue(a[0]), AnyValue(a[0])]
    )
    memory = ctypes.create_string_buffer(struct.pack("<iiq", TypeIndex.INT, 0, -5), 16)
    call(ctypes.cast(memory, ctypes.c_void_p))
    assert called.args == (-5, -5)


def test_no_arguments(called: Called) -> None:
    compiled("k()", [], CALLEE)()
    assert called.args == ()


def test_many_arguments(called: Called) -> None:
    given = list(range(100))
    compiled("k()", [], CALLEE, given)()
    assert list(called.args) == given


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


def refused(args: Callable[[list[Any]], Any], types: list[str] | None = None) -> str:
    module = new_module(empty_kernel(types or ["!llvm.ptr", "f80", "i64", "i128"]))
    before = str(module)
    arguments = list(function(module).regions[0].blocks[0].arguments)
    with pytest.raises(BuildError) as raised:
        call_packed(terminator(module), CALLEE, args(arguments))
    assert str(module) == before
    return str(raised.value)


def test_a_pointer_must_say_what_it_is() -> None:
    assert refused(lambda a: [a[2], a[0]]) == (
        "call_packed: argument 1: a pointer may be anything: say what it is by "
        "packed.Tensor(value), Object, Pointer, CString, String, Bytes or AnyValue"
    )


MISTAKES: Final[list[tuple[Callable[[list[Any]], Any], str]]] = [
    (
        lambda a: [a[1]],
        "argument 0: expected a value of one of i1, i8, i16, i32, i64, f16, bf16, f32, f64 but "
        "got one of type f80",
    ),
    (
        lambda a: [1, a[3]],
        "argument 1: expected a value of one of i1, i8, i16, i32, i64, f16, bf16, f32, f64 but "
        "got one of type i128",
    ),
    (
        lambda a: [Tensor(a[2])],
        "argument 0: Tensor: expected a value of type !llvm.ptr but got one of type i64",
    ),
    (
        lambda a: [String(a[0], a[0])],
        "argument 0: String length: expected a value of type i64 but got one of type !llvm.ptr",
    ),
    (
        lambda a: [Unsigned(a[3])],
        "argument 0: Unsigned: expected a value of type i8 or i16 or i32 or i64 but got one of "
        "type i128",
    ),
    (
        lambda a: [DType(a[2])],
        "argument 0: DType: expected a value of type i32 but got one of type i64",
    ),
    (lambda a: [Object(cast("Any", None))], "argument 0: Object: expected a value but got None"),
    (lambda a: [2**63], "argument 0: 9223372036854775808 does not fit int64"),
    (
        lambda a: [[1]],
        "argument 0: expected a value (an ir.Value), a constant (None, bool, int, float, str or "
        "bytes) or a pointer in a class of ffi_builder.packed, but got [1]",
    ),
    (lambda a: "ab", "expected a list of arguments but got 'ab'"),
]


@pytest.mark.parametrize(("args", "words"), MISTAKES)
def test_mistakes(args: Callable[[list[Any]], Any], words: str) -> None:
    assert refused(args) == f"call_packed: {words}"


def test_every_class_is_public() -> None:
    assert {"Tensor", "Object", "String", "AnyValue"} <= set(packed.__all__)
