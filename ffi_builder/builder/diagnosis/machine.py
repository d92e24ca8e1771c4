"""The machine that runs the diagnosis: one function, and the raising of errors.

In C::

    int32_t diagnose(const TVMFFIAny* args, int32_t num_args, const char* table);    always -1
    int32_t raise(const char* kind, int64_t, const char* message, int64_t,
                  const char* backtrace, int64_t);                                   always -1

``diagnose`` interprets the code of :mod:`.library` (see :mod:`.assembler` for its instructions),
which interprets the table of the wrapper (:mod:`.table`): it starts over from the first argument,
in the declared order, whatever order the hot path checked in, and raises the first error it finds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ffi_builder import abi
from ffi_builder.builder.diagnosis.assembler import IMMEDIATE, Instruction
from ffi_builder.builder.diagnosis.functions import define, shared_name
from ffi_builder.builder.diagnosis.library import library
from ffi_builder.builder.diagnosis.program import SLOT_SIZE, Global
from ffi_builder.builder.diagnosis.table import STACK_DEPTH
from ffi_builder.ir import Block, Builder, Symbols, Value

CREATE, SET_RAISED, DEC_REF = "TVMFFIErrorCreate", "TVMFFIErrorSetRaised", "TVMFFIObjectDecRef"
GET_TYPE_INFO: Final = "TVMFFIGetTypeInfo"

REGISTERS: Final = 256
SCRATCH_SIZE: Final = 64

_ALU: Final = {
    Instruction.ADD: "add",
    Instruction.SUB: "sub",
    Instruction.MUL: "mul",
    Instruction.AND: "and",
    Instruction.OR: "or",
    Instruction.SHL: "shl",
    Instruction.LSHR: "lshr",
    Instruction.SDIV: "sdiv",
    Instruction.SREM: "srem",
    Instruction.UREM: "urem",
}
_COMPARISONS: Final = {
    Instruction.EQ: "eq",
    Instruction.NE: "ne",
    Instruction.SLT: "slt",
    Instruction.SLE: "sle",
    Instruction.ULT: "ult",
    Instruction.ULE: "ule",
}
_LOADS: Final = {
    Instruction.LD8: (8, "zext"),
    Instruction.LD16: (16, "zext"),
    Instruction.LD32: (32, "sext"),
    Instruction.LD64: (64, None),
}
_OVERFLOWS: Final = {
    Instruction.ADDO: "sadd",
    Instruction.SUBO: "ssub",
    Instruction.MULO: "smul",
}


def define_machine(symbols: Symbols) -> None:
    """Add the machine, its code and words to a module."""
    t = symbols.types
    symbols.declare(CREATE, t.i32, [t.ptr] * 4)
    symbols.declare(GET_TYPE_INFO, t.ptr, [t.i32])
    symbols.declare(SET_RAISED, t.void, [t.ptr])
    symbols.declare(DEC_REF, t.i32, [t.ptr])
    symbols.declare("strtod", t.f64, [t.ptr, t.ptr])
    symbols.constant(shared_name("library"), library().data)
    define(symbols, "raise", t.i32, [t.ptr, t.i64] * 3, _raise)
    define(symbols, "diagnose", t.i32, [t.ptr, t.i32, t.ptr], _diagnose)


def _raise(b: Builder, *texts: Value) -> None:
    """The stack is not walked: that costs a first error hundreds of milliseconds."""
    t = b.types
    error = b.alloca(t.ptr)
    arrays = [_byte_array(b, *texts[index : index + 2]) for index in (0, 2, 4)]
    status = b.call_value(CREATE, [*arrays, error], t.i32)
    with b.when(b.eq(status, b.i32(0))):
        created = b.load(t.ptr, error)
        b.call(SET_RAISED, [created], t.void)
        # Raising took a reference of its own.
        b.call(DEC_REF, [created], t.i32)
    b.ret(b.i32(-1))


def _byte_array(b: Builder, data: Value, length: Value) -> Value:
    space = b.alloca(b.types.i64, 2)
    b.store(data, space)
    b.store(length, b.offset(space, abi.BYTE_ARRAY_LENGTH))
    return space


def _diagnose(b: Builder, args: Value, count: Value, table: Value) -> None:
    t = b.types
    registers = b.alloca(t.i64, REGISTERS)
    _zero(b, registers, b.i64(8 * REGISTERS))
    code = b.address_of(shared_name("library"))
    _start(b, registers, args, count, table, code)
    ip = b.alloca(t.ptr)
    b.store(b.offset(code, library().entry), ip)
    _Machine(b, registers, code, ip).emit()


def _zero(b: Builder, space: Value, size: Value) -> None:
    volatile = {"isVolatile": b.types.attribute("false")}
    b.op("llvm.intr.memset", (space, b.i8(0), size), attributes=volatile)


def _start(
    b: Builder, registers: Value, args: Value, count: Value, table: Value, code: Value
) -> None:
    """The registers that the program finds set; slots and buffer are as large as the table says."""
    t = b.types

    def word(offset: int) -> Value:
        return b.zext(b.load(t.i32, b.offset(table, offset), align=1), t.i64)

    slots_size, buffer_size = b.mul(word(0), b.i64(SLOT_SIZE)), word(8)
    slots = b.alloca_here(t.i8, slots_size, align=8)
    _zero(b, slots, slots_size)
    buffer = b.alloca_here(t.i8, buffer_size)
    values = {
        Global.ARGS: args,
        Global.COUNT: b.sext(count, t.i64),
        Global.TABLE: table,
        Global.CONSTANTS: b.offset(code, library().constants),
        Global.SLOTS: slots,
        Global.PC: b.element(table, word(4)),
        Global.START: buffer,
        Global.CURSOR: buffer,
        Global.END: b.element(buffer, buffer_size),
        Global.SCRATCH: b.alloca(t.i8, SCRATCH_SIZE),
        Global.STACK: b.alloca(t.i64, STACK_DEPTH),
    }
    for register, value in values.items():
        b.store(value, b.offset(registers, 8 * register))


class _Machine:
    """Emits fetch, decode, and one block an instruction."""

    def __init__(self, b: Builder, registers: Value, code: Value, ip: Value) -> None:
        self.b = b
        self.t = b.types
        self.registers = registers
        self.code = code
        self.ip = ip

    def emit(self) -> None:
        b, t = self.b, self.t
        self.head = b.new_block()
        b.br(self.head)
        b.block = self.head
        here = b.load(t.ptr, self.ip)
        word = b.load(t.i32, here, align=1)
        self.after = b.offset(here, 4)
        b.store(self.after, self.ip)
        self.a = self._register(word, 8)
        self.lhs = b.load(t.i64, self._register(word, 16))
        by_number = b.ashr(b.shl(b.zext(word, t.i64), b.i64(32)), b.i64(56))
        by_register = b.load(t.i64, self._register(word, 24))
        immediate = b.ne(b.and_(word, b.i32(IMMEDIATE)), b.i32(0))
        self.rhs = b.select(immediate, by_number, by_register)
        self.target = b.ashr(word, b.i32(16))
        self.result = b.new_block(t.i64)
        bodies = self._bodies()
        broken = b.new_block()
        cases: dict[int, Block] = {int(op): b.new_block() for op in bodies}
        b.switch(b.and_(word, b.i32(0x7F)), broken, cases)
        for op, body in bodies.items():
            b.block = cases[int(op)]
            value = body()
            if value is not None:
                b.br(self.result, value)
            elif not b.terminated(b.block):
                b.br(self.head)
        b.block = self.result
        b.store(self.result.arguments[0], self.a)
        b.br(self.head)
        b.block = broken
        b.ret(b.i32(-1))

    def _register(self, word: Value, shift: int) -> Value:
        """The address of the register whose number stands at a bit of the instruction."""
        b, t = self.b, self.t
        number = b.and_(b.lshr(word, b.i32(shift)), b.i32(0xFF))
        return b.element(self.registers, b.zext(number, t.i64), "i64")

    def _bodies(self) -> dict[Instruction, Callable[[], Value | None]]:
        """What each instruction does; one that returns a value has it put into register a."""
        b, t = self.b, self.t
        bodies: dict[Instruction, Callable[[], Value | None]] = {}
        for op, name in _ALU.items():
            bodies[op] = lambda name=name: b.binary(name, self.lhs, self.rhs)
        for op, name in _COMPARISONS.items():
            bodies[op] = lambda name=name: b.zext(b.compare(name, self.lhs, self.rhs), t.i64)
        for op, (bits, widen) in _LOADS.items():
            bodies[op] = lambda bits=bits, widen=widen: self._load(bits, widen)
        for op, name in _OVERFLOWS.items():
            bodies[op] = lambda name=name: self._overflow(name)
        return {
            **bodies,
            Instruction.ST64: self._store,
            Instruction.LI: lambda: b.sext(self.target, t.i64),
            Instruction.LI64: self._long,
            Instruction.JZ: self._jump_if_zero,
            Instruction.SWITCH: self._switch,
            Instruction.CALL: self._call,
            Instruction.RET: lambda: b.store(b.load(t.ptr, self.a), self.ip),
            Instruction.INFO: self._info,
            Instruction.SAME: self._same,
            Instruction.FLOAT: lambda: self._bits(b.cast("sitofp", self.lhs, t.f64)),
            Instruction.SINGLE: self._single,
            Instruction.PRINT: lambda: self._print(self.rhs),
            Instruction.PRINTF: lambda: self._print(b.bitcast(self.rhs, t.f64)),
            Instruction.STRTOD: self._strtod,
            Instruction.COPY: self._copy,
            Instruction.RAISE: self._raise,
        }

    def _bits(self, value: Value) -> Value:
        return self.b.bitcast(value, self.t.i64)

    def _pointer(self, register: Value) -> Value:
        """The pointer in the register at this address."""
        return self.b.load(self.t.ptr, register)

    def _address(self) -> Value:
        return self.b.to_pointer(self.b.add(self.lhs, self.rhs))

    def _load(self, bits: int, widen: str | None) -> Value:
        b = self.b
        # Tables are packed; tensors are as aligned as they are.
        value = b.load(self.t.integer(bits), self._address(), align=1)
        return value if widen is None else b.cast(widen, value, self.t.i64)

    def _store(self) -> None:
        self.b.store(self.b.load(self.t.i64, self.a), self._address())

    def _overflow(self, name: str) -> Value:
        b, t = self.b, self.t
        value, wrapped = b.with_overflow(name, self.lhs, self.rhs)
        flag = b.offset(self.registers, 8 * Global.OVERFLOW)
        b.store(b.or_(b.load(t.i64, flag), b.zext(wrapped, t.i64)), flag)
        return value

    def _long(self) -> Value:
        b, t = self.b, self.t
        b.store(b.offset(self.after, 8), self.ip)
        return b.load(t.i64, self.after, align=1)

    def _jump(self, position: Value) -> None:
        """``position`` is an i32 of which the low half counts."""
        b, t = self.b, self.t
        low = b.zext(b.and_(position, b.i32(0xFFFF)), t.i64)
        b.store(b.element(self.code, low), self.ip)

    def _jump_if_zero(self) -> None:
        b, t = self.b, self.t
        with b.when(b.eq(b.load(t.i64, self.a), b.i64(0))):
            self._jump(self.target)
        b.br(self.head)

    def _switch(self) -> None:
        """b, whose register was read as the left operand, is the number of labels."""
        b, t = self.b, self.t
        number = b.load(t.i64, self.a)
        count = b.zext(b.and_(self.target, b.i32(0xFF)), t.i64)
        b.store(b.element(self.after, count, "i16"), self.ip)
        with b.when(b.ult(number, count)):
            label = b.load(t.i16, b.element(self.after, number, "i16"), align=1)
            self._jump(b.zext(label, t.i32))
        b.br(self.head)

    def _call(self) -> None:
        self.b.store(self.after, self.a)
        self._jump(self.target)

    def _info(self) -> Value:
        b, t = self.b, self.t
        info = b.call_value(GET_TYPE_INFO, [b.trunc(self.lhs, t.i32)], t.ptr)
        return b.to_int(info)

    def _same(self) -> Value:
        b, t = self.b, self.t
        same = b.same_float(b.bitcast(self.lhs, t.f64), b.bitcast(self.rhs, t.f64))
        return b.zext(same, t.i64)

    def _single(self) -> Value:
        b, t = self.b, self.t
        single = b.cast("fptrunc", b.bitcast(self.lhs, t.f64), t.parse("f32"))
        return self._bits(b.cast("fpext", single, t.f64))

    def _print(self, value: Value) -> Value:
        b, t = self.b, self.t
        fixed = [self._pointer(self.a), b.i64(SCRATCH_SIZE), b.to_pointer(self.lhs)]
        return b.sext(b.call_variadic("snprintf", fixed, [value], t.i32), t.i64)

    def _strtod(self) -> Value:
        b, t = self.b, self.t
        return self._bits(b.call_value("strtod", [b.to_pointer(self.lhs), b.null()], t.f64))

    def _copy(self) -> None:
        b = self.b
        operands = (self._pointer(self.a), b.to_pointer(self.lhs), self.rhs)
        volatile = {"isVolatile": b.types.attribute("false")}
        b.op("llvm.intr.memcpy", operands, attributes=volatile)

    def _raise(self) -> None:
        b, t = self.b, self.t
        operands = [b.field((t.ptr, t.i64)[i % 2], self.a, 8 * i) for i in range(6)]
        b.ret(b.call_value(shared_name("raise"), operands, t.i32))
