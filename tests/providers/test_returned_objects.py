"""Strs, bytes, shapes and objects that functions return."""

from __future__ import annotations

import gc
import weakref
from typing import Any, Final

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import BuildError, attach, call_packed, explain, packed, runtime, spec, testing
from ffi_builder.ir import Block
from ffi_builder.providers import (
    CallContext,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    NopCallProvider,
    OwnedAny,
    PackedCallProvider,
)
from tests.providers.returning import PAIR
from tests.support.allocating import counting
from tests.support.wrapping import new_module, wrapped


def address(data: bytes) -> tuple[Any, int]:
    array = np.frombuffer(data + b"\0", "uint8")
    return array, array.ctypes.data


# ---- strs and bytes


@pytest.mark.parametrize("words", ["", "short", "exactly", "more than seven bytes", "ünï"])
@pytest.mark.parametrize("kind", ["String", "Bytes"])
def test_the_bytes_are_copied(words: str, kind: str) -> None:
    function = wrapped(f"f(p: DataPointer, n: int64) -> s: {kind}", DirectCallProvider("k"), PAIR)
    data = words.encode()
    _keep, at = address(data)
    got = function(at, len(data))
    assert got == (words if kind == "String" else data)


def test_nothing_may_be_at_null() -> None:
    function = wrapped("f(p: DataPointer, n: int64) -> s: String", DirectCallProvider("k"), PAIR)
    assert function(None, 0) == ""
    with pytest.raises(RuntimeError, match=r"^The result s of 3 bytes is at NULL when calling: `f"):
        function(None, 3)
    with pytest.raises(RuntimeError, match=r"^The length of the result s would be -1 when calling"):
        function(4096, -1)


def test_a_pack_writes_pointer_and_length() -> None:
    kernel = """
llvm.func @k(%args: !llvm.ptr) {
  %n = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %number = llvm.load %n : !llvm.ptr -> i64
  %at = llvm.getelementptr %args[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %out = llvm.load %at : !llvm.ptr -> !llvm.ptr
  %length = llvm.getelementptr %out[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %before = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %given = llvm.load %before : !llvm.ptr -> !llvm.ptr
  %text = llvm.load %given : !llvm.ptr -> !llvm.ptr
  llvm.store %text, %out : !llvm.ptr, !llvm.ptr
  llvm.store %number, %length : i64, !llvm.ptr
  llvm.return
}
"""
    text = "f(n: int64, p: DataPointer) -> (s: String)"
    function = wrapped(text, DynamicParamPackCallProvider("k"), kernel)
    _keep, at = address(b"a result of some length")
    assert list(function(8, at)) == ["a result"]


# ---- objects


class Passing(NopCallProvider):
    """Returns its arguments as results, each with a reference of its own."""

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        b = context.builder
        b.symbols.declare("TVMFFIObjectIncRef", b.types.i32, [b.types.ptr])
        found: list[Any] = []
        for param in context.params:
            value = context.scalar(param)
            with b.when(b.ne(value, b.null())):
                b.call_value("TVMFFIObjectIncRef", [value], b.types.i32)
            found.append(value)
        context.results = found
        return b.block


def test_each_kind_of_object() -> None:
    text = (
        "f(a: Array, m: Map, g: Function, o: Object, p: Optional(Object)) -> (ra: Array, rm: Map, "
        "rg: Function, ro: Object('ffi.Tensor'), rp: Object)"
    )
    function = wrapped(text, Passing())
    array, tensor = tvm_ffi.Array([1, 2]), tvm_ffi.from_dlpack(np.arange(3.0))
    for _ in range(100):
        got = function(array, {"a": 1}, lambda: 5, tensor, None)
        assert got[0].same_as(array)
        assert [dict(got[1]), got[2](), got[3].shape, got[4]] == [{"a": 1}, 5, (3,), None]
        del got


class Counted:
    """Something whose life Python can watch."""


