"""`return_asserts`: failed asserts of kernels as statuses."""

from __future__ import annotations

import ctypes
import re
from typing import Any

import pytest

from ffi_builder import attach, return_asserts, runtime
from ffi_builder.errors import BuildError
from ffi_builder.ir import Symbols, Types
from ffi_builder.ir.builder import Builder
from ffi_builder.ir.distribution import of_module
from ffi_builder.providers import CheckStatus, DirectCallProvider
from ffi_builder.spec import Signature
from tests.support.wrapping import new_module

PASSES = "builtin.module(convert-to-llvm,reconcile-unrealized-casts)"
MESSAGE = """
llvm.func @abort()
llvm.func @puts(!llvm.ptr)
llvm.mlir.global private constant @message("too {small}\\00")
"""
CHECKED = """
llvm.func @f(%x: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %fits = llvm.icmp "sgt" %x, %zero : i64
  llvm.cond_br %fits, ^next, ^failed
^next:
  llvm.return
^failed:
  %message = llvm.mlir.addressof @message : !llvm.ptr
  llvm.call @puts(%message) : (!llvm.ptr) -> ()
  llvm.call @abort() : () -> ()
  llvm.unreachable
}"""


def called(
    module: Any, *args: object, name: str = "f", callee: str = "f", pipeline: Any = None
) -> Any:
    """Attach a function of int64 arguments to a kernel whose asserts are returned, and call it."""
    names = ", ".join(f"x{index}: int64" for index in range(len(args)))

    def hook(lowered: Any) -> None:
        errors = return_asserts(lowered, callee)
        signature = Signature.parse(f"{name}({names})")
        attach(lowered, signature, CheckStatus(DirectCallProvider(callee), errors=errors))

    return runtime.compile(module, pipeline=pipeline, post_compile_hooks=[hook])[name](*args)


def kernel(body: str) -> str:
    """A kernel of two indices that asserts."""
    return f"func.func @f(%x: i64, %y: i64) {{\n{body}\nreturn\n}}"


SMALLER = """
%c = arith.cmpi slt, %x, %y : i64
cf.assert %c, "x < y {}, or {x}"
cf.assert %c, "again"
%d = arith.cmpi sgt, %x, %y : i64
cf.assert %d, "never here"
"""


def test_a_failed_assert_is_an_error_with_its_message() -> None:
    words = "x < y { }, or {x} when calling: `f(x0: int64, x1: int64)`"
    with pytest.raises(RuntimeError, match=re.escape(words)):
        called(kernel(SMALLER), 3, 2, pipeline=PASSES)
    with pytest.raises(RuntimeError, match=r"^never here when calling: "):
        called(kernel(SMALLER), 1, 2, pipeline=PASSES)


def test_asserts_that_hold_change_nothing() -> None:
    first, _, _ = SMALLER.partition('cf.assert %c, "again"')
    assert called(kernel(first), 1, 2, pipeline=PASSES) is None


def test_equal_messages_have_one_status(distribution: str) -> None:
    second = CHECKED.replace("@f", "@g").replace(
        "llvm.cond_br %fits, ^next,", "llvm.cond_br %fits, ^other,"
    )
    again = """^other:
      llvm.cond_br %fits, ^next, ^failed_too
    ^failed_too:
      %also = llvm.mlir.addressof @message : !llvm.ptr
      llvm.call @puts(%also) : (!llvm.ptr) -> ()
      llvm.call @abort() : () -> ()
      llvm.unreachable
    ^next:"""
    module = new_module(MESSAGE + CHECKED + second.replace("^next:", again, 1), distribution)
    expected = {1: ("RuntimeError", "too {{small}}")}
    assert return_asserts(module, "f") == expected
    assert return_asserts(module, "g") == expected
    assert module.operation.verify()
    assert "@abort()" not in str(module).replace("llvm.func @abort()", "")


def test_a_kernel_without_asserts_returns_0(distribution: str) -> None:
    module = new_module("llvm.func @f() { llvm.return }", distribution)
    assert return_asserts(module, "f") == {}
    assert module.operation.verify()
    assert "llvm.func @f() -> i32" in str(module)


def test_an_abort_without_a_message(distribution: str) -> None:
    text = re.sub(r".*(addressof|call @puts).*\n", "", MESSAGE + CHECKED)
    module = new_module(text, distribution)
    assert return_asserts(module, "f") == {1: ("RuntimeError", "an assert of {callee} failed")}
    signature = Signature.parse("f(x: int64)")
    if distribution == "torch_mlir":
        with pytest.raises(RuntimeError, match=r"^an assert of f failed when calling: "):
            called(text, -1)
    else:
        attach(module, signature, CheckStatus(DirectCallProvider("f")))
        assert module.operation.verify()


def test_what_mlir_writes_above_and_below_is_left_out() -> None:
    text = "ERROR: Runtime op verification failed\\0A^ size mismatch\\0ALocation: loc(unknown)"
    body = f'%c = arith.cmpi slt, %x, %y : i64\ncf.assert %c, "{text}"'
    with pytest.raises(RuntimeError, match=r"^size mismatch; Location: loc\(unknown\) when"):
        called(kernel(body), 2, 1, pipeline=PASSES)


# ---- memory

