"""The machine in Python: finds out what is wrong with a call without MLIR.

It runs the program of :mod:`.library` over the table of a wrapper, as the machine does that
:mod:`ffi_builder.builder.helpers.machine` emits. It reads the arguments where they are in memory
and asks the same registry of tvm-ffi. It prints numbers by itself, as not every system has a libc
to call. It returns the error instead of raising it.

Registers are int64 here, and what is stored into one is taken modulo 2^64. Return addresses are
offsets from the start of the code.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from functools import cache
from typing import Any, Final, TypeAlias

from ffi_builder.diagnosis.instructions import IMMEDIATE, LOADS, OVERFLOWING, REGISTERS, Instruction
from ffi_builder.diagnosis.library import library
from ffi_builder.diagnosis.program import Global
from ffi_builder.diagnosis.table import SLOT_SIZE, SLOTS_AT, Head
from ffi_builder.plan.messages import UNDECIDED
from ffi_builder.records import dataclass


@dataclass(frozen=True)
class Diagnosis:
    """The error that the program ended in, and what it had found until then."""

    kind: str
    """``"TypeError"`` or ``"ValueError"``; ``"RuntimeError"`` if all checks hold."""
    message: str
    slots: tuple[int, ...]
    """The value in each slot of the table, as an int64. The first slots are those of the symbols;
    a symbol that nothing has bound is 0."""

    @property
    def passed(self) -> bool:
        """Whether all checks hold. The program then reports that it found nothing wrong."""
        return self.message == UNDECIDED


def diagnose(table: bytes, args: int, num_args: int) -> Diagnosis:
    """Run the checks of a wrapper on raw arguments.

    Args:
        table: the wrapper's table, as :meth:`.writing.Table.named` returns it.
        args: address of an array of ``TVMFFIAny``.
        num_args: how many elements the array has.
    """
    return _Machine(table, args, num_args).run()


# ---- instructions that compute a value


_Compute: TypeAlias = Callable[[int, int], int]


def _unsigned(value: int) -> int:
    return value % 2**64


def _float(bits: int) -> float:
    return struct.unpack("<d", struct.pack("<q", bits))[0]


def _bits(value: float) -> int:
    return struct.unpack("<q", struct.pack("<d", value))[0]


def _divide(lhs: int, rhs: int) -> int:
    """Round towards zero."""
    quotient = abs(lhs) // abs(rhs)
    return quotient if (lhs < 0) == (rhs < 0) else -quotient


def _load(instruction: Instruction) -> _Compute:
    bits, signed = LOADS[instruction]
    read: Any = getattr(ctypes, f"c_{'' if signed else 'u'}int{bits}").from_address
    return lambda lhs, rhs: read(lhs + rhs).value


_COMPUTE: Final[dict[int, _Compute]] = {
    Instruction.ADD: int.__add__,
    Instruction.SUB: int.__sub__,
    Instruction.MUL: int.__mul__,
    Instruction.AND: int.__and__,
    Instruction.OR: int.__or__,
    Instruction.SHL: int.__lshift__,
    Instruction.LSHR: lambda lhs, rhs: _unsigned(lhs) >> rhs,
    Instruction.SDIV: _divide,
    Instruction.UREM: lambda lhs, rhs: _unsigned(lhs) % _unsigned(rhs),
    Instruction.EQ: int.__eq__,
    Instruction.SLT: int.__lt__,
    Instruction.ULT: lambda lhs, rhs: _unsigned(lhs) < _unsigned(rhs),
    **{load: _load(load) for load in LOADS},
    Instruction.INFO: lambda lhs, _: _tvm_ffi().TVMFFIGetTypeInfo(lhs),
    Instruction.EQF: lambda lhs, rhs: _float(lhs) == _float(rhs),
    Instruction.FLOAT: lambda lhs, _: _bits(float(lhs)),
    Instruction.SINGLE: lambda lhs, _: _bits(ctypes.c_float(_float(lhs)).value),
    Instruction.STRTOD: lambda lhs, _: _bits(float(ctypes.string_at(lhs))),
}


def _printed(form: bytes, value: float) -> bytes:
    """Print an int64 or a float64 as C's ``snprintf`` does."""
    if isinstance(value, int) and b"%lld" not in form:
        value = _unsigned(value)
    return form.replace(b"ll", b"") % value


@cache
def _tvm_ffi() -> Any:
    """Load tvm-ffi's library, whose registry has the types of objects."""
    from tvm_ffi import libinfo  # slow to import, and rarely needed

    library = ctypes.CDLL(libinfo.find_libtvm_ffi())
    library.TVMFFIGetTypeInfo.restype = ctypes.c_void_p
    library.TVMFFIGetTypeInfo.argtypes = [ctypes.c_int32]
    return library