def test_its_reference_is_the_callers() -> None:
    function = wrapped("f(g: Function) -> r: Function", Passing())
    kept = Counted()
    watch = weakref.ref(kept)
    got = function(lambda kept=kept: kept)
    del kept
    gc.collect()
    assert got() is not None
    del got
    gc.collect()
    assert watch() is None


class PassingThenFailing(Passing):
    """The same, with a str that cannot be made."""

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        block = super().__call__(current_block, context)
        b = context.builder
        context.results = [*(context.results or ()), b.pack([b.null(), b.i64(3)])]
        return block


def test_what_was_handed_over_is_released_if_another_result_fails() -> None:
    text = "f(g: Function) -> (r: Function, y: Tensor([4], int8), s: String)"
    function = wrapped(text, PassingThenFailing())
    kept = Counted()
    watch = weakref.ref(kept)
    with counting() as allocator:
        for _ in range(5):
            with pytest.raises(RuntimeError, match="The result s of 3 bytes is at NULL"):
                function(lambda kept=kept: kept)
        assert allocator.alive == {}
    del kept
    gc.collect()
    assert watch() is None


# ---- what a packed function returns


def registered(name: str, result: Any) -> PackedCallProvider:
    tvm_ffi.register_global_func(f"tests.returned.{name}", lambda *_: result, override=True)
    return PackedCallProvider(global_function=f"tests.returned.{name}")


SHAPE: Final = "Object('ffi.Shape')"
LONG: Final = "a long text of many bytes"


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        *(("String", LONG), ("String", "short"), ("Bytes", LONG.encode()), ("Bytes", b"short")),
        *(("Object", None), ("Array", None), (SHAPE, tvm_ffi.Shape((1, 2)))),
    ],
)
def test_of_the_right_kind(kind: str, value: Any) -> None:
    assert wrapped(f"f() -> r: {kind}", registered("right", value))() == value


class Calling:
    """A provider that hands over what each of its functions returns."""

    def __init__(self, count: int) -> None:
        self.functions = [spec.Function(f"g{number}") for number in range(count)]

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        b = context.builder
        context.results = []
        for function in self.functions:
            callee = packed.FunctionObject(context.scalar(function))
            call = call_packed(b, callee, [], result="any")
            assert call.value is not None
            context.results.append(OwnedAny(call.value))
        return b.block


@pytest.mark.parametrize(
    ("kind", "value", "came"),
    [
        *(("String", b"short", "bytes"), ("String", [1], "list"), ("String", 3, "int")),
        *(("String", None, "None"), ("Bytes", LONG, "str"), ("Bytes", "text", "str")),
        *(("Function", 3, "int"), ("Function", LONG, "str"), ("Map", [1], "list")),
        *(("Array", tvm_ffi.Shape((1, 2)), "ffi.Shape"), ("Object", 2.5, "float")),
        *((SHAPE, [1], "list"), (SHAPE, 3, "int")),
        ("Object('testing.TestIntPair')", tvm_ffi.Shape((1,)), "ffi.Shape"),
    ],
)
@pytest.mark.parametrize("owned", [False, True])
def test_of_another_kind(kind: str, value: Any, came: str, owned: bool) -> None:
    """A global function returns it, or one that a provider of an author calls."""
    params = "g0: Function" if owned else ""
    provider = Calling(1) if owned else registered("wrong", value)
    function = wrapped(f"f({params}) -> r: {kind}", provider)
    with pytest.raises(TypeError) as raised:
        function(*[lambda: value] * owned)
    words = f"A value of another kind than {kind} was returned for r: {came} when calling: `f("
    assert str(raised.value).startswith(words)


def test_owned_anys_of_the_right_kinds() -> None:
    text = "f(g0: Function, g1: Function, g2: Function) -> (a: String, b: Array, c: Object)"
    got = wrapped(text, Calling(3))(lambda: "text", lambda: [1], lambda: None)
    assert (got[0], list(got[1]), got[2]) == ("text", [1], None)


