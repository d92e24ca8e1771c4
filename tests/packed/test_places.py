"""The places in which call_packed inserts calls."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ffi_builder import (
    attach,
    call_packed,
    packed,
    providers,
    release_packed,
    runtime,
    spec,
)
from ffi_builder.ir import Block
from ffi_builder.ir.builder import Builder
from ffi_builder.ir.distribution import of_module
from ffi_builder.packed import GlobalFunction, Tensor
from ffi_builder.providers import CallContext, CheckStatus, DirectCallProvider, ModuleContext
from ffi_builder.runtime.codegen import allowlist_mlir
from tests.packed.conftest import Called
from tests.packed.kernels import GLOBAL, create, empty_kernel, function, refused, terminator
from tests.support.printed import check_comments, printed
from tests.support.wrapping import attached, new_module

CALLEE = GlobalFunction(GLOBAL)


def run(module: Any, signature: str, *args: Any) -> Any:
    wrapped = spec.Signature.parse(signature, device="cpu")
    attach(module, wrapped, CheckStatus(DirectCallProvider("k"), error=None))
    return runtime.compile(module)["k"](*args)


LOOP = """
llvm.func @k(%n: i64) -> i32 {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.br ^head(%zero : i64)
^head(%i: i64):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^body, ^done
^body:
  %next = llvm.add %i, %one : i64
  llvm.br ^head(%next : i64)
^done:
  llvm.return %ok : i32
}
"""


def test_in_a_loop(called: Called) -> None:
    module = new_module(LOOP)
    blocks = list(function(module).regions[0].blocks)
    index = blocks[1].arguments[0]
    add = blocks[2].operations[0]
    call_packed(add, CALLEE, ["before", index], result="int64")
    call_packed(add, CALLEE, ["after", index])
    called.returns(1)
    run(module, "k(n: int64)", 3)
    assert called.calls == [(w, i) for i in range(3) for w in ("before", "after")]


def test_stack_space_is_taken_once(called: Called) -> None:
    module = new_module(LOOP)
    blocks = list(function(module).regions[0].blocks)
    call_packed(blocks[2].operations[0], CALLEE, [blocks[1].arguments[0]])
    run(module, "k(n: int64)", 1_000_000 // 50)
    assert len(called.calls) == 20_000


def test_what_it_returns_is_used_by_what_follows(called: Called) -> None:
    module = new_module("""
    llvm.func @k(%x: !llvm.ptr, %n: i64) -> i32 {
      %ok = llvm.mlir.constant(0 : i32) : i32
      llvm.store %n, %x : i64, !llvm.ptr
      llvm.return %ok : i32
    }
    """)
    block = function(module).regions[0].blocks[0]
    store = block.operations[1]
    value = call_packed(store, CALLEE, [block.arguments[1]], result="int64").value
    store.operation.operands[0] = value
    called.answer = lambda args: args[0] * 10
    x = np.zeros(1, "int64")
    run(module, "k(x: Tensor([1], int64), n: int64)", x, 7)
    assert x[0] == 70


@pytest.mark.parametrize("how", ["operation", "view", "point", "begin"])
def test_before_an_operation(called: Called, how: str) -> None:
    module = new_module(empty_kernel(["i64"]))
    ir, end = of_module(module).ir, terminator(module)
    block = function(module).regions[0].blocks[0]
    where = {
        "operation": end,
        "view": end.opview,
        "point": ir.InsertionPoint(end),
        "begin": ir.InsertionPoint.at_block_begin(block),
    }[how]
    after: Any = call_packed(where, CALLEE, [block.arguments[0]]).block
    assert [op.operation.name for op in after.operations][-1] == "llvm.return"
    run(module, "k(n: int64)", 5)
    assert called.args == (5,)


@pytest.mark.parametrize("point", [False, True])
def test_at_the_end_of_a_block(called: Called, point: bool) -> None:
    """A function that is being built."""
    module = new_module("llvm.func @k(i64) -> i32")
    ir, declared = of_module(module).ir, function(module)
    number = ir.Type.parse("i64", module.context)
    location = ir.Location.unknown(module.context)
    block = declared.regions[0].blocks.append(number, arg_locs=[location])
    where = ir.InsertionPoint(block) if point else block
    call = call_packed(where, CALLEE, [block.arguments[0]], result="int32")
    again = call_packed(call.block, CALLEE, [call.value, "again"])
    end = ir.InsertionPoint(again.block)
    status = ir.Type.parse("i32", module.context)
    zero = ir.Operation.create("llvm.mlir.zero", [status], loc=location, ip=end).result
    ir.Operation.create("llvm.return", [], [zero], loc=location, ip=end)
    called.returns(8)
    run(module, "k(n: int64)", 5)
    assert called.calls == [(5,), (8, "again")]


def test_with_jaxlibs_bindings(called: Called) -> None:
    module = new_module(empty_kernel(["i64"]), "jaxlib.mlir")
    block = function(module).regions[0].blocks[0]
    call_packed(terminator(module), CALLEE, [block.arguments[0], "a str"], result="int64")
    called.returns(1)
    run(module, "k(n: int64)", 5)
    assert called.args == (5, "a str")


# ---- in a provider


class Asking(DirectCallProvider):
    """Asks a function first, whether the kernel is called."""

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        b = context.builder
        x = context.params[0]
        args = [packed.AnyValue(context.any(x)), "size", context.shape(x)[0]]
        allowed = call_packed(b, CALLEE, args, result="bool").value
        assert allowed is not None
        with b.when(allowed):
            super().__call__(b.block, context)
        return b.block


ONE = """
llvm.func @one(%x: !llvm.ptr) {
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.store %one, %x : i64, !llvm.ptr
  llvm.return
}
"""


def test_in_a_provider(called: Called) -> None:
    x = spec.Tensor("x", [spec.Var("n", "int64")], "int64", device_type="cpu")
    function_ = runtime.compile(attached([x], Asking("one"), ONE))["f"]
    given = np.zeros(3, "int64")
    for answer in (False, True):
        called.returns(answer)
        function_(given)
        assert given[0] == answer
    tensor, *others = called.calls[0]
    assert others == ["size", 3]
    assert np.from_dlpack(tensor).ctypes.data == given.ctypes.data
    called.returns(1)
    with pytest.raises(TypeError) as raised:
        function_(given)
    assert str(raised.value) == (
        f"A value of another kind than bool was returned by {GLOBAL}: int when calling: "
        f"`f(x: Tensor([n], int64))`"
    )


def test_in_a_function_that_a_provider_defines(called: Called) -> None:
    class Own:
        def prepare(self, context: ModuleContext) -> None:
            t = context.symbols.types
            b = context.define("own", t.i32, [t.i64])
            assert isinstance(b, Builder)
            call_packed(b, CALLEE, [b.entry.arguments[0], "in own"])
            b.ret(b.i32(0))

        def __call__(self, current_block: Block, context: CallContext) -> Block:
            b, (n,) = context.builder, context.params
            context.returned = b.call_value("own", [context.scalar(n)], b.types.i32)
            return b.block

    n = spec.Var("n", "int64")
    function_ = runtime.compile(attached([n], CheckStatus(Own(), error=None)))["f"]
    function_(4)
    assert called.args == (4, "in own")


def test_results_that_were_allocated_are_released(called: Called) -> None:
    """An error of a call in a provider goes the way of the wrapper's own errors."""

    def fails(*args: object) -> None:
        raise ValueError("no")

    class Fails(providers.NopCallProvider):
        forwards = True

        def __call__(self, current_block: Block, context: CallContext) -> Block:
            (y,) = context.signature.result_tensors
            b = context.builder
            call_packed(b, CALLEE, [Tensor(context.dltensor(y))])
            return b.block

    module = new_module()
    attach(
        module, spec.Signature.parse("f(n: int64) -> y: Tensor([n], uint8)", device="cpu"), Fails()
    )
    function_ = runtime.compile(module)["f"]
    with runtime.install_allocator():
        assert function_(5).shape == (5,)
        called.answer = fails
        for _ in range(200):
            with pytest.raises(ValueError, match="no"):
                function_(10_000_000)


