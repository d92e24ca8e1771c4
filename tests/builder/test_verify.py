"""Operations that a provider of one's own emits are verified: its calls, addresses, operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ffi_builder import attach_ffi_func
from ffi_builder.errors import BuildError
from ffi_builder.ir import Block
from ffi_builder.ir.distribution import named
from ffi_builder.providers import CallContext
from ffi_builder.spec import Param, Var
from tests.support.wrapping import new_module

TEXT = "llvm.func @own(%a: i32) { llvm.return }"
NATIVE = """
  llvm.func @nowhere()
  llvm.func @native() { llvm.return }
  llvm.func @caller() { llvm.call @nowhere() : () -> () llvm.return }"""


class Provider:
    """Does what it is told."""

    def __init__(self, emit: Callable[[CallContext], object]) -> None:
        self._emit = emit

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        self._emit(context)
        return context.builder.block


def attached(emit: Callable[[CallContext], object], *params: Param) -> Any:
    """A module in which a provider did that."""
    module = new_module(TEXT)
    attach_ffi_func(module, "f", params, Provider(emit))
    assert module.operation.verify()
    return module


def call(context: CallContext, *bits: int, result: str = "!llvm.void") -> None:
    b = context.builder
    values = [b.i64(1) if width == 64 else b.i32(1) for width in bits]
    b.call("own", values, b.types.parse(result))


@pytest.mark.parametrize(
    ("bits", "result", "given"),
    [
        ((64,), "!llvm.void", "(i64) -> !llvm.void"),
        ((32,), "i32", "(i32) -> i32"),
        ((32, 32), "!llvm.void", "(i32, i32) -> !llvm.void"),
        ((), "!llvm.void", "() -> !llvm.void"),
    ],
)
def test_a_call_that_differs_in_one_thing(bits: tuple[int, ...], result: str, given: str) -> None:
    with pytest.raises(BuildError) as raised:
        attached(lambda context: call(context, *bits, result=result))
    assert str(raised.value) == (
        f"the wrapper calls @own with {given}, but it is (i32) -> !llvm.void"
    )


def test_a_call_as_the_function_is_declared() -> None:
    assert "llvm.call @own(" in str(attached(lambda context: call(context, 32)))


def test_a_call_through_a_pointer() -> None:
    def emit(context: CallContext) -> None:
        b = context.builder
        b.call_pointer(b.address_of("own"), [b.i32(1)], b.types.void)

    assert "llvm.call %" in str(attached(emit))


def test_operations_of_other_dialects() -> None:
    """They are for whoever lowers the module next."""

    def emit(context: CallContext) -> None:
        context.module.context.allow_unregistered_dialects = True
        context.builder.op("own_dialect.mark")

    assert "own_dialect.mark" in str(attached(emit))


def add(context: CallContext, name: str) -> None:
    """Add a function by the bindings' own means."""
    ir = named("torch_mlir").ir
    source = ir.Module.parse(f"module {{ {NATIVE} }}", context.module.context)
    for operation in source.body.operations:
        if operation.operation.attributes["sym_name"].value == name:
            context.module.body.append(operation.operation.clone())


@pytest.mark.parametrize("params", [[], [Var("n", "int64")]])
def test_what_was_added_by_other_means_is_found(params: list[Param]) -> None:
    def emit(context: CallContext) -> None:
        add(context, "native")
        context.builder.call("native", [], context.builder.types.void)

    assert "llvm.call @native()" in str(attached(emit, *params))


def test_what_was_added_by_other_means_is_verified() -> None:
    with pytest.raises(BuildError, match=r"(?s)the wrapper does not verify: .*nowhere"):
        attached(lambda context: add(context, "caller"))