@pytest.mark.parametrize("wrong", [0, 1, 2])
def test_owned_anys_are_released_if_one_is_of_another_kind(wrong: int) -> None:
    text = (
        "f(g0: Function, g1: Function, g2: Function)"
        " -> (a: Function, y: Tensor([4], int8), b: Function, c: Function)"
    )
    function = wrapped(text, Calling(3))
    kept = [Counted()]
    watch = weakref.ref(kept[0])

    def result(number: int) -> Any:
        (counted,) = kept
        held = [lambda: counted]
        return held if number == wrong else held[0]

    with counting() as allocator:
        for _ in range(5):
            words = f"returned for {'abc'[wrong]}: list"
            with pytest.raises(TypeError, match=words):
                function(*(lambda number=number: result(number) for number in range(3)))
        assert allocator.alive == {}
    kept.clear()
    gc.collect()
    assert watch() is None


def test_an_owned_any_is_no_number() -> None:
    class Wrong(NopCallProvider):
        def __call__(self, current_block: Block, context: CallContext) -> Block:
            context.results = [OwnedAny(context.builder.null())]
            return current_block

    words = r"needs a value for each result that is not a tensor \(r: i64\), but it has OwnedAny"
    with pytest.raises(BuildError, match=words):
        wrapped("f() -> r: int64", Wrong())
    with pytest.raises(BuildError, match=r"r: !llvm.struct<\(ptr, i64\)>\), but it has none"):
        wrapped("f() -> r: String", NopCallProvider())


# ---- shapes


def test_a_shape_of_expressions() -> None:
    text = "f(x: Tensor([n, m], int8)) -> s: Shape([n * 2, ceildiv(m, 4), 3, m])"
    got = wrapped(text)(np.zeros((3, 5), "int8"))
    assert tuple(got) == (6, 2, 3, 5)
    assert tuple(wrapped("f() -> s: Shape([])")()) == ()


def test_a_shape_beside_others() -> None:
    text = "f(n: int32) -> (y: Tensor([n], int8), s: Shape([n, n - 2]), z: Tensor([n], int8))"
    function = wrapped(text)
    with counting() as allocator:
        y, shape, _z = function(4)
        assert (tuple(shape), y.shape) == ((4, 2), (4,))
        with pytest.raises(ValueError, match=r"^The size s\[1\] = n - 2 of the result would be -1"):
            function(1)
        del y, shape, _z
        assert allocator.alive == {}


def test_a_shape_is_checked_without_a_kernel() -> None:
    signature = spec.Signature.parse("f(n: int32) -> s: Shape([n - 2])")
    with pytest.raises(ValueError, match=r"^The size s\[0\] = n - 2 of the result would be -1"):
        testing.check(signature, 1)
    assert testing.check(signature, 2) == {"n": 2}
    assert "s[0]  " in explain(signature).partition("of what is returned:")[2]
    assert testing.make_args(signature)[0] >= 2
    signature = spec.Signature.parse("f(n: int64) -> s: Shape([n * 2])")
    for n in (2**62, -(2**62) - 1):
        with pytest.raises(ValueError, match=r"^The value of n \* 2 does not fit int64"):
            testing.check(signature, n)


# ---- exported


def test_stubs_and_metadata(tmp_path: Any) -> None:
    module = new_module(PAIR)
    text = "f(p: DataPointer, n: int64) -> s: String"
    attach(module, spec.Signature.parse(text), DirectCallProvider("k"))
    stub, header = tmp_path / "made.pyi", tmp_path / "made.h"
    runtime.compile(module).export_library(tmp_path / "made.so", stub=stub, header=header)
    assert "-> str:" in stub.read_text()
    assert "::tvm::ffi::String f(void *p, ::std::int64_t n)" in header.read_text()
    _keep, at = address(b"from a library")
    loaded = runtime.load(tmp_path / "made.so")
    assert loaded["f"](at, 14) == "from a library"
    assert loaded.callable("f")(n=4, p=at) == "from"
    info = loaded.info("f")
    assert info is not None
    assert spec.Signature.parse(info.signature) == spec.Signature.parse(text)