# ---- the machine


@cache
def _constant() -> ctypes.Array[ctypes.c_char]:
    return ctypes.create_string_buffer(library().data, len(library().data))


class _Machine:
    """Registers, the frame behind them, and the position in the code."""

    def __init__(self, table: bytes, args: int, num_args: int) -> None:
        self._table = ctypes.create_string_buffer(table, len(table))
        (size,) = struct.unpack_from("<I", table, Head.FRAME)
        (self._slots,) = struct.unpack_from("<H", table, Head.SLOTS)
        self._frame = ctypes.create_string_buffer(size)
        self._registers = (ctypes.c_int64 * REGISTERS).from_buffer(self._frame)
        initial = {
            Global.FRAME: ctypes.addressof(self._frame),
            Global.ARGS: args,
            Global.COUNT: num_args,
            Global.TABLE: ctypes.addressof(self._table),
            Global.CODE: ctypes.addressof(_constant()),
        }
        for register, value in initial.items():
            self._registers[register] = value
        self._code = library().data
        self._at = library().entry
        """Offset of the next instruction."""

    def run(self) -> Diagnosis:
        """Fetch and execute instructions up to RAISE."""
        registers, code = self._registers, self._code
        while True:
            op, a, b, c = code[self._at : self._at + 4]
            self._at += 4
            lhs = registers[b]
            if op & IMMEDIATE:
                op ^= IMMEDIATE
                rhs = (c ^ 0x80) - 0x80
            else:
                rhs = registers[c]
            compute = _COMPUTE.get(op)
            if compute:
                registers[a] = compute(lhs, rhs)
            elif op == Instruction.RAISE:
                return self._diagnosis(a)
            elif not self._jump(op, a, b | c << 8):
                self._effect(op, a, lhs, rhs)

    def _jump(self, op: int, a: int, target: int) -> bool:
        """Execute an instruction that takes a label or a number; return whether it was one."""
        registers = self._registers
        match op:
            case Instruction.JZ:
                if not registers[a]:
                    self._at = target
            case Instruction.LI:
                registers[a] = (target ^ 0x8000) - 0x8000
            case Instruction.CALL:
                registers[a], self._at = self._at, target
            case Instruction.RET:
                self._at = registers[a]
            case Instruction.SWITCH:
                number, count = _unsigned(registers[a]), target & 0xFF
                past = self._at + 2 * count
                label = self._at + 2 * number
                self._at = self._read("<H", label) if number < count else past
            case Instruction.LI64:
                registers[a] = self._read("<q", self._at)
                self._at += 8
            case _:
                return False
        return True

    def _read(self, layout: str, at: int) -> int:
        return struct.unpack_from(layout, self._code, at)[0]

    def _effect(self, op: int, a: int, lhs: int, rhs: int) -> None:
        """Execute an instruction that does more than set register ``a``."""
        registers = self._registers
        match op:
            case Instruction.ST64:
                ctypes.c_int64.from_address(lhs + rhs).value = registers[a]
            case Instruction.ADDO | Instruction.SUBO | Instruction.MULO:
                result = _COMPUTE[OVERFLOWING[Instruction(op)]](lhs, rhs)
                registers[a] = result
                registers[Global.OVERFLOW] |= registers[a] != result
            case Instruction.PRINT | Instruction.PRINTF:
                value = _float(rhs) if op == Instruction.PRINTF else rhs
                text = _printed(ctypes.string_at(lhs), value)
                ctypes.memmove(registers[a], text + b"\0", len(text) + 1)
                registers[a] = len(text)
            case Instruction.PUT:
                size = min(_unsigned(rhs), _unsigned(registers[Global.END] - registers[a]))
                ctypes.memmove(registers[a], lhs, size)
                registers[a] += size
            case _:
                raise AssertionError(f"no instruction: {op}")

    def _diagnosis(self, first: int) -> Diagnosis:
        """Read the operands of RAISE, which start at register ``first``, and the slots."""
        kind, message = (
            ctypes.string_at(self._registers[at], self._registers[at + 1]).decode()
            for at in (first, first + 2)
        )
        slots = range(SLOTS_AT, SLOTS_AT + self._slots * SLOT_SIZE, SLOT_SIZE)
        values = (ctypes.c_int64.from_buffer(self._frame, at).value for at in slots)
        return Diagnosis(kind, message, tuple(values))
