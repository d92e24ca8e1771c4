"""The builder's operations, executed: a function of two ints whose body a test emits."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ffi_builder.errors import BuildError
from ffi_builder.ir import Block, CheckingBuilder, Value
from ffi_builder.providers import CallContext
from ffi_builder.spec import Var
from tests.support.printed import check_comments, printed
from tests.support.wrapping import attached, wrap

X, Y = Var("x", "int64"), Var("y", "int64")
Emit = Callable[[CheckingBuilder, Value, Value], Value]


class Returns:
    """Returns the i64 that a function emits."""

    def __init__(self, emit: Emit) -> None:
        self.emit = emit

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        b = context.builder
        value = self.emit(b, context.value(X), context.value(Y))
        b.store(b.i32(1), context.raw_result)
        b.store(value, b.offset(context.raw_result, 8))
        return b.block


def run(emit: Emit, *pairs: tuple[int, int]) -> list[int]:
    function = wrap([X, Y], Returns(emit))
    return [function(x, y) for x, y in pairs]


ARITHMETIC: dict[str, tuple[Emit, list[int]]] = {
    "add": (lambda b, x, y: b.add(x, y), [10, -4]),
    "sub": (lambda b, x, y: b.sub(x, y), [4, -10]),
    "mul": (lambda b, x, y: b.mul(x, y), [21, -21]),
    "sdiv": (lambda b, x, y: b.sdiv(x, y), [2, -2]),
    "udiv": (lambda b, x, y: b.udiv(x, y), [2, (2**64 - 7) // 3]),
    "srem": (lambda b, x, y: b.srem(x, y), [1, -1]),
    "urem": (lambda b, x, y: b.urem(x, y), [1, (2**64 - 7) % 3]),
    "and": (lambda b, x, y: b.and_(x, y), [3, 1]),
    "or": (lambda b, x, y: b.or_(x, y), [7, -5]),
    "xor": (lambda b, x, y: b.xor(x, y), [4, -6]),
    "shl": (lambda b, x, y: b.shl(x, y), [56, -56]),
    "lshr": (lambda b, x, y: b.lshr(x, y), [0, 2**61 - 1]),
    "ashr": (lambda b, x, y: b.ashr(x, y), [0, -1]),
}


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic(name: str) -> None:
    emit, expected = ARITHMETIC[name]
    assert run(emit, (7, 3), (-7, 3)) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("eq", [0, 1, 0]),
        ("ne", [1, 0, 1]),
        ("slt", [1, 0, 0]),
        ("sle", [1, 1, 0]),
        ("sgt", [0, 0, 1]),
        ("sge", [0, 1, 1]),
        ("ult", [0, 0, 1]),
        ("ule", [0, 1, 1]),
        ("ugt", [1, 0, 0]),
        ("uge", [1, 1, 0]),
    ],
)
def test_comparisons(name: str, expected: list[int]) -> None:
    def emit(b: CheckingBuilder, x: Value, y: Value) -> Value:
        return b.zext(getattr(b, name)(x, y), b.types.i64)

    assert run(emit, (-1, 2), (5, 5), (3, -3)) == expected


def test_overflow() -> None:
    def emit(b: CheckingBuilder, x: Value, y: Value) -> Value:
        result, overflow = b.with_overflow("smul", x, y)
        return b.select(overflow, b.i64(-1), result)

    assert run(emit, (6, 7), (2**62, 2), (2**62, -2)) == [42, -1, -(2**63)]


def test_floats() -> None:
    def emit(b: CheckingBuilder, x: Value, y: Value) -> Value:
        one, other = (b.bitcast(value, b.types.f64) for value in (x, y))
        same = b.zext(b.same_float(one, other), b.types.i64)
        less = b.zext(b.float_compare("olt", one, other), b.types.i64)
        return b.or_(same, b.shl(less, b.i64(1)))

    nan, one, zero, negative = 0x7FF8 << 48, 0x3FF0 << 48, 0, -(2**63)
    pairs = [(nan, nan + 1), (nan, one), (one, one), (zero, negative), (zero, one)]
    assert run(emit, *pairs) == [1, 0, 1, 1, 2]


def test_constants_of_every_width_signed_and_unsigned() -> None:
    def emit(b: CheckingBuilder, x: Value, y: Value) -> Value:
        t = b.types
        narrow = b.add(b.sext(b.i8(255), t.i64), b.sext(b.i8(-128), t.i64))
        wide = b.add(b.sext(b.i32(2**31), t.i64), b.i64(2**64 - 1))
        return b.add(b.add(narrow, wide), b.zext(b.i1(True), t.i64))

    assert run(emit, (0, 0)) == [-1 - 128 - 2**31 - 1 + 1]


def test_memory_and_aggregates() -> None:
    def emit(b: CheckingBuilder, x: Value, y: Value) -> Value:
        t = b.types
        space = b.alloca(t.i64, 4)
        b.store(x, space)
        b.store(y, b.offset(space, 8))
        b.store(b.i64(100), b.element(space, b.i64(2), "i64"))
        pair = b.pack([b.field(t.i64, space, 0), b.trunc(b.field(t.i64, space, 8), t.i32)])
        total = b.add(b.extract(pair, 0, t.i64), b.sext(b.extract(pair, 1, t.i32), t.i64))
        unaligned = b.load(t.i64, b.offset(space, 16), align=1)
        again = b.to_int(b.to_pointer(total))
        return b.add(unaligned, again)

    assert run(emit, (1, -2), (50, 7)) == [99, 157]


def test_calls_through_a_pointer() -> None:
    text = """llvm.func @twice(%x: i64) -> i64 {
      %0 = llvm.add %x, %x : i64
      llvm.return %0 : i64
    }"""

    def emit(b: CheckingBuilder, x: Value, y: Value) -> Value:
        value = b.call_pointer(b.address_of("twice"), [x], b.types.i64)
        assert value is not None
        return b.add(value, b.call_value("twice", [y], b.types.i64))

    assert wrap([X, Y], Returns(emit), text)(4, 5) == 18


def test_when() -> None:
    def emit(b: CheckingBuilder, x: Value, y: Value) -> Value:
        place = b.alloca(b.types.i64)
        b.store(b.i64(0), place)
        with b.when(b.sgt(x, b.i64(0))):
            b.store(b.i64(1), place)
            with b.when(b.sgt(y, b.i64(0)), cold=True):
                b.store(b.i64(2), place)
        return b.load(b.types.i64, place)

    assert run(emit, (0, 5), (1, 0), (1, 1)) == [0, 1, 2]


def test_a_body_that_leaves() -> None:
    def emit(b: CheckingBuilder, x: Value, y: Value) -> Value:
        with b.when(b.slt(x, b.i64(0))):
            b.ret(b.i32(0))
        return x

    assert run(emit, (3, 0), (-3, 0)) == [3, None]


def test_loop() -> None:
    def emit(b: CheckingBuilder, x: Value, y: Value) -> Value:
        total = b.alloca(b.types.i64)
        b.store(b.i64(0), total)
        with b.loop(x) as index, b.loop(y) as inner:
            term = b.add(b.mul(index, b.i64(10)), inner)
            b.store(b.add(b.load(b.types.i64, total), term), total)
        return b.load(b.types.i64, total)

    assert run(emit, (3, 2), (0, 9), (-4, 1)) == [63, 0, 0]


def test_a_loop_whose_body_leaves_is_refused() -> None:
    def emit(b: CheckingBuilder, x: Value, y: Value) -> Value:
        with b.loop(x):
            b.ret(b.i32(0))
        return x

    with pytest.raises(BuildError, match="the body of a loop must not terminate its block itself"):
        attached([X, Y], Returns(emit))


def test_switch() -> None:
    def emit(b: CheckingBuilder, x: Value, y: Value) -> Value:
        done = b.new_block(b.types.i64)
        blocks = {number: b.new_block(cold=True) for number in (1, 5, -3)}
        default = b.new_block(cold=True)
        b.switch(b.trunc(x, b.types.i32), default, blocks)
        for number, block in blocks.items():
            b.block = block
            b.br(done, b.i64(number * 100))
        b.block = default
        b.br(done, y)
        b.block = done
        return done.arguments[0]

    assert run(emit, (1, 0), (5, 0), (-3, 0), (2, 77)) == [100, 500, -300, 77]


def test_stack_space_is_taken_in_the_entry_block() -> None:
    def emit(b: CheckingBuilder, x: Value, y: Value) -> Value:
        with b.when(b.sgt(x, y)):
            b.store(x, b.alloca(b.types.i64, 3, align=32))
        return x

    check_comments(printed(attached([X, Y], Returns(emit))))
    # CHECK: llvm.func @__tvm_ffi_f
    # CHECK-NEXT: [[COUNT:%[0-9]+]] = llvm.mlir.constant(3 : i32) : i32
    # CHECK-NEXT: [[SPACE:%[0-9]+]] = llvm.alloca [[COUNT]] x i64 {alignment = 32 : i64} : (i32) -> !llvm.ptr
    # CHECK: ^bb
    # CHECK: llvm.store %{{.*}}, [[SPACE]] : i64, !llvm.ptr


def test_cold_blocks_come_last() -> None:
    def emit(b: CheckingBuilder, x: Value, y: Value) -> Value:
        cold = b.new_block(cold=True)
        b.require(b.ne(x, y), cold)
        here = b.block
        b.block = cold
        b.call("cold", [], b.types.void)
        b.ret(b.i32(0))
        b.block = here
        return x

    check_comments(printed(attached([X, Y], Returns(emit), "llvm.func @cold()")))
    # CHECK: llvm.func @__tvm_ffi_f
    # CHECK: llvm.return
    # CHECK: llvm.call tail @__ffi_builder_shared_diagnose_DIGEST
    # CHECK: llvm.call @cold()
    # CHECK-NEXT: llvm.mlir.constant
    # CHECK-NEXT: llvm.return
    # CHECK-NEXT: }
