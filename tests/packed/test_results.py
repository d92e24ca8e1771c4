"""Results of functions as call_packed returns them, for each kind of callee."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable
from typing import Any, Final

import pytest
import tvm_ffi

from ffi_builder import BuildError, call_packed, release_packed
from ffi_builder.packed import AnyValue, GlobalFunction, Object
from ffi_builder.packed.callees import CALLEES as CALLEE_CLASSES
from tests.packed.conftest import Called
from tests.packed.kernels import (
    CALLED,
    GLOBAL,
    compiled,
    create,
    empty_kernel,
    function,
    refused,
    terminator,
)
from tests.support.wrapping import new_module

each_callee = pytest.mark.parametrize("callee", CALLED)


def returning(callee: str, result: str) -> Callable[[object], int]:
    """Return a function that gives the 64 bits that the kernel stores."""
    types = ["!llvm.ptr", "!llvm.ptr"]
    call = compiled("k(f: Function, out: handle)", types, CALLED[callee], [1], result)

    def bits(f: object) -> int:
        memory = ctypes.create_string_buffer(8)
        call(f, ctypes.cast(memory, ctypes.c_void_p))
        return int.from_bytes(memory.raw, "little")

    return bits


BITS: Final[list[tuple[str, Any, int]]] = [
    *(("int64", -5, 2**64 - 5), ("int64", 2**63 - 1, 2**63 - 1), ("int64", True, 1)),
    *(("int8", -7, 249), ("bool", True, 1)),
    *(("float64", 0.1, 0x3FB999999999999A), ("float64", -3, 0xC008000000000000)),
    *(("handle", ctypes.c_void_p(0x1234), 0x1234), ("handle", None, 0)),
]


@each_callee
def test_numbers_and_pointers(called: Called, callee: str) -> None:
    for kind in ("int64", "int8", "bool", "float64", "handle"):
        bits = returning(callee, kind)
        for value, expected in [(value, bits_) for each, value, bits_ in BITS if each == kind]:
            called.returns(value)
            assert bits(called) == expected
    assert called.calls == [(1,)] * len(BITS)


@each_callee
def test_a_result_that_is_dropped_is_released(called: Called, callee: str) -> None:
    def returned() -> None: ...

    call = compiled("k(f: Function, out: handle)", ["!llvm.ptr"] * 2, CALLED[callee], [1])
    called.returns(returned)
    before = sys.getrefcount(returned)
    for _ in range(100):
        call(called, None)
    gc.collect()
    assert sys.getrefcount(returned) == before


@each_callee
@pytest.mark.parametrize("result", ["object", "any"])
def test_objects_are_the_callers(called: Called, callee: str, result: str) -> None:
    """The kernel passes what it got to the same function, and then releases it."""

    def returned() -> None: ...

    def then(end: Any, value: Any, *arguments: Any) -> None:
        given = CALLED[callee]
        given = given if isinstance(given, CALLEE_CLASSES) else given(list(arguments))
        call_packed(end, given, [AnyValue(value) if result == "any" else Object(value)])
        release_packed(end, value, result)

    types = ["!llvm.ptr", "!llvm.ptr"]
    call = compiled("k(f: Function, o: handle)", types, CALLED[callee], [1], result, then=then)
    called.answer = lambda args: returned if args[0] == 1 else None
    before = sys.getrefcount(returned)
    for _ in range(50):
        call(called, None)
    assert [type(arg) for (arg,) in called.calls] == [int, tvm_ffi.Function] * 50
    called.calls.clear()
    gc.collect()
    assert sys.getrefcount(returned) == before


WRONG: Final = [
    ("int64", "a str", "str"),
    ("int64", 0.5, "float"),
    ("int64", None, "None"),
    ("int8", [1], "list"),
    ("bool", 1, "int"),
    ("float32", "small", "str"),
    ("handle", 3, "int"),
    ("object", 3, "int"),
    ("object", "small", "str"),
]


@pytest.mark.parametrize(("result", "value", "kind"), WRONG)
def test_a_value_of_another_kind(called: Called, result: str, value: object, kind: str) -> None:
    bits = returning("a global function", result)
    called.returns(value)
    for _ in range(2):
        with pytest.raises(TypeError) as raised:
            bits(called)
        assert str(raised.value) == (
            f"A value of another kind than {result} was returned by {GLOBAL}: {kind} when calling "
            f"it in `k`"
        )


def test_the_function_that_has_no_name(called: Called) -> None:
    with pytest.raises(TypeError, match=r"than int64 was returned by the function: None when"):
        returning("a parameter", "int64")(called)


def test_an_int_that_does_not_fit(called: Called) -> None:
    called.returns(128)
    with pytest.raises(ValueError, match="does not fit int8") as raised:
        returning("a global function", "int8")(called)
    assert str(raised.value) == (
        f"The value that was returned by {GLOBAL} does not fit int8: 128 when calling it in `k`"
    )


@each_callee
def test_objects_of_the_wrong_kind_are_released(called: Called, callee: str) -> None:
    def returned() -> None: ...

    bits = returning(callee, "int64")
    called.returns(returned)
    before = sys.getrefcount(returned)
    for _ in range(20):
        with pytest.raises(TypeError, match=r"was returned .*: ffi\.Function"):
            bits(called)
    gc.collect()
    assert sys.getrefcount(returned) == before


def test_none_for_an_object(called: Called) -> None:
    def then(end: Any, value: Any, out: Any) -> None:
        create(end, "llvm.store", [value, out])
        release_packed(end, value)

    callee = GlobalFunction(GLOBAL)
    call = compiled("k(out: handle)", ["!llvm.ptr"], callee, [], "object", then=then)
    memory = ctypes.create_string_buffer(b"x" * 8, 8)
    call(ctypes.cast(memory, ctypes.c_void_p))
    assert memory.raw == bytes(8)


def test_a_str_in_an_any_is_passed_on(called: Called) -> None:
    def then(end: Any, value: Any) -> None:
        call_packed(end, GlobalFunction(GLOBAL), [AnyValue(value)])
        release_packed(end, value, "any")

    call = compiled("k()", [], GlobalFunction(GLOBAL), [], "any", then=then)
    texts: list[str] = []
    called.answer = lambda args: None if args else texts[-1]
    for text in ("small", "a longer str"):
        texts.append(text)
        call()
        assert called.calls.pop() == (text,)


@pytest.mark.parametrize("result", ["int63", "Object", "", 3])
def test_kinds_that_there_are_not(result: Any) -> None:
    words = refused(empty_kernel([]), result=result)
    assert words.startswith("call_packed: result: expected None or one of int8, int16,")
    assert f"but got {result!r}" in words


def test_release_of_something_else() -> None:
    module = new_module(empty_kernel(["i64", "!llvm.ptr"]))
    number, pointer = function(module).regions[0].blocks[0].arguments
    end = terminator(module)
    with pytest.raises(BuildError, match="expected a pointer but got"):
        release_packed(end, number)
    with pytest.raises(BuildError, match="expected a result 'object' or 'any' but got 'int64'"):
        release_packed(end, pointer, "int64")
