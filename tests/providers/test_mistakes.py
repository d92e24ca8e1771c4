"""Mistakes of providers and their authors are errors when the wrapper is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ffi_builder import attach, attach_ffi_func
from ffi_builder.errors import BuildError, SpecError
from ffi_builder.ir import Block
from ffi_builder.providers import (
    CallContext,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    NopCallProvider,
)
from ffi_builder.spec import EnvStream, Optional, Shape, Signature, String, Tensor, TupleParam, Var
from tests.support.wrapping import new_module, wrap

n = Var("n", "int64")
X = Tensor("x", [n, None], "float32", device_type="cpu")
S = Shape("s", [n])
ALPHA = Var("alpha", "float32")
ANY = Tensor("any", ..., "float32", device_type="cpu")
MAYBE = Optional(String("label"))
STATUS = """
llvm.func @packed(%params: !llvm.ptr) -> i32 {
  %first = llvm.load %params : !llvm.ptr -> !llvm.ptr
  %status = llvm.load %first : !llvm.ptr -> i32
  llvm.return %status : i32
}
"""


class Asking:
    """A provider that asks one thing of its context."""

    def __init__(self, ask: Callable[[CallContext], object]) -> None:
        self.ask = ask

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        self.ask(context)
        return current_block


ASKED: list[tuple[Callable[[Any], object], str]] = [
    (lambda c: c.value(None), "expected a Var, an expression or an int but got None"),
    (lambda c: c.value("n"), "expected a Var, an expression or an int but got 'n'"),
    (lambda c: c.value(True), "expected a Var, an expression or an int but got True"),
    (lambda c: c.value(Var("q", "int64")), "symbol 'q' .* is not one of the signature: n, alpha"),
    (lambda c: c.value(2**70), "an i64 cannot be 1180591620717411303424"),
    (lambda c: c.data(S), "Shape 's' is not a Tensor"),
    (lambda c: c.device_id(S), "Shape 's' is not a Tensor"),
    (lambda c: c.shape(S), "Shape 's' is not a Tensor"),
    (lambda c: c.strides(ALPHA), "Var 'alpha' is not a Tensor"),
    (lambda c: c.scalar(X), "Tensor 'x' is not a parameter of one value"),
    (lambda c: c.scalar(EnvStream("e")), r"EnvStream\('e'\) is not a parameter"),
    (lambda c: c.builder.i8(300), "an i8 cannot be 300"),
    (lambda c: c.text(X), "Tensor 'x' is not a str or bytes"),
    (lambda c: c.text(ALPHA), "Var 'alpha' is not a str or bytes"),
    (lambda c: c.entries(X), "Tensor 'x' is not a Shape"),
    (lambda c: c.ndim(ALPHA), "Var 'alpha' is not a Tensor"),
    (lambda c: c.dltensor(S), "Shape 's' is not a Tensor"),
    (lambda c: c.dtype(MAYBE), "Optional 'label' is not a Tensor"),
    (lambda c: c.scalar(MAYBE), "Optional 'label' is not a parameter of one value"),
    (lambda c: c.shape(ANY), r"'any' may have any number of dimensions; context.dltensor\(…\)"),
    (lambda c: c.strides(ANY), r"'any' may have any number of dimensions; .* and context.ndim"),
    (lambda c: c.present(Tensor("z", ..., "int8", device_type="cpu")), "is not a parameter of"),
    (lambda c: c.may_be_absent(String("label2")), r"String\('label2'\) is not a parameter of"),
]  # fmt: skip


@pytest.mark.parametrize(("ask", "words"), ASKED)
def test_asking_for_what_is_not_there(ask: Callable[[Any], object], words: str) -> None:
    module = new_module()
    before = str(module)
    with pytest.raises(BuildError, match=words):
        attach_ffi_func(module, "f", [X, S, ALPHA, ANY, MAYBE], Asking(ask))
    assert str(module) == before


@pytest.mark.parametrize(
    ("provider", "words"),
    [
        (DirectCallProvider("k", args="xs"), r"args= is 'xs'; expected a list, such as \['xs'\]"),
        (DirectCallProvider("k", args=["q"]), "args= has 'q', which names no parameter or symbol"),
        (DirectCallProvider("k", args=["q * 2"]), r"args= has 'q \* 2': there is no symbol 'q', but"),
        (DirectCallProvider("k", args=[str(2**64 - 1)]), "args= has '18446744073709551615', which"),
        (DirectCallProvider("k", args=["n *"]), r"args= has 'n \*': expected an int, a symbol or"),
        (DirectCallProvider("k", args=["s.data"]), "but s is a Shape, which has no parts"),
        (DirectCallProvider(""), "expected the callee's name, without '@', but got ''"),
        (DirectCallProvider("@k"), "expected the callee's name, without '@', but got '@k'"),
        (DirectCallProvider(3), "expected the callee's name, without '@', but got 3"),  # pyright: ignore
        ("kernel", r"but got 'kernel': say how it is called, as in DirectCallProvider\('kernel'\)"),
        (NopCallProvider, "but got <class .*>, a class: create an instance"),
    ],
)  # fmt: skip
def test_providers_that_cannot_be(provider: Any, words: str) -> None:
    with pytest.raises(BuildError, match=words):
        attach_ffi_func(new_module(), "f", [X, S], provider)


F = Signature("f", [n])
NOP = NopCallProvider()
YES, NO = (DynamicParamPackCallProvider("packed", returns_status=each) for each in (True, False))
PLACES: list[tuple[Callable[[], object], str]] = [
    (lambda: attach(new_module(), [n], NOP), r"as in attach\(module, signature, call_prov.*but got \["),  # pyright: ignore
    (lambda: attach_ffi_func(new_module(), "f", F, NOP), r"attach\(module, signature, .*\) takes a Signature"),  # pyright: ignore
    (lambda: attach_ffi_func(new_module(), F, [n], NOP), r"attach\(module, signature, .*\) takes a Signature"),  # pyright: ignore
    (lambda: attach("module {}", F, NOP), r"but got text: parse it, as torch_mlir.*attach in a hook"),  # pyright: ignore
    (lambda: attach(F, F, NOP), r"expected an ir.Module .* but got Signature"),  # pyright: ignore
    (lambda: attach_ffi_func(new_module(), "__tvm_ffi_f", [], NOP), "give '__tvm_ffi_f' without the prefix '__tvm_ffi_'"),
    (lambda: attach_ffi_func(new_module(STATUS), "f", [ALPHA], NO), "returns_status=False, but the callee @packed in the module returns i32"),
    (lambda: attach_ffi_func(new_module("llvm.func @packed(!llvm.ptr)"), "f", [ALPHA], YES), "returns_status=True, but the callee @packed in the module returns nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("use", "words"), PLACES)
def test_arguments_of_attach_out_of_place(use: Callable[[], object], words: str) -> None:
    with pytest.raises(BuildError, match=words):
        use()


def test_a_callee_that_is_declared_with_a_status() -> None:
    module = new_module()
    attach_ffi_func(module, "f", [ALPHA], YES)
    assert "llvm.func @packed(!llvm.ptr) -> i32" in str(module)


def test_elements_of_tuples_by_their_path() -> None:
    text = """
    llvm.func @k(%b: i32, %a: i32) -> i32 {
      %status = llvm.sub %b, %a : i32
      llvm.return %status : i32
    }
    """
    a, b = Var("a", "int32"), Var("b", "int32")
    provider = DirectCallProvider("k", args=["cfg[1]", "cfg[0]"])
    wrap([TupleParam("cfg", [a, b])], provider, text)((1, 2))


@pytest.mark.parametrize("given", [[n], None, "f(n: int64)"])
def test_no_signature(given: Any) -> None:
    from ffi_builder import explain, testing
    from ffi_builder.plan import make_plan

    for use in (explain, make_plan, testing.check):
        with pytest.raises(SpecError, match="expected a Signature but got"):
            use(given)


def test_structs_within_the_struct_of_a_tensor() -> None:
    """A subclass may give any first-class value."""

    class Nested(DynamicParamPackCallProvider):
        def tensor_members(self, context: CallContext, tensor: Tensor) -> list[Any]:
            shape = context.builder.pack(context.shape(tensor, wide=True))
            return [context.data(tensor), shape]

    text = """
    llvm.func @packed(%params: !llvm.ptr) -> i32 {
      %first = llvm.load %params : !llvm.ptr -> !llvm.ptr
      %at = llvm.getelementptr %first[16] : (!llvm.ptr) -> !llvm.ptr, i8
      %second = llvm.load %at : !llvm.ptr -> i64
      %status = llvm.trunc %second : i64 to i32
      llvm.return %status : i32
    }
    """
    import numpy as np

    function = wrap([X], Nested("packed"), text)
    with pytest.raises(RuntimeError, match="failed with status 7"):
        function(np.zeros((5, 7), "float32"))


@pytest.mark.slow
def test_a_shape_with_too_many_entries() -> None:
    with pytest.raises(BuildError, match="cannot look at more than 65535 dimensions or entries"):
        attach_ffi_func(new_module(), "f", [Shape("s", [1] * 65537)], NopCallProvider())


def test_helpers_that_were_taken_out_come_back() -> None:
    module = new_module()
    scalar = Tensor("x", [], "float32", device_type="cpu")
    attach_ffi_func(module, "f", [scalar], NopCallProvider())
    for operation in list(module.body.operations):
        if "numel_fits" in str(operation.operation.attributes["sym_name"]):
            operation.operation.erase()
    attach_ffi_func(module, "g", [X], NopCallProvider())
    assert module.operation.verify()
