"""PackedCallProvider: what comes back: results, errors, and what authors get wrong."""

from __future__ import annotations

import ctypes
import gc
import struct
import sys
from collections.abc import Iterator
from functools import partial
from operator import mul, neg
from typing import Any, Final

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import attach_ffi_func, runtime, spec
from ffi_builder.abi import TypeIndex
from ffi_builder.errors import BuildError
from ffi_builder.ir import Block
from ffi_builder.providers import CallContext, DirectCallProvider, NopCallProvider
from ffi_builder.providers import PackedCallProvider as Packed
from ffi_builder.spec import EnvStream, Optional, String, Tensor, dims
from tests.support.packed import packed_callee
from tests.support.wrapping import attached, new_module, wrap

(n, m) = dims("n m")
GLOBAL: Final = "ffib.tests.packed"


def matrix(name: str, *entries: spec.Dim | None) -> Tensor:
    return Tensor(name, entries, "float32", device_type="cpu")


def test_what_is_returned() -> None:
    callee = packed_callee()
    function = wrap([n], Packed("ffib_packed"))
    callee.expect(result=(TypeIndex.INT, -7 % 2**64 - 2**64))
    assert function(1) == -7
    callee.expect(result=(TypeIndex.NONE, 0))
    assert function(1) is None
    callee.expect(result=(TypeIndex.BOOL, 1))
    assert function(1) is True


def test_its_error_is_passed_on_as_it_is() -> None:
    callee = packed_callee()
    function = wrap([n], Packed("ffib_packed"))
    callee.expect(status=-1)
    with pytest.raises(KeyError) as raised:
        function(1)
    assert str(raised.value) == '"the callee\'s own"'
    assert callee.calls == 1


def test_its_status_is_passed_on_as_it_is() -> None:
    """-2 says that Python's own error is set already: no one may turn it into -1."""
    callee = packed_callee()
    compiled = runtime.compile(attached([n], Packed("ffib_packed")))
    entry = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p
    )(compiled.address("f"))
    given = ctypes.create_string_buffer(struct.pack("<iiq", 1, 0, 5), 16)
    for status in (-2, 1, -(2**31)):
        callee.expect(status=status)
        result = ctypes.create_string_buffer(16)
        assert entry(None, given, 1, result) == status


TWICE: Final = """
llvm.func @__tvm_ffi_twice(%handle: !llvm.ptr, %args: !llvm.ptr, %count: i32, %result: !llvm.ptr) -> i32 {
  %at = llvm.getelementptr %args[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %value = llvm.load %at : !llvm.ptr -> i64
  %sum = llvm.add %value, %value : i64
  %int = llvm.mlir.constant(1 : i64) : i64
  llvm.store %int, %result : i64, !llvm.ptr
  %to = llvm.getelementptr %result[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %sum, %to : i64, !llvm.ptr
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}
"""


def test_a_function_of_the_module() -> None:
    x = matrix("x", n, m)
    assert wrap([x], Packed("twice", args=[n * m]), TWICE)(np.zeros((3, 5), "float32")) == 30


def test_with_jaxlibs_bindings() -> None:
    provider = Packed("twice", args=[n * m])
    module = attached([matrix("x", n, m)], provider, TWICE, distribution="jaxlib.mlir")
    assert runtime.compile(module)["f"](np.zeros((3, 5), "float32")) == 30


def test_another_wrapper_of_the_module() -> None:
    module = new_module(TWICE)
    attach_ffi_func(module, "inner", [n], Packed("twice"))
    attach_ffi_func(module, "outer", [Optional(n)], Packed("inner"))
    compiled = runtime.compile(module)
    assert compiled["outer"](21) == 42
    with pytest.raises(TypeError, match=r"n on argument #0 when calling: `inner\(n: int64\)`"):
        compiled["outer"](None)


# ---- global functions


@pytest.fixture
def registered() -> Iterator[list[object]]:
    """A global function that shows its arguments, and fails for "fail"."""
    seen: list[object] = []

    def show(*args: Any) -> Any:
        seen.append(args)
        if args[0] == "fail":
            raise IndexError("as you say")
        return args[0] if len(args) == 1 else [*args]

    tvm_ffi.register_global_func(GLOBAL, show, override=True)
    yield seen
    tvm_ffi.registry.remove_global_func(GLOBAL)