# ---- re-entrancy


def test_a_function_that_calls_the_kernel_again(called: Called) -> None:
    module = new_module(empty_kernel(["i64", "!llvm.ptr"]))
    block, end = function(module).regions[0].blocks[0], terminator(module)
    n, out = block.arguments
    value = call_packed(end, CALLEE, [n, "a str of some length"], result="int64").value
    create(end, "llvm.store", [value, out])
    signature = spec.Signature.parse("k(n: int64, out: handle)")
    attach(module, signature, CheckStatus(DirectCallProvider("k"), error=None))
    kernel = runtime.compile(module)["k"]

    def factorial(n: int) -> int:
        memory = ctypes.c_int64()
        kernel(n, ctypes.c_void_p(ctypes.addressof(memory)))
        return memory.value

    called.answer = lambda args: args[0] * factorial(args[0] - 1) if args[0] > 1 else 1
    assert factorial(10) == 3628800


# ---- what is emitted


def test_the_ir() -> None:
    module = new_module(empty_kernel(["i64"]))
    block, end = function(module).regions[0].blocks[0], terminator(module)
    call_packed(end, GlobalFunction("my.log"), [block.arguments[0]])
    check_comments(printed(module))
    # CHECK: llvm.func @k(%arg0: i64) -> i32 {
    # CHECK: llvm.store %arg0, %{{[0-9]+}} : i64, !llvm.ptr
    # CHECK: [[SLOT:%[0-9]+]] = llvm.mlir.addressof @__ffi_builder_kept_[[NAME:[0-9a-f]+]] : !llvm.ptr
    # CHECK-NEXT: [[KNOWN:%[0-9]+]] = llvm.load [[SLOT]] atomic acquire
    # CHECK: llvm.cond_br %{{[0-9]+}} weights([2000, 1]), ^[[CALL:bb[0-9]+]]([[KNOWN]] : !llvm.ptr), ^[[FIND:bb[0-9]+]]
    # CHECK: ^[[CALL]]([[FUNCTION:%[0-9]+]]: !llvm.ptr):
    # CHECK-NEXT: llvm.call @TVMFFIFunctionCall([[FUNCTION]],
    # CHECK: llvm.return
    # CHECK: ^[[FIND]]:
    # CHECK: llvm.call @TVMFFIFunctionGetGlobal(
    # CHECK: llvm.cmpxchg [[SLOT]],
    # CHECK: llvm.mlir.global internal @__ffi_builder_kept_[[NAME]](
    # CHECK: llvm.mlir.global_dtors


