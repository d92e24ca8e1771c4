"""The machine that runs the diagnosis: one function, and the raising of errors.

In C::

    int32_t diagnose(const TVMFFIAny* args, int32_t num_args, const char* table);    always -1
    int32_t raise(const char* kind, int64_t, const char* message, int64_t,
                  const char* backtrace, int64_t);                                   always -1

``diagnose`` runs the program of :mod:`ffi_builder.diagnosis.library`, whose instructions are those
of :mod:`ffi_builder.diagnosis.instructions`. The program reads the table of the wrapper
(:mod:`ffi_builder.diagnosis.table`): it starts over from the first argument, in the declared order,
whatever order the fast path checked in, and raises the first error it finds.

Every module carries the machine, and MLIR needs more than a microsecond to read an operation. So
the machine has few operations, and everything else is in the program. Blocks in which several
instructions end are emitted once, and so are constants.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ffi_builder import abi
from ffi_builder.builder.helpers.define import define, shared_name
from ffi_builder.diagnosis.instructions import (
    BINARY,
    COMPARISONS,
    IMMEDIATE,
    LOADS,
    OVERFLOWING,
    Instruction,
)
from ffi_builder.diagnosis.library import library
from ffi_builder.diagnosis.program import Global
from ffi_builder.diagnosis.table import SCRATCH_SIZE
from ffi_builder.ir import Block, Builder, Symbols, Value

CREATE, SET_RAISED, DEC_REF = "TVMFFIErrorCreate", "TVMFFIErrorSetRaised", "TVMFFIObjectDecRef"
GET_TYPE_INFO: Final = "TVMFFIGetTypeInfo"


def define_machine(symbols: Symbols) -> None:
    """Add the machine, its code and words to a module."""
    t = symbols.types
    declare_raising(symbols)
    symbols.declare(GET_TYPE_INFO, t.ptr, [t.i32])
    symbols.declare("strtod", t.f64, [t.ptr, t.ptr])
    symbols.constant(shared_name("library"), library().data)
    define(symbols, "diagnose", t.i32, [t.ptr, t.i32, t.ptr], _diagnose)


def define_raise(symbols: Symbols) -> None:
    """Add the function that raises the errors of call providers."""
    t = symbols.types
    declare_raising(symbols)
    define(symbols, "raise", t.i32, [t.ptr, t.i64] * 3, _raise)


def declare_raising(symbols: Symbols) -> None:
    """Declare the functions of tvm-ffi that raise an error."""
    t = symbols.types
    symbols.declare(CREATE, t.i32, [t.ptr] * 4)
    symbols.declare(SET_RAISED, t.void, [t.ptr])
    symbols.declare(DEC_REF, t.i32, [t.ptr])


def _raise(b: Builder, *texts: Value) -> None:
    error = b.alloca(b.types.ptr)
    arrays = [_byte_array(b, *texts[index : index + 2]) for index in (0, 2, 4)]
    end = b.new_block()
    _raise_error(b, arrays, error, end)
    b.block = end
    b.ret(b.i32(-1))


def _byte_array(b: Builder, data: Value, length: Value) -> Value:
    space = b.alloca(b.types.i64, 2)
    b.store(data, space)
    b.store(length, b.offset(space, abi.BYTE_ARRAY_LENGTH))
    return space


def _raise_error(b: Builder, arrays: list[Value], error: Value, end: Block) -> None:
    """Raise, from the addresses of the ``TVMFFIByteArray`` kind, message and backtrace.

    The stack is not walked: that costs a first error hundreds of milliseconds. ``error`` is where
    the error may be put.
    """
    t = b.types
    status = b.call_value(CREATE, [*arrays, error], t.i32)
    made = b.new_block()
    b.cond_br(b.eq(status, b.i32(0)), made, end)
    b.block = made
    created = b.load(t.ptr, error)
    b.call(SET_RAISED, [created], t.void)
    # Raising took a reference of its own.
    b.call(DEC_REF, [created], t.i32)
    b.br(end)


def _diagnose(b: Builder, args: Value, count: Value, table: Value) -> None:
    """The registers, and all memory that the program works with, are as large as the table says."""
    t = b.types
    size = b.zext(b.load(t.i32, table, align=1), t.i64)
    registers = b.alloca_here(t.i8, size, align=8)
    volatile = {"isVolatile": t.attribute("false")}
    b.op("llvm.intr.memset", (registers, b.i8(0), size), attributes=volatile)
    code = b.address_of(shared_name("library"))
    found = {
        Global.FRAME: registers,
        Global.ARGS: args,
        Global.COUNT: b.sext(count, t.i64),
        Global.TABLE: table,
        Global.CODE: code,
    }
    for register, value in found.items():
        b.store(value, b.offset(registers, 8 * register))
    _Machine(b, registers, code).emit(b.offset(code, library().entry))


def _llvm(op: Instruction) -> str:
    """LLVM's name of an arithmetic instruction or a comparison."""
    return op.name.lower()


