"""The diagnosis: interprets the table of a wrapper, and raises the first error that it finds.

It starts over from the first argument, in the declared order, whatever order the hot path checked
in. In C::

    int32_t diagnose(const TVMFFIAny* args, int32_t num_args, const char* table);    always -1
"""

from __future__ import annotations

from ffi_builder.builder.diagnosis.blobs import KINDS, blob
from ffi_builder.builder.diagnosis.checks import CHECKS
from ffi_builder.builder.diagnosis.decoding import DECODING
from ffi_builder.builder.diagnosis.functions import call_shared, define
from ffi_builder.builder.diagnosis.machine import SLOT_SIZE, Machine, Reg
from ffi_builder.builder.diagnosis.numbers import define_number_helpers
from ffi_builder.builder.diagnosis.report import define_report
from ffi_builder.builder.diagnosis.blobs import define_blob
from ffi_builder.builder.diagnosis.symbols import SYMBOLS, define_expressions
from ffi_builder.builder.diagnosis.table import Op
from ffi_builder.builder.diagnosis.tensors import define_tensor_helpers
from ffi_builder.builder.diagnosis.texts import define_texts
from ffi_builder.ir import Block, Builder, Symbols, Value
from ffi_builder.plan.words import UNDECIDED

INSTRUCTIONS = {**DECODING, **CHECKS, **SYMBOLS}


def define_diagnosis(symbols: Symbols) -> None:
    """Add the diagnosis and all its helpers to a module."""
    t = symbols.types
    define_blob(symbols)
    define_tensor_helpers(symbols)
    define_number_helpers(symbols)
    define_texts(symbols)
    define_report(symbols)
    define_expressions(symbols)
    define(symbols, "diagnose", t.i32, [t.ptr, t.i32, t.ptr], _diagnose)


def _diagnose(b: Builder, args: Value, count: Value, table: Value) -> None:
    t = b.types
    m = Machine(b, b.alloca(t.i64, len(Reg)))
    for register in Reg:
        m.set(register, b.i64(0))
    m.set(Reg.ARGS, args)
    m.set(Reg.COUNT, b.sext(count, t.i64))
    m.set(Reg.TABLE, table)
    _allocate(m, table)
    head = b.new_block()
    b.br(head)
    b.block = head
    opcode = b.trunc(m.operand(8), t.i32)
    undecided = b.new_block()
    cases: dict[int, Block] = {int(op): b.new_block() for op in INSTRUCTIONS}
    b.switch(opcode, undecided, cases)
    for op, body in INSTRUCTIONS.items():
        b.block = cases[int(op)]
        body(m)
        b.br(head)
    b.block = undecided
    kind = b.offset(blob(b, "kinds"), sum(map(len, KINDS)))
    words = blob(b, "undecided")
    b.ret(
        call_shared(
            b, "raise", [kind, b.i64(len("RuntimeError")), words, b.i64(len(UNDECIDED))], t.i32
        )
    )


def _allocate(m: Machine, table: Value) -> None:
    """The slots, zeroed, and the buffer of the message: as large as the table says."""
    b, t = m.b, m.b.types
    slots = b.mul(m.unsigned(table, 32), b.i64(SLOT_SIZE))
    space = b.alloca_here(t.i8, slots, align=8)
    b.op(
        "llvm.intr.memset",
        (space, b.i8(0), slots),
        attributes={"isVolatile": t.attribute("false")},
    )
    m.set(Reg.SLOTS, space)
    m.set(Reg.PC, m.table_at(m.unsigned(table, 32, 4)))
    size = m.unsigned(table, 32, 8)
    buffer = b.alloca_here(t.i8, size)
    m.set(Reg.CURSOR, buffer)
    m.set(Reg.END, b.element(buffer, size))
