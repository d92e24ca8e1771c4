"""What plain modules refuse, and how they say so; nothing is left in the module then."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

import pytest

from ffi_builder import BuildError, CompileError, attach, call_packed, ir, packed, runtime, spec
from ffi_builder.ir import Block, CheckingBuilder, PlainModule
from ffi_builder.ir.builder import Builder
from ffi_builder.providers import CallContext, DirectCallProvider, NopCallProvider

X = spec.Var("x", "int64")
SIGNATURE = spec.Signature("f", [X])
Mistake = Callable[[CheckingBuilder, Any], object]


class Makes:
    """A provider that makes a mistake with the value of x."""

    def __init__(self, mistake: Mistake) -> None:
        self.mistake = mistake

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        self.mistake(context.builder, context.value(X))
        return context.builder.block


def no_terminator(b: CheckingBuilder, x: Any) -> None:
    b.cond_br(b.i1(True), b.new_block(), b.new_block())
    b.block = b.new_block()


def terminated_twice(b: CheckingBuilder, x: Any) -> None:
    following = b.new_block()
    b.br(following)
    b.br(following)
    b.block = following


def of_another_function(b: CheckingBuilder, x: Any) -> None:
    other = Builder.define(b.symbols, "other", b.types.i64, [b.types.i64])
    other.ret(other.add(other.entry.arguments[0], x))


def wrong_call(b: CheckingBuilder, x: Any) -> None:
    b.symbols.declare("free", b.types.void, [b.types.ptr])
    b.call("free", [x], b.types.void)


def flags(b: CheckingBuilder, x: Any) -> None:
    b.value("llvm.add", (x, x), b.types.i64, {"overflowFlags": b.types.attribute("nsw")})


def unlikely(b: CheckingBuilder, x: Any) -> None:
    attributes = {
        **b.types.of_branch(0, 0, likely=False),
        "branch_weights": b.types.i32_array(1, 9),
    }
    blocks = b.new_block(), b.new_block()
    b.op("llvm.cond_br", (b.i1(True),), (), attributes, blocks)


def declare(attribute: str, text: str) -> Mistake:
    def mistake(b: CheckingBuilder, x: Any) -> None:
        attributes = {attribute: b.types.attribute(text)}
        b.symbols.declare("g", b.types.void, [b.types.i64], attributes)

    return mistake


INTEGERS = "llvm.add: takes two integers of one type, and returns that type, but got "
MISTAKES: list[tuple[Mistake, str]] = [
    (lambda b, x: b.add(x, b.i32(1)), INTEGERS + "(i64, i32) -> i64"),
    (lambda b, x: b.value("llvm.add", (x, x), b.types.i32), INTEGERS + "(i64, i64) -> i32"),
    (lambda b, x: b.add(b.null(), b.null()), INTEGERS + "(!llvm.ptr, !llvm.ptr) -> !llvm.ptr"),
    (lambda b, x: b.value("llvm.add", (x,), b.types.i64), "llvm.add: takes other operands"),
    (
        lambda b, x: b.add(x, cast("Any", 3)),
        "llvm.add: operand 1: expected a value (an ir.Value) but got 3",
    ),
    (lambda b, x: b.eq(x, b.null()), "llvm.icmp: takes two integers or two pointers of one type"),
    (lambda b, x: b.float_compare("oeq", x, x), "llvm.fcmp: takes two floats of one type"),
    (lambda b, x: b.select(x, x, x), "llvm.select: takes an i1 and two values of one type"),
    (lambda b, x: b.trunc(x, b.types.i64), "llvm.trunc: takes one value that LLVM can trunc"),
    (lambda b, x: b.zext(x, b.types.i32), "llvm.zext: takes one value that LLVM can zext"),
    (lambda b, x: b.bitcast(x, b.types.ptr), "llvm.bitcast: takes one value that LLVM can bitcast"),
    (lambda b, x: b.with_overflow("smul", x, b.i32(1)), "llvm.intr.smul.with.overflow: takes two"),
    (lambda b, x: b.extract(b.pack([x, x]), 2, b.types.i64), "has no member 2"),
    (lambda b, x: b.extract(b.pack([x]), 0, b.types.i32), "llvm.extractvalue: takes a struct, and"),
    (lambda b, x: b.insert(b.pack([x]), b.i32(1), 0), "llvm.insertvalue: takes a struct and a"),
    (lambda b, x: b.load(b.types.i64, x), "llvm.load: takes a pointer, and returns a value, but"),
    (lambda b, x: b.load(b.types.void, b.null()), "llvm.load: takes a pointer, and returns a"),
    (lambda b, x: b.store(b.null(), x), "llvm.store: takes a value and a pointer, but got"),
    (lambda b, x: b.offset(x, 8), "llvm.getelementptr: takes a pointer and integers, and returns"),
    (lambda b, x: b.alloca_here(b.types.i8, b.null()), "llvm.alloca: takes an integer, and"),
    (lambda b, x: b.call_pointer(x, [], b.types.void), "llvm.call: takes a pointer to call, and"),
    (lambda b, x: b.ret(x), "llvm.return: takes one value of type i32, but got (i64) -> nothing"),
    (lambda b, x: b.br(b.new_block(b.types.i64)), "llvm.br: the block takes (i64) but gets ()"),
    (lambda b, x: b.cond_br(x, b.new_block(), b.new_block()), "llvm.cond_br: takes an i1 and the"),
    (lambda b, x: b.op("llvm.icmp", (x, x), (b.types.i1,)), "llvm.icmp: lacks the attribute 'pred"),
    (lambda b, x: b.op("llvm.frobnicate"), "llvm.frobnicate: plain modules have no such operation"),
    (lambda b, x: b.op("arith.addi", (x, x), (b.types.i64,)), "arith.addi: plain modules have no"),
    (lambda b, x: b.op("llvm.mlir.constant", (), (b.types.ptr,), b.types.of_constant(8, 1)), "ptr"),
    (
        lambda b, x: b.types.parse("vector<4xf32>"),
        "'vector<4xf32>' is not a type: expected iN, f16",
    ),
    (flags, "llvm.add: the attribute 'overflowFlags' is not known to plain modules"),
    (unlikely, "llvm.cond_br: plain modules know only the branch weights (2000, 1)"),
    (no_terminator, "the wrapper does not verify: a block ends without a terminator, after []"),
    (terminated_twice, "the wrapper does not verify: llvm.br is not at the end of its block"),
    (of_another_function, "is a value of another function"),
    (
        lambda b, x: b.call("g", [x], b.types.void),
        "the wrapper calls @g, which the module does not",
    ),
    (wrong_call, "the wrapper calls @free with (i64) -> !llvm.void, but it is (!llvm.ptr) -> "),
    (declare("linkage", "#llvm.linkage<odd>"), "llvm.func: unknown linkage odd"),
    (declare("CConv", "#llvm.cconv<odd>"), "llvm.func: unknown calling convention odd"),
    (declare("CConv", "ccc"), "llvm.func: expected #llvm.cconv<…> but got ccc"),
    (declare("odd", "unit"), "llvm.func: the attribute 'odd' is not known to plain modules"),
    (declare("arg_attrs", "[{llvm.odd}]"), "unknown attribute 'llvm.odd' of a parameter"),
    (declare("arg_attrs", "[{}, {}]"), "2 attributes of parameters are given for 1"),
]


@pytest.mark.parametrize(("mistake", "words"), MISTAKES, ids=[words for _, words in MISTAKES])
def test_mistakes_of_providers(mistake: Mistake, words: str):
    module = PlainModule()
    module.declare("kernel", "void", ["i64"])
    before = module.llvm_ir()
    with pytest.raises(BuildError, match=re.escape(words)):
        attach(module, SIGNATURE, Makes(mistake))
    assert module.llvm_ir() == before


def test_a_use_before_the_definition_is_told_by_the_compiler():
    def mistake(b: CheckingBuilder, x: Any) -> None:
        here, following = b.block, b.new_block()
        b.block = following
        later = b.add(x, x)
        b.block = here
        b.add(later, later)
        b.br(following)
        b.block = following

    module = PlainModule()
    attach(module, SIGNATURE, Makes(mistake))
    with pytest.raises(CompileError, match="Instruction does not dominate all uses"):
        runtime.compile(module)


@pytest.mark.parametrize("name", ["", "a\0b", 3, None, b"k"])
def test_what_is_not_a_symbol(name: Any):
    with pytest.raises(BuildError, match="declare: expected the name of a symbol but got"):
        PlainModule().declare(name, "void", [])


@pytest.mark.parametrize("type_", ["int", "void*", "!llvm.ptr<", "i0", "struct<(int)>", 3, None])
def test_what_is_not_a_type(type_: Any):
    with pytest.raises(BuildError, match="declare: @k: "):
        PlainModule().declare("k", "void", [type_])
    with pytest.raises(BuildError, match="declare: @k: "):
        PlainModule().declare("k", type_, [])


def test_a_name_that_is_taken():
    module = PlainModule()
    module.declare("k", "void", [])
    with pytest.raises(BuildError, match="the module has a symbol @k already"):
        module.declare("k", "void", [])
    attach(module, SIGNATURE, NopCallProvider())
    with pytest.raises(BuildError, match="the module has a symbol @__tvm_ffi_f already"):
        attach(module, SIGNATURE, NopCallProvider())
    with pytest.raises(BuildError, match="the callee @k takes"):
        attach(module, spec.Signature("g", [X]), DirectCallProvider("k"))


def test_names_that_have_to_be_quoted():
    module = PlainModule()
    module.declare('a "b"\n', "ptr<1>", ["struct<(i64, array<2 x f32>)>", "bf16"])
    declared = 'declare ptr addrspace(1) @"a \\22b\\22\\0A"({ i64, [2 x float] }, bfloat)'
    assert module.llvm_ir() == declared
    assert runtime.lower(module).object


def test_places_in_functions_are_those_of_mlir():
    module = PlainModule()
    attach(module, SIGNATURE, NopCallProvider())
    [function] = [op for op in module.body.operations if op.regions and op.regions[0].blocks]
    block = function.regions[0].blocks[0]
    for place in (block, block.operations[0], function):
        with pytest.raises(BuildError, match="calls can be placed in functions of MLIR modules al"):
            call_packed(place, packed.Symbol("f"), [])


def test_passes_are_those_of_mlir():
    with pytest.raises(TypeError, match=r"pipeline= needs an MLIR module, but got .*PlainModule"):
        runtime.compile(ir.PlainModule(), pipeline="builtin.module()")