def test_a_global_function(registered: list[Any]) -> None:
    params: list[spec.Param] = [n, matrix("x", n), spec.DType("t")]
    provider = Packed(
        global_function=GLOBAL, args=[n, n + 1, "x", "x.ndim", "t", "x.dtype", "x.data"]
    )
    x = np.ones(4, "float32")
    result = wrap(params, provider)(4, x, tvm_ffi.dtype("int8"))
    assert list(result[:2]) == [4, 5]
    got = registered[0]
    assert (np.from_dlpack(got[2]) == x).all()
    assert (got[3], str(got[4]), str(got[5])) == (1, "int8", "float32")
    assert got[6].value == x.ctypes.data


def test_a_global_functions_error(registered: list[Any]) -> None:
    function = wrap([Optional(String("s"))], Packed(global_function=GLOBAL))
    assert function(None) is None
    with pytest.raises(IndexError) as raised:
        function("fail")
    assert str(raised.value) == "as you say"
    names: list[str] = []
    frame = raised.tb
    while frame is not None:
        names.append(frame.tb_frame.f_code.co_name)
        frame = frame.tb_next
    assert "show" in names
    assert "f" not in names


def test_a_global_function_is_looked_up_at_every_call(registered: list[Any]) -> None:
    function = wrap([n], Packed(global_function=GLOBAL))
    assert function(3) == 3
    tvm_ffi.register_global_func(GLOBAL, partial(mul, 10), override=True)
    assert function(3) == 30
    tvm_ffi.registry.remove_global_func(GLOBAL)
    with pytest.raises(RuntimeError) as raised:
        function(3)
    assert str(raised.value) == (
        f"No global function is registered as '{GLOBAL}' when calling: `f(n: int64)`"
    )
    tvm_ffi.register_global_func(GLOBAL, neg)
    assert function(3) == -3


def test_nothing_of_a_global_function_leaks(registered: list[Any]) -> None:
    function = wrap([spec.Object("o")], Packed(global_function=GLOBAL))

    def other(value: Any) -> Any:
        if isinstance(value, tvm_ffi.Array):
            raise ValueError("no lists")
        return value

    tvm_ffi.register_global_func(GLOBAL, other, override=True)
    given = tvm_ffi.convert(lambda: None)
    before = sys.getrefcount(other)
    for _ in range(100):
        assert function(given).same_as(given)
        with pytest.raises(ValueError, match="no lists"):
            function([1])
    gc.collect()
    assert sys.getrefcount(other) == before
    # The registry alone holds it: once it is registered anew, the old one is gone.
    tvm_ffi.register_global_func(GLOBAL, len, override=True)
    assert sys.getrefcount(other) == before - 1


# ---- mistakes


def refused(provider: Packed, text: str = "", params: list[spec.Param] | None = None) -> str:
    module = new_module(text)
    before = str(module)
    with pytest.raises(BuildError) as raised:
        attach_ffi_func(module, "f", params or [n], provider)
    assert str(module) == before
    return str(raised.value)


@pytest.mark.parametrize(
    ("provider", "words"),
    [
        (Packed(), "expected either the name of a symbol or a global_function= but got None and None"),
        (Packed("a", global_function="b"), "expected either the name of a symbol or a global_function= but got 'a' and 'b'"),
        (Packed(""), "expected the callee's name, without '@', but got ''"),
        (Packed("@a"), "expected the callee's name, without '@', but got '@a'"),
        (Packed(3), "expected the callee's name, without '@', but got 3"),  # pyright: ignore
        (Packed("__tvm_ffi_a"), "give '__tvm_ffi_a' without the prefix '__tvm_ffi_'"),
        (Packed("f"), "@__tvm_ffi_f is the wrapper itself, which would never return"),
        *(
            (
                Packed(global_function=name),  # pyright: ignore
                f"global_function: expected a name such as 'my.function' but got {name!r}",
            )
            for name in ("", "a\0b", 3, "{}")
        ),
        (Packed("a", args=["q"]), "args= has 'q', which names no parameter or symbol of 'f'; it has n"),
        (Packed("a", args=[None]), "args= has None, a constant; only providers of C arguments pass those"),
        (Packed("a", args="n"), "args= is 'n'; expected a list, such as ['n']"),
    ],
)  # fmt: skip
def test_mistakes(provider: Packed, words: str) -> None:
    assert refused(provider) == f"PackedCallProvider: {words}"