HEAP = """
func.func private @malloc(i64) -> !llvm.ptr
func.func private @free(!llvm.ptr)
func.func @f(%x: i64, %where: i64, %other: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : index
  %start = arith.constant 0 : index
  %times = arith.constant 100 : index
  %fits = arith.cmpi sgt, %x, %zero : i64
  %foreign = llvm.inttoptr %other : i64 to !llvm.ptr
  %size = arith.constant 100000 : i64
  %first = func.call @malloc(%size) : (i64) -> !llvm.ptr
  %second = func.call @malloc(%size) : (i64) -> !llvm.ptr
  scf.for %i = %start to %times step %one {
    %in_loop = func.call @malloc(%size) : (i64) -> !llvm.ptr
    llvm.store %x, %in_loop : i64, !llvm.ptr
    func.call @free(%in_loop) : (!llvm.ptr) -> ()
  }
  func.call @free(%first) : (!llvm.ptr) -> ()
  %third = func.call @malloc(%size) : (i64) -> !llvm.ptr
  llvm.store %x, %third : i64, !llvm.ptr
  llvm.store %x, %second : i64, !llvm.ptr
  %cell = llvm.inttoptr %where : i64 to !llvm.ptr
  %address = llvm.ptrtoint %third : !llvm.ptr to i64
  llvm.store %address, %cell : i64, !llvm.ptr
  cf.assert %fits, "x must be positive"
  func.call @free(%foreign) : (!llvm.ptr) -> ()
  func.call @free(%third) : (!llvm.ptr) -> ()
  func.call @free(%second) : (!llvm.ptr) -> ()
  return
}"""


def test_a_failed_call_frees_what_it_has_allocated_until_then() -> None:
    """The allocator is one of this test, which knows what is live."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    live: set[int] = set()

    @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int64)
    def allocate(size: int) -> int:
        made = libc.malloc(size)
        live.add(made)
        return made

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def free(pointer: int | None) -> None:
        live.remove(pointer or 0)
        libc.free(pointer)

    foreign = allocate(8)
    cell = ctypes.c_int64(0)
    pipeline = PASSES.replace("(convert-to", "(convert-scf-to-cf,convert-to")

    def call(x: int) -> None:
        def hook(lowered: Any) -> None:
            errors = return_asserts(lowered, "f")
            signature = Signature.parse("f(x: int64, where: int64, other: int64)")
            attach(lowered, signature, CheckStatus(DirectCallProvider("f"), errors=errors))
            _use(lowered, malloc=allocate, free=free)

        compiled = runtime.compile(HEAP, pipeline=pipeline, post_compile_hooks=[hook])
        compiled["f"](x, ctypes.addressof(cell), foreign)

    with pytest.raises(RuntimeError, match=r"^x must be positive when calling: "):
        call(-1)
    assert live == {foreign}
    assert cell.value % 16 == 0
    call(1)
    assert live == set()


def _use(module: Any, **functions: Any) -> None:
    """Let the helpers of a module call these functions, by their addresses."""
    types = Types(of_module(module).ir, module.context)
    table = types.ir.SymbolTable(module.operation)
    for name, function in functions.items():
        declared = table[name].operation
        type_ = str(declared.attributes["function_type"])
        declared.erase()
        symbols = Symbols(types, module, types.ir.Location.unknown(module.context))
        result = types.ptr if name == "malloc" else types.void
        parameter = types.i64 if name == "malloc" else types.ptr
        internal = {"linkage": types.attribute("#llvm.linkage<internal>")}
        made = symbols.function(name, result, [parameter], internal, body=True)
        assert str(made.attributes["function_type"]) == type_
        b = Builder(symbols, made, made.regions[0].blocks[0], symbols.location)
        address = ctypes.cast(function, ctypes.c_void_p).value or 0
        pointer = b.value("llvm.inttoptr", [b.i64(address)], types.ptr)
        returned = b.call_pointer(pointer, list(b.entry.arguments), result)
        b.ret(*([] if returned is None else [returned]))


# ---- mistakes

WRONG = {
    "no such function": (
        "llvm.func @g() { llvm.return }",
        "the module has no function 'f'; it has g",
    ),
    "not lowered": (
        "func.func @f() { return }",
        "@f is func.func of type () -> (); expected an llvm.func with a body: call return_asserts "
        "after the passes that lower to LLVM, as in a hook of runtime.compile",
    ),
    "a declaration": (
        "llvm.func @f()",
        "@f is llvm.func of type !llvm.func<void ()>; expected an llvm.func with a body: call "
        "return_asserts after the passes that lower to LLVM, as in a hook of runtime.compile",
    ),
    "returns a value": (
        "llvm.func @f(%x: i64) -> i64 { llvm.return %x : i64 }",
        "@f returns i64, and cannot return a status as well: let it write its result to an "
        "argument, as MLIR's pass buffer-results-to-out-params{modify-public-functions=1} does for "
        "memrefs",
    ),
    "called": (
        "llvm.func @f() { llvm.return }\nllvm.func @g() { llvm.call @f() : () -> () llvm.return }",
        "@g calls @f, which would return a status that it does not expect: give @g as the callee, "
        "and inline @f",
    ),
    "attached": (
        "llvm.func @f() { llvm.return }\n"
        "llvm.func @__tvm_ffi_g() { llvm.call @f() : () -> () llvm.return }",
        "@__tvm_ffi_g calls @f, which would return a status that it does not expect: call "
        "return_asserts before attach",
    ),
    "asserts elsewhere": (
        f"{MESSAGE}{CHECKED.replace('@f', '@inner')}"
        "llvm.func @between(%x: i64) { llvm.call @inner(%x) : (i64) -> () llvm.return }\n"
        "llvm.func @f(%x: i64) { llvm.call @between(%x) : (i64) -> () llvm.return }",
        "@f calls @inner, which has asserts: inline it before lowering, by MLIR's pass inline",
    ),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_mistakes(mistake: str) -> None:
    text, words = WRONG[mistake]
    module = new_module(text)
    before = str(module)
    with pytest.raises(BuildError, match=f"^{re.escape(words)}$"):
        return_asserts(module, "f")
    assert str(module) == before
