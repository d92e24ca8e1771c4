"""Constants are folded as MLIR's translation folds them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from ffi_builder import attach, ir, runtime, spec
from ffi_builder.ir import Block, CheckingBuilder
from ffi_builder.ir.types import PREDICATES
from ffi_builder.providers import CallContext
from tests.plain.comparing import symbols_of
from tests.support.wrapping import new_module

Emit = Callable[[CheckingBuilder, Callable[[Any], None]], None]
SIGNATURE = spec.Signature("f", [])


def compare(emit: Emit) -> None:
    """Compare what is stored, in both kinds of modules."""

    def provider(current_block: Block, context: CallContext) -> Block:
        b = context.builder
        emit(b, lambda value: b.store(value, context.raw_result))
        return b.block

    texts: list[str] = []
    for module in (new_module(), ir.PlainModule()):
        attach(module, SIGNATURE, provider)
        texts.append(symbols_of(runtime.llvm_ir(module))["__tvm_ffi_f"])
    assert texts[1] == texts[0]


BINARY = [
    "add",
    "sub",
    "mul",
    "sdiv",
    "udiv",
    "srem",
    "urem",
    "and",
    "or",
    "xor",
    "shl",
    "lshr",
    "ashr",
]


@pytest.mark.parametrize("bits", [1, 8, 32, 64])
def test_integers(bits: int):
    edges = sorted({0, 1, 2, 7, bits - 1, bits, 2**bits - 1, 2 ** (bits - 1), 2 ** (bits - 1) - 1})
    values = [value for value in edges if 0 <= value < 2**bits]

    def emit(b: CheckingBuilder, keep: Callable[[Any], None]) -> None:
        for one, other in itertools.product(values, repeat=2):
            left, right = b.constant(bits, one), b.constant(bits, other)
            for name in BINARY:
                keep(b.binary(name, left, right))
            for predicate in PREDICATES:
                keep(b.compare(predicate, left, right))
            keep(b.select(b.i1(one > other), left, right))
            keep(b.extract(b.pack([left, right]), 1, left.type))

    compare(emit)


def test_conversions():
    def emit(b: CheckingBuilder, keep: Callable[[Any], None]) -> None:
        t = b.types
        for value in (0, 1, 127, 128, 255):
            narrow = b.i8(value)
            for type_ in (t.i16, t.i32, t.i64):
                keep(b.zext(narrow, type_))
                keep(b.sext(narrow, type_))
            keep(b.trunc(narrow, t.i1))
            keep(b.cast("sitofp", narrow, t.f64))
            keep(b.cast("sitofp", narrow, t.scalar("float32")))
            keep(b.to_pointer(b.i64(value)))
            keep(b.to_int(b.to_pointer(b.i64(value))))
            keep(b.bitcast(b.i64(value << 56), t.f64))
            keep(b.bitcast(b.i32(value << 24), t.scalar("float32")))
        keep(b.to_int(b.null()))
        keep(b.undef(t.i64))
        keep(b.undef(t.struct([t.i64, t.ptr])))
        keep(b.zero(t.struct([t.i64, t.ptr])))
        keep(b.extract(b.zero(t.struct([t.i64, t.ptr])), 1, t.ptr))

    compare(emit)


@pytest.mark.parametrize("text", ["0.0", "-0.0", "1.5", "0.1", "1.0e300", "-2.5e-310"])
def test_floats(text: str):
    def emit(b: CheckingBuilder, keep: Callable[[Any], None]) -> None:
        t = b.types

        def number(type_: str) -> Any:
            attributes = {"value": t.attribute(f"{text} : {type_}")}
            return b.value("llvm.mlir.constant", (), t.parse(type_), attributes)

        double = number("f64")
        keep(double)
        keep(b.zero(t.f64))
        for predicate in ("oeq", "olt", "uno"):
            keep(b.float_compare(predicate, double, b.zero(t.f64)))
        keep(b.same_float(double, double))
        if abs(float(text)) < 1e38:
            for type_ in ("f32", "f16", "bf16"):
                keep(number(type_))
                keep(b.cast("fpext", number(type_), t.f64))

    compare(emit)


def test_addresses():
    def emit(b: CheckingBuilder, keep: Callable[[Any], None]) -> None:
        t, symbols = b.types, b.symbols
        symbols.declare("free", t.void, [t.ptr])
        weak = {"linkage": t.attribute("#llvm.linkage<extern_weak>")}
        symbols.declare("may_be_missing", t.void, [], weak)
        data = b.address_of(symbols.variable("data", bytes(16)))
        for symbol in ("free", "may_be_missing"):
            keep(b.address_of(symbol))
            keep(b.is_null(b.address_of(symbol)))
            keep(b.ne(b.address_of(symbol), b.null()))
        for pointer in (data, b.null(), b.address_of("free")):
            for offset in (-8, 8, 16, 17):
                moved = b.offset(pointer, offset)
                keep(moved)
                keep(b.offset(moved, 8))
                keep(b.offset(moved, -offset))
            keep(b.element(pointer, b.i64(3), "i32"))
            keep(b.element(pointer, b.i32(-1), "i64"))
            keep(b.element(pointer, b.i64(0)))
            keep(b.to_int(pointer))
        keep(b.is_null(data))
        keep(b.load(t.i64, b.offset(data, 8)))

    compare(emit)
