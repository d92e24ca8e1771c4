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
from ffi_builder.packed import (
    AnyValue,
    FunctionObject,
    GlobalFunction,
    ImportedFunction,
    Object,
    Symbol,
)
from ffi_builder.packed.callees import CALLEES as CALLEE_CLASSES
from tests.packed.conftest import Called
from tests.packed.kernels import (
    GLOBAL,
    Callees,
    compiled,
    create,
    empty_kernel,
    function,
    terminator,
)
from tests.support.wrapping import new_module

CALLEES: Final[dict[str, Callees]] = {
    "a symbol": Symbol("g"),
    "a global function": GlobalFunction(GLOBAL),
    "a global function, not kept": GlobalFunction(GLOBAL, keep=False),
    "a parameter": lambda a: FunctionObject(a[0]),
    # Without imported modules, tvm-ffi looks for it among the registered functions.
    "an imported function": ImportedFunction(GLOBAL),
}
each_callee = pytest.mark.parametrize("callee", CALLEES)


def returning(callee: str, result: str) -> Callable[[object], int]:
    """Return a function that gives the 64 bits that the kernel stores."""
    types = ["!llvm.ptr", "!llvm.ptr"]
    call = compiled("k(f: Function, out: handle)", types, CALLEES[callee], [1], result)

    def bits(f: object) -> int:
        memory = ctypes.create_string_buffer(8)
        call(f, ctypes.cast(memory, ctypes.c_void_p))
        return int.from_bytes(memory.raw, "little")

    return bits


def as_float(bits: int) -> float:
    return ctypes.c_double.from_buffer_copy(bits.to_bytes(8, "little")).value


@each_callee
def test_ints(called: Called, callee: str) -> None:
    bits = returning(callee, "int64")
    for value in (-5, 2**63 - 1, True):
        called.returns(value)
        assert bits(called) == value % 2**64
    assert called.calls == [(1,)] * 3


@each_callee
def test_narrow_ints_and_bools(called: Called, callee: str) -> None:
    called.returns(-7)
    assert returning(callee, "int8")(called) == 249
    called.returns(True)
    assert returning(callee, "bool")(called) == 1


@each_callee
def test_floats(called: Called, callee: str) -> None:
    bits = returning(callee, "float64")
    for value in (0.1, -3):
        called.returns(value)
        assert as_float(bits(called)) == value


@each_callee
def test_pointers(called: Called, callee: str) -> None:
    bits = returning(callee, "handle")
    called.returns(ctypes.c_void_p(0x1234))
    assert bits(called) == 0x1234
    called.returns(None)
    assert bits(called) == 0


@each_callee
def test_a_result_that_is_dropped_is_released(called: Called, callee: str) -> None:
    def returned() -> None: ...

    call = compiled("k(f: Function, out: handle)", ["!llvm.ptr"] * 2, CALLEES[callee], [1])
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
        given = CALLEES[callee]
        given = given if isinstance(given, CALLEE_CLASSES) else given(list(arguments))
        call_packed(end, given, [AnyValue(value) if result == "any" else Object(value)])
        release_packed(end, value, result)

    types = ["!llvm.ptr", "!llvm.ptr"]
    call = compiled("k(f: Function, o: handle)", types, CALLEES[callee], [1], result, then=then)
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
    module = new_module(empty_kernel([]))
    before = str(module)
    with pytest.raises(BuildError) as raised:
        call_packed(terminator(module), GlobalFunction("f"), result=result)
    assert str(raised.value).startswith("call_packed: result: expected None or one of int8, int16,")
    assert f"but got {result!r}" in str(raised.value)
    assert str(module) == before


def test_release_of_something_else() -> None:
    module = new_module(empty_kernel(["i64", "!llvm.ptr"]))
    number, pointer = function(module).regions[0].blocks[0].arguments
    end = terminator(module)
    with pytest.raises(BuildError, match="expected a pointer but got"):
        release_packed(end, number)
    with pytest.raises(BuildError, match="expected a result 'object' or 'any' but got 'int64'"):
        release_packed(end, pointer, "int64")
