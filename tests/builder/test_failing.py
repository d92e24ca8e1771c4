"""Providers that fail leave the module as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ffi_builder import attach_ffi_func
from ffi_builder.errors import BuildError
from ffi_builder.ir import Block
from ffi_builder.ir.distribution import named
from ffi_builder.providers import CallContext, ModuleContext
from ffi_builder.spec import Var
from tests.builder.samples import EVERY_KIND
from tests.support.printed import symbol_names
from tests.support.wrapping import new_module

TEXT = """
  llvm.func @own(%a: i32) { llvm.return }
  llvm.mlir.global internal @state(7 : i64) : i64
  func.func private @other()"""


class Provider:
    """Does what it is told."""

    def __init__(
        self,
        emit: Callable[[CallContext], Any] = lambda context: context.builder.block,
        prepare: Callable[[ModuleContext], None] = lambda context: None,
    ) -> None:
        self._emit = emit
        self._prepare = prepare

    def prepare(self, context: ModuleContext) -> None:
        self._prepare(context)

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        return self._emit(context)


def fails(distribution: str, provider: Provider, error: type[Exception] = BuildError) -> str:
    """The words of the error; the module is then as it was, and can be attached to."""
    module = new_module(TEXT, distribution)
    before = str(module)
    with pytest.raises(error) as raised:
        attach_ffi_func(module, "f", EVERY_KIND, provider)
    assert str(module) == before
    assert module.operation.verify()
    attach_ffi_func(module, "f", EVERY_KIND, Provider())
    after = str(module)
    with pytest.raises(error):
        attach_ffi_func(module, "g", EVERY_KIND, provider)
    assert str(module) == after
    assert module.operation.verify()
    return str(raised.value)


def declare(context: CallContext | ModuleContext) -> None:
    """Add something of every kind."""
    symbols, t = context.symbols, context.symbols.types
    symbols.declare("mine", t.i32, [t.ptr])
    symbols.text(b"my words")
    symbols.constant("my_data", b"123", align=16)
    symbols.function("my_function", t.void, [t.i64], body=False)


def test_prepare_raises(distribution: str) -> None:
    def prepare(context: ModuleContext) -> None:
        declare(context)
        raise ZeroDivisionError("in prepare")

    assert fails(distribution, Provider(prepare=prepare), ZeroDivisionError) == "in prepare"


def test_the_call_raises(distribution: str) -> None:
    def emit(context: CallContext) -> Block:
        declare(context)
        context.builder.alloca(context.builder.types.i64)
        context.builder.check(context.builder.i1(True), "ValueError", "no")
        raise KeyError("in call")

    assert fails(distribution, Provider(emit), KeyError) == "'in call'"


def test_even_an_interrupt() -> None:
    def emit(context: CallContext) -> Block:
        raise KeyboardInterrupt

    module = new_module(TEXT)
    before = str(module)
    with pytest.raises(KeyboardInterrupt):
        attach_ffi_func(module, "f", EVERY_KIND, Provider(emit))
    assert str(module) == before


def test_invalid_operations(distribution: str) -> None:
    def emit(context: CallContext) -> Block:
        b = context.builder
        b.binary("add", b.i32(1), b.i64(2))
        return b.block

    words = fails(distribution, Provider(emit))
    assert words.startswith("the wrapper does not verify: ")
    assert "'llvm.add' op requires" in words


def test_a_block_that_ends(distribution: str) -> None:
    def emit(context: CallContext) -> Block:
        context.builder.ret(context.builder.i32(0))
        return context.builder.block

    assert "Provider returned a block that already ends" in fails(distribution, Provider(emit))


def test_a_symbol_that_is_not_there(distribution: str) -> None:
    def emit(context: CallContext) -> Block:
        context.builder.call("nowhere", [], context.builder.types.void)
        return context.builder.block

    words = fails(distribution, Provider(emit))
    assert words == "the wrapper calls @nowhere, which the module does not declare"


def test_a_symbol_that_is_not_there_in_the_entry_block(distribution: str) -> None:
    def emit(context: CallContext) -> Block:
        b = context.builder
        ir = named(distribution).ir
        with ir.InsertionPoint.at_block_begin(context.entry_block), b.location:
            attributes = {
                "callee": b.types.attribute("@nowhere"),
                "operandSegmentSizes": b.types.attribute("array<i32: 0, 0>"),
                "op_bundle_sizes": b.types.attribute("array<i32>"),
            }
            ir.Operation.create("llvm.call", attributes=attributes)
        return b.block

    words = fails(distribution, Provider(emit))
    assert words == "the wrapper calls @nowhere, which the module does not declare"


def test_the_address_of_what_is_not_there(distribution: str) -> None:
    def emit(context: CallContext) -> Block:
        context.builder.address_of("nowhere")
        return context.builder.block

    assert fails(distribution, Provider(emit)) == (
        "the wrapper takes the address of @nowhere, which the module does not have"
    )


def test_a_call_with_other_types(distribution: str) -> None:
    def emit(context: CallContext) -> Block:
        b = context.builder
        b.call("own", [b.i64(1)], b.types.i32)
        return b.block

    assert fails(distribution, Provider(emit)) == (
        "the wrapper calls @own with (i64) -> i32, but it is (i32) -> !llvm.void"
    )


@pytest.mark.parametrize("name", ["other", "state"])
def test_a_call_of_what_is_no_llvm_function(distribution: str, name: str) -> None:
    def emit(context: CallContext) -> Block:
        context.builder.call(name, [], context.builder.types.void)
        return context.builder.block

    assert f"the wrapper calls @{name}, which is " in fails(distribution, Provider(emit))


def test_a_function_of_the_provider_calls_what_is_not_there(distribution: str) -> None:
    def prepare(context: ModuleContext) -> None:
        from ffi_builder.ir.builder import Builder

        symbols, t = context.symbols, context.symbols.types
        function = symbols.function("helper", t.void, [], body=True)
        block = function.regions[0].blocks[0]
        b = Builder(symbols, function, block, symbols.location)
        b.call("nowhere", [], t.void)
        b.ret()

    assert "calls @nowhere" in fails(distribution, Provider(prepare=prepare))


@pytest.mark.parametrize("returned", [None, 3, "block"])
def test_no_block(distribution: str, returned: Any) -> None:
    words = fails(distribution, Provider(lambda _: returned))
    assert words == (
        f"Provider returned {returned!r}; a call provider returns the block in which the wrapper "
        f"continues"
    )


def test_a_declaration_of_another_type(distribution: str) -> None:
    def prepare(context: ModuleContext) -> None:
        declare(context)
        t = context.symbols.types
        context.symbols.declare("own", t.void, [t.i64])

    words = fails(distribution, Provider(prepare=prepare))
    assert "symbol @own is needed as !llvm.func<void (i64)> but the module has llvm.func" in words


@pytest.mark.parametrize("name", ["own", "other", "state"])
def test_a_second_definition(distribution: str, name: str) -> None:
    def prepare(context: ModuleContext) -> None:
        declare(context)
        context.symbols.function(name, context.symbols.types.void, [], body=True)

    words = fails(distribution, Provider(prepare=prepare))
    assert words.startswith(f"the module has a symbol @{name} already: ")


def test_a_wrapper_that_the_provider_defines_itself(distribution: str) -> None:
    def prepare(context: ModuleContext) -> None:
        for name in ("__tvm_ffi_f", "__tvm_ffi_g"):
            if context.symbols.find(name) is None:
                context.symbols.function(name, context.symbols.types.void, [])

    assert "already: llvm.func" in fails(distribution, Provider(prepare=prepare))


@pytest.mark.parametrize(
    ("kind", "words", "count", "expected"),
    [
        ("OSError", "no", 0, "check: expected one of RuntimeError, ValueError, TypeError"),
        ("ValueError", "no {}", 0, "check: 'no {}' has 1 places for values, but 0 values"),
        ("ValueError", "no", 2, "check: 'no' has 0 places for values, but 2 values"),
    ],
)
def test_checks_that_make_no_sense(kind: str, words: str, count: int, expected: str) -> None:
    def emit(context: CallContext) -> Block:
        b = context.builder
        b.check(b.i1(True), kind, words, *[b.i32(0)] * count)
        return b.block

    assert fails("torch_mlir", Provider(emit)).startswith(expected)


def test_a_failure_that_makes_no_sense() -> None:
    def emit(context: CallContext) -> Block:
        b = context.builder
        with b.when(b.i1(True)):
            b.fail("ValueError", "no {}")
        return b.block

    expected = "fail: 'no {}' has 1 places for values, but 0 values are given"
    assert fails("torch_mlir", Provider(emit)) == expected


def test_a_symbol_of_another_signature(distribution: str) -> None:
    def emit(context: CallContext) -> Block:
        context.value(Var("zz", "int64"))
        return context.builder.block

    assert "symbol 'zz'" in fails(distribution, Provider(emit))


NATIVE = """
  llvm.mlir.global_ctors ctors = [], priorities = [], data = []
  llvm.func @native(%a: i64) { llvm.return }"""


def add_natively(context: ModuleContext | CallContext, distribution: str) -> None:
    """Add operations by the bindings' own means, one of them without a name."""
    ir = named(distribution).ir
    source = ir.Module.parse(f"module {{ {NATIVE} }}", context.module.context)
    for operation in source.body.operations:
        context.module.body.append(operation.operation.clone())


def call_natively(context: CallContext) -> Block:
    b = context.builder
    b.call("native", [b.i64(3)], b.types.void)
    return b.block


def test_what_was_added_by_other_means_can_be_called(distribution: str) -> None:
    module = new_module(TEXT, distribution)
    provider = Provider(call_natively, lambda context: add_natively(context, distribution))
    attach_ffi_func(module, "f", EVERY_KIND, provider)
    assert module.operation.verify()
    assert "native" in symbol_names(module)


def test_what_was_added_by_other_means_is_taken_out_too(distribution: str) -> None:
    def emit(context: CallContext) -> Block:
        call_natively(context)
        raise ZeroDivisionError

    def prepare(context: ModuleContext) -> None:
        add_natively(context, distribution)

    fails(distribution, Provider(emit, prepare), ZeroDivisionError)


def test_what_was_added_in_the_call_by_other_means(distribution: str) -> None:
    def emit(context: CallContext) -> Block:
        add_natively(context, distribution)
        return call_natively(context)

    module = new_module(TEXT, distribution)
    attach_ffi_func(module, "f", EVERY_KIND, Provider(emit))
    assert module.operation.verify()