X: Final = matrix("x", n)
IN_TWO: Final[list[spec.Param]] = [spec.TupleParam("a", [X]), spec.TupleParam("b", [X])]
OTHERS: Final[list[tuple[Packed, str, list[spec.Param], str]]] = [
    # provider, module, parameters, and how the error ends
    (Packed("a", args=[m]), "", [n], f"symbol 'm' ({m!r}) is not one of the signature: n"),
    (Packed("a"), "llvm.func @__tvm_ffi_a(i32) -> i32", [n], "symbol @__tvm_ffi_a is needed as !llvm.func<i32 (ptr, ptr, i32, ptr)> but the module has llvm.func of type !llvm.func<i32 (i32)>"),
    (Packed("a"), "func.func private @__tvm_ffi_a(i32)", [n], "but the module has func.func of type (i32) -> ()"),
    (Packed("a", args=[X]), "", IN_TWO, "could be each of a[0] and b[0]; give the parameters different names"),
]  # fmt: skip


@pytest.mark.parametrize(("provider", "text", "params", "words"), OTHERS)
def test_what_else_is_refused(
    provider: Packed, text: str, params: list[spec.Param], words: str
) -> None:
    assert refused(provider, text, params).endswith(words)


def test_it_is_not_attached_yet() -> None:
    """A declaration takes the name; the function itself must come first."""
    module = attached([n], Packed("later"))
    words = r"declares @__tvm_ffi_later already.*attach the callee before"
    with pytest.raises(BuildError, match=words):
        attach_ffi_func(module, "later", [n], NopCallProvider())


def test_what_did_not_come() -> None:
    class Asks:
        def __init__(self, param: spec.Param) -> None:
            self.param = param

        def __call__(self, current_block: Block, context: CallContext) -> Block:
            context.any(self.param)
            return current_block

    x = Tensor("x", [n], "float32", device_type="cuda")
    asked: list[tuple[spec.Param, str]] = [
        (EnvStream("e"), "EnvStream 'e' is not an argument, so there is no TVMFFIAny"),
        (m, f"{m!r} is not a parameter of this signature"),
        (String("z"), "String('z') is not a parameter of this signature"),
    ]
    for param, words in asked:
        with pytest.raises(BuildError) as raised:
            attached([n, x, EnvStream("e")], Asks(param))
        assert str(raised.value) == words


def test_composed_with_others() -> None:
    def provider(current_block: Block, context: CallContext) -> Block:
        context.status_wanted = True
        block = Packed("ffib_packed")(current_block, context)
        status = context.returned
        assert status is not None
        context.status_wanted = False
        block = DirectCallProvider("after", args=[])(block, context)
        b = context.builder
        with b.when(b.ne(status, b.i32(0)), cold=True):
            b.ret(status)
        return b.block

    seen = ctypes.c_int64()
    text = f"""
    llvm.func @after() {{
      %address = llvm.mlir.constant({ctypes.addressof(seen)} : i64) : i64
      %at = llvm.inttoptr %address : i64 to !llvm.ptr
      %old = llvm.load %at : !llvm.ptr -> i64
      %one = llvm.mlir.constant(1 : i64) : i64
      %new = llvm.add %old, %one : i64
      llvm.store %new, %at : i64, !llvm.ptr
      llvm.return
    }}
    """
    callee, function = packed_callee(), wrap([n], provider, text)
    callee.expect(status=-1)
    with pytest.raises(KeyError):
        function(1)
    assert seen.value == 1
    callee.expect()
    function(1)
    assert seen.value == 2