class _Machine:
    """Emits fetch, decode, and for each instruction its block, of few two."""

    def __init__(self, b: Builder, registers: Value, code: Value) -> None:
        self.b = b
        t = self.t = b.types
        self.registers = registers
        self.code = code
        self.byte, self.wide = b.i32(0xFF), b.i64(SCRATCH_SIZE)
        self.sixteen, self.last = b.i32(16), b.i32(24)
        self.head = b.new_block(t.ptr)
        self.result = b.new_block(t.i64, t.ptr)
        """Puts a value into register a, and goes on at the address."""
        self.flag = b.new_block(t.i1)
        self.integer = b.new_block(t.i32)
        self.checked = b.new_block(t.i64, t.i1)
        self.jump = b.new_block(t.i32)
        """Goes to the position that the low half says."""
        self.end = b.new_block()

    def emit(self, entry: Value) -> None:
        b, t = self.b, self.t
        b.br(self.head, entry)
        b.block = self.head
        here = self.head.arguments[0]
        word = b.load(t.i32, here, align=1)
        self.after = b.offset(here, 4)
        self.a = self._register(b.lshr(word, b.i32(8)))
        self.left = self._register(b.lshr(word, self.sixteen))
        self.right = self._place(b.lshr(word, self.last))
        self.lhs = b.load(t.i64, self.left)
        by_register = b.load(t.i64, self.right)
        by_number = b.sext(b.ashr(word, self.last), t.i64)
        immediate = b.slt(b.trunc(word, t.i8), b.i8(0))
        self.rhs = b.select(immediate, by_number, by_register)
        self.target = b.ashr(word, self.sixteen)
        self.sum = b.add(self.lhs, self.rhs)
        self.pointer = b.to_pointer(self.sum)
        bodies = self._bodies()
        cases: dict[int, Block] = {int(op): b.new_block() for op in bodies}
        b.switch(b.and_(word, b.i32(IMMEDIATE - 1)), self.end, cases)
        for op, body in bodies.items():
            b.block = cases[int(op)]
            body()
        self._emit_ends()

    def _emit_ends(self) -> None:
        """The blocks that instructions end in."""
        b, t = self.b, self.t
        for block, widen in ((self.flag, "zext"), (self.integer, "sext")):
            b.block = block
            self._give(b.cast(widen, block.arguments[0], t.i64))
        b.block = self.checked
        value, wrapped = self.checked.arguments
        flag = b.offset(self.registers, 8 * Global.OVERFLOW)
        b.store(b.or_(b.load(t.i64, flag), b.zext(wrapped, t.i64)), flag)
        self._give(value)
        b.block = self.result
        value, following = self.result.arguments
        b.store(value, self.a)
        b.br(self.head, following)
        b.block = self.jump
        low = b.and_(self.jump.arguments[0], b.i32(0xFFFF))
        b.br(self.head, b.element(self.code, b.zext(low, t.i64)))
        b.block = self.end
        # Were this a constant, LLVM's passes would have exported wrappers return that instead of
        # jumping here.
        b.ret(b.field(t.i32, self.registers, 8 * Global.STATUS))

    def _register(self, number: Value) -> Value:
        """The address of the register whose number is the low byte."""
        return self._place(self.b.and_(number, self.byte))

    def _place(self, number: Value) -> Value:
        return self.b.element(self.registers, self.b.zext(number, self.t.i64), "i64")

    def _give(self, value: Value, following: Value | None = None) -> None:
        """Put the value into register a, and go on."""
        self.b.br(self.result, value, self.after if following is None else following)

    def _bodies(self) -> dict[Instruction, Callable[[], None]]:
        """Return what emits each instruction."""
        b = self.b
        bodies: dict[Instruction, Callable[[], None]] = {}
        for op in BINARY[1:]:  # ADD is `sum`, which is there already
            bodies[op] = lambda op=op: self._give(b.binary(_llvm(op), self.lhs, self.rhs))
        for op in COMPARISONS:
            bodies[op] = lambda op=op: b.br(self.flag, b.compare(_llvm(op), self.lhs, self.rhs))
        for op, (bits, signed) in LOADS.items():
            bodies[op] = lambda bits=bits, signed=signed: self._load(bits, signed)
        for op, base in OVERFLOWING.items():
            bodies[op] = lambda base=base: self._overflow(base)
        return {
            **bodies,
            Instruction.ADD: lambda: self._give(self.sum),
            Instruction.ST64: self._store,
            Instruction.LI: lambda: b.br(self.integer, self.target),
            Instruction.LI64: self._long,
            Instruction.JZ: self._jump_if_zero,
            Instruction.SWITCH: self._switch,
            Instruction.CALL: self._call,
            Instruction.RET: lambda: b.br(self.head, b.load(self.t.ptr, self.a)),
            Instruction.INFO: self._info,
            Instruction.EQF: self._equal_floats,
            Instruction.FLOAT: lambda: self._give_bits(b.cast("sitofp", self.lhs, self.t.f64)),
            Instruction.SINGLE: self._single,
            Instruction.PRINT: lambda: self._print(self.rhs),
            Instruction.PRINTF: lambda: self._print(self._float(self.right)),
            Instruction.STRTOD: self._strtod,
            Instruction.PUT: self._put,
            Instruction.RAISE: self._raise,
        }

    def _float(self, register: Value) -> Value:
        """The float64 in the register at this address."""
        return self.b.load(self.t.f64, register)

    def _give_bits(self, value: Value) -> None:
        self._give(self.b.bitcast(value, self.t.i64))

    def _load(self, bits: int, signed: bool) -> None:
        b = self.b
        # Tables are packed; tensors are as aligned as they are.
        value = b.load(self.t.integer(bits), self.pointer, align=1)
        if bits < 64:
            value = b.cast("sext" if signed else "zext", value, self.t.i64)
        self._give(value)

    def _store(self) -> None:
        self.b.store(self.b.load(self.t.i64, self.a), self.pointer)
        self.b.br(self.head, self.after)

    def _overflow(self, base: Instruction) -> None:
        results = self.b.with_overflow(f"s{_llvm(base)}", self.lhs, self.rhs)
        self.b.br(self.checked, *results)

    def _long(self) -> None:
        b = self.b
        self._give(b.load(self.t.i64, self.after, align=1), b.offset(self.after, 8))

    def _jump_if_zero(self) -> None:
        b = self.b
        zero = b.eq(b.load(self.t.i64, self.a), b.i64(0))
        b.cond_br(zero, self.jump, self.head, [self.target], [self.after])

    def _switch(self) -> None:
        """b, whose register was read as the left operand, is the number of labels."""
        b, t = self.b, self.t
        number = b.load(t.i64, self.a)
        count = b.zext(b.and_(self.target, self.byte), t.i64)
        past = b.element(self.after, count, "i16")
        labelled = b.new_block()
        b.cond_br(b.ult(number, count), labelled, self.head, [], [past])
        b.block = labelled
        label = b.load(t.i16, b.element(self.after, number, "i16"), align=1)
        b.br(self.jump, b.zext(label, t.i32))

    def _call(self) -> None:
        self.b.store(self.after, self.a)
        self.b.br(self.jump, self.target)

    def _info(self) -> None:
        b, t = self.b, self.t
        info = b.call_value(GET_TYPE_INFO, [b.trunc(self.lhs, t.i32)], t.ptr)
        self._give(b.to_int(info))

    def _equal_floats(self) -> None:
        same = self.b.float_compare("oeq", self._float(self.left), self._float(self.right))
        self.b.br(self.flag, same)

    def _single(self) -> None:
        b, t = self.b, self.t
        single = b.cast("fptrunc", self._float(self.left), t.parse("f32"))
        self._give_bits(b.cast("fpext", single, t.f64))

    def _print(self, value: Value) -> None:
        b, t = self.b, self.t
        fixed = [b.load(t.ptr, self.a), self.wide, b.to_pointer(self.lhs)]
        b.br(self.integer, b.call_variadic("snprintf", fixed, [value], t.i32))

    def _strtod(self) -> None:
        b, t = self.b, self.t
        self._give_bits(b.call_value("strtod", [b.to_pointer(self.lhs), b.null()], t.f64))

    def _put(self) -> None:
        b, t = self.b, self.t
        here = b.load(t.i64, self.a)
        room = b.sub(b.load(t.i64, b.offset(self.registers, 8 * Global.END)), here)
        size = b.select(b.ult(self.rhs, room), self.rhs, room)
        operands = (b.to_pointer(here), b.to_pointer(self.lhs), size)
        b.op("llvm.intr.memcpy", operands, attributes={"isVolatile": t.attribute("false")})
        self._give(b.add(here, size))

    def _raise(self) -> None:
        """Three times two registers are three byte arrays; the next one is for the error."""
        *arrays, error = (self.b.offset(self.a, 16 * index) for index in range(4))
        _raise_error(self.b, arrays, error, self.end)