def test_it_is_compiled_in_this_process() -> None:
    module = new_module(empty_kernel(["i64"]))
    n = function(module).regions[0].blocks[0].arguments[0]
    args = [n, packed.Unsigned(n), "a str of some length"]
    for callee in (GlobalFunction("a"), packed.ImportedFunction("b"), packed.Symbol("c")):
        end = terminator_of_all(module)
        value = call_packed(end, callee, args, result="object").value
        assert value is not None
        release_packed(end, value)
    assert allowlist_mlir.translation_hazard(module.operation) is None


def test_a_module_has_what_its_calls_need_once() -> None:
    module = new_module(empty_kernel([]))
    for _ in range(3):
        call_packed(terminator_of_all(module), GlobalFunction("my.log"), result="int64")
    text = str(module)
    assert text.count("llvm.mlir.global internal @__ffi_builder_kept_") == 1
    assert text.count("llvm.mlir.global_dtors") == 1
    assert text.count("llvm.func @__ffi_builder_shared_raise") == 1
    assert "diagnose" not in text
    assert module.operation.verify()


def terminator_of_all(module: Any) -> Any:
    """The operation that the kernel ended with at first."""
    for block in function(module).regions[0].blocks:
        last = list(block.operations)[-1].operation
        if last.name == "llvm.return" and "0 : i32" in str(last.operands[0].owner):
            return last
    raise AssertionError


# ---- mistakes


EMPTY = empty_kernel([])
TEXT_OF_FUNC = "func.func @k(%n: i64) -> i32 { %z = arith.constant 0 : i32\n return %z : i32 }"
BRANCH = """
llvm.func @k(%n: i1) -> i32 {
  %z = llvm.mlir.constant(0 : i32) : i32
  scf.if %n { %y = llvm.add %z, %z : i32 }
  llvm.return %z : i32
}
"""
NO_PLACE = "expected an operation, an insertion point, a block or a builder to insert at but got "
NOT_PLACES: list[tuple[str, Callable[[Any], Any], str]] = [
    *((EMPTY, lambda _, given=given: given, NO_PLACE) for given in (3, None, "block", object())),
    (EMPTY, lambda module: module, NO_PLACE),
    (TEXT_OF_FUNC, terminator, "the place is in func.func, not directly in an llvm.func; lower the module to the LLVM dialect first"),
    (BRANCH, lambda module: function(module).regions[0].blocks[0].operations[1].operation.regions[0].blocks[0].operations[0], "the place is in scf.if, not directly in an llvm.func"),
    (EMPTY, lambda module: function(module).regions[0].blocks[0], "the block ends already; give the operation before which to call, such as its last one"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "where", "words"), NOT_PLACES)
def test_what_is_no_place(text: str, where: Callable[[Any], Any], words: str) -> None:
    assert refused(text, where).startswith(f"call_packed: {words}")
