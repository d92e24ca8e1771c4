"""Errors of the builder for operands that are not MLIR's objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ffi_builder import BuildError, attach_ffi_func
from ffi_builder.ir import Block, CheckingBuilder
from ffi_builder.providers import CallContext, CheckStatus, NopCallProvider
from ffi_builder.spec import Tensor, dims
from tests.support.wrapping import new_module

(n,) = dims("n")
X = Tensor("x", [n], "float32", device_type="cpu")
Mistake = Callable[[Any, CallContext], object]


class Makes:
    """A provider that makes a mistake."""

    def __init__(self, mistake: Mistake) -> None:
        self.mistake = mistake

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        self.mistake(context.builder, context)
        return context.builder.block


MISTAKES: list[tuple[Mistake, str]] = [
    (
        lambda b, c: b.add(c.value(n), 3),
        "llvm.add: operand 1: expected a value (an ir.Value) but got 3; builder.i64(3) makes one",
    ),
    (
        lambda b, c: b.or_(c.value(n), True),
        "llvm.or: operand 1: expected a value (an ir.Value) but got True; builder.i1(True) makes",
    ),
    (
        lambda b, c: b.mul(n, b.i64(3)),
        "llvm.mul: expected a value (an ir.Value) but got Var('n', 'int64'); a call provider asks "
        "its context for the values",
    ),
    (
        lambda b, c: b.select(b.i1(True), 1, 2),
        "llvm.select: expected a value (an ir.Value) but got 1; builder.i64(1)",
    ),
    (
        lambda b, c: b.store("words", c.data(X)),
        "llvm.store: operand 0: expected a value (an ir.Value) but got 'words'; "
        "builder.text_constant(bytes)",
    ),
    (
        lambda b, c: b.call("k", [X], b.types.void),
        "llvm.call: operand 0: expected a value (an ir.Value) but got Tensor('x', ",
    ),
    (
        lambda b, c: b.call("k", c.data(X), b.types.void),
        "llvm.call: operands: expected a list of values but got <",
    ),
    (
        lambda b, c: b.call("k", [c.data(X)], None),
        "llvm.call: result: expected a type (an ir.Type) but got None; builder.types.void is the",
    ),
    (
        lambda b, c: b.load("i64", c.data(X)),
        "llvm.load: result: expected a type (an ir.Type) but got 'i64'; builder.types.parse('i64')",
    ),
    (
        lambda b, c: b.br("x"),
        "llvm.br: expected a block to go to, such as builder.new_block() makes, but got 'x'",
    ),
    (
        lambda b, c: b.op("llvm.load", [c.data(X)], [b.types.i8], {"alignment": 4}),
        "llvm.load: attribute 'alignment': expected an ir.Attribute, such as "
        "builder.types.attribute(text) makes, but got 4",
    ),
    (
        lambda b, c: b.op("llvm.add", b.i64(1), [b.types.i64]),
        "llvm.add: operands: expected a list but got <",
    ),
    (
        lambda b, c: b.op("llvm.add", [b.i64(1), b.i64(2)], b.types.i64),
        "llvm.add: results: expected a list but got ",
    ),
    (lambda b, c: b.op("llvm.br", successors=5), "llvm.br: successors: expected a list but got 5"),
    (
        lambda b, c: b.op("llvm.add", attributes=[1]),
        "llvm.add: attributes: expected a dict of them but got [1]",
    ),
    (lambda b, c: b.call(None, [], b.types.void), "symbol: expected a str but got None"),
    (lambda b, c: b.address_of(5), "symbol: expected a str but got 5"),
    (lambda b, c: b.types.parse([]), "type: expected a str but got []"),
    (lambda b, c: b.types.scalar([]), "dtype: expected one of int8, "),
    (lambda b, c: b.compare([], c.value(n), c.value(n)), "llvm.icmp: expected eq, ne, "),
    (lambda b, c: (b.i64(1), b.i64(1.0)), "i64: expected an int but got 1.0"),
    (lambda b, c: b.op(7), "operation: expected a name, such as 'llvm.add', but got 7"),
    (
        lambda b, c: b.field(b.types.i64, c.data(X), c.value(n)),
        "; builder.element(pointer, index) adds a value",
    ),
    (lambda b, c: b.i64("3"), "i64: expected an int but got '3'"),
    (lambda b, c: b.i32(1.5), "i32: expected an int but got 1.5"),
    (lambda b, c: b.i8(256), "an i8 cannot be 256"),
    (
        lambda b, c: b.compare("lt", c.value(n), c.value(n)),
        "llvm.icmp: expected eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge but got 'lt'",
    ),
    (lambda b, c: b.types.parse("i33x"), "'i33x' is not a type: "),
    (lambda b, c: b.types.scalar("int33"), "dtype: expected one of int8, int16, "),
    (
        lambda b, c: b.op("llvm.nonsense"),
        "the wrapper has 'llvm.nonsense', which is not an operation of the LLVM dialect",
    ),
    (lambda b, c: b.op("nonsense.op"), "unregistered dialect"),
    (lambda b, c: b.add(c.value(n), c.data(X)), "the wrapper does not verify: "),
]


@pytest.mark.parametrize(("mistake", "words"), MISTAKES, ids=[words[:40] for _, words in MISTAKES])
def test_mistakes_of_providers(mistake: Mistake, words: str) -> None:
    module = new_module()
    before = str(module)
    with pytest.raises(BuildError) as caught:
        attach_ffi_func(module, "f", [X], Makes(mistake))
    assert words in str(caught.value)
    assert str(module) == before


class Subclass(CheckStatus):
    """A subclass of this package's provider, with an operation of its own."""

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        context.builder.op("llvm.nonsense")
        return context.builder.block


def test_a_subclass_of_our_own_is_not_trusted() -> None:
    with pytest.raises(
        BuildError, match=r"'llvm.nonsense', which is not an operation of the LLVM dialect"
    ):
        attach_ffi_func(new_module(), "f", [X], Subclass(NopCallProvider()))


def test_what_is_right_passes() -> None:
    def right(b: CheckingBuilder, context: CallContext) -> None:
        b.symbols.declare("k", b.types.void, [value.type for value in b.entry.arguments])
        b.call("k", b.entry.arguments, b.types.void)
        value = b.select(b.i1(True), b.add(context.value(n), b.i64(3)), b.i64(-1))
        b.store(value, b.alloca(b.types.parse("i64")))
        b.op("llvm.freeze", [value], [b.types.i64])
        b.op("llvm.intr.assume", [b.i1(True)], attributes={"op_bundle_sizes": b.types.i32_array()})

    attach_ffi_func(new_module(), "f", [X], Makes(right))
