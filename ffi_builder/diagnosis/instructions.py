"""Instructions of the register machine that the diagnosis is written for.

The diagnosis is cold and shared by all wrappers, but every module carries it. As LLVM operations it
would be some 2,700 of them, to be built, verified and compiled with each module. As code for this
machine it is a constant, and only the machine is operations. There are two machines:
:mod:`ffi_builder.builder.helpers.machine` emits one, :mod:`.interpreter` is one in Python.

The machine has 256 registers of 64 bits, which hold integers, addresses and the bits of float64. An
instruction is four bytes, ``op a b c``. ``c`` is a register or, if the top bit of ``op`` is set, a
signed number::

    ADD … ULT   a = b op c             LI    a = b | c << 8, signed
    LD8 … LD64  a = memory[b + c]      LI64  a = the next 8 bytes
    ST64        memory[b + c] = a      JZ    if a == 0: goto b | c << 8
    CALL        a = here, goto b | c << 8
    RET         goto a                 SWITCH  goto the a-th of b labels

Labels are 16-bit offsets from the start of the constant. Shifts are by less than 64 and divisors
are not 0. There is no instruction for what two others can do: ``a != b`` is ``0 < a - b``,
unsigned.
"""

from __future__ import annotations

from enum import IntEnum, auto
from typing import Final

REGISTERS: Final = 256
IMMEDIATE: Final = 0x80
"""The bit of the opcode that makes ``c`` a number."""


class Instruction(IntEnum):
    """Operations of the machine."""

    ADD = 1
    SUB = auto()
    MUL = auto()
    AND = auto()
    OR = auto()
    SHL = auto()
    LSHR = auto()
    SDIV = auto()
    UREM = auto()
    EQ = auto()
    SLT = auto()
    ULT = auto()
    LD8 = auto()
    LD16 = auto()
    LD32 = auto()
    LD64 = auto()
    ST64 = auto()
    LI = auto()
    LI64 = auto()
    JZ = auto()
    SWITCH = auto()
    """Followed by ``b`` labels. Goes on behind them unless ``a`` is below ``b``, unsigned."""
    CALL = auto()
    RET = auto()
    ADDO = auto()
    """``a = b + c``. Sets the overflow register to 1 if the signed result does not fit."""
    SUBO = auto()
    MULO = auto()
    INFO = auto()
    """``a = TVMFFIGetTypeInfo(b)``."""
    EQF = auto()
    """Compares two float64. NaN equals nothing."""
    FLOAT = auto()
    """``a`` = the float64 nearest to the integer ``b``."""
    SINGLE = auto()
    """``a`` = the float64 ``b`` rounded to float32."""
    PRINT = auto()
    """``a = snprintf(memory at a, 64, format b, integer c)``."""
    PRINTF = auto()
    """The same for a float64."""
    STRTOD = auto()
    """``a = strtod(b)``."""
    PUT = auto()
    """Copies ``c`` bytes from ``b`` to ``a`` and moves ``a`` behind them. Stops at the address in
    the end register."""
    RAISE = auto()
    """Raises an error and ends. ``a`` and the five registers after it hold the addresses and
    lengths of kind, message and backtrace. The seventh is overwritten."""


BINARY: Final = (
    *(Instruction.ADD, Instruction.SUB, Instruction.MUL, Instruction.AND, Instruction.OR),
    *(Instruction.SHL, Instruction.LSHR, Instruction.SDIV, Instruction.UREM),
)
"""Integer arithmetic, modulo 2^64. These and the comparisons are named as in LLVM."""

COMPARISONS: Final = (Instruction.EQ, Instruction.SLT, Instruction.ULT)
"""Comparisons of integers, which give 0 or 1."""

LOADS: Final = {
    Instruction.LD8: (8, False),
    Instruction.LD16: (16, False),
    Instruction.LD32: (32, True),
    Instruction.LD64: (64, False),
}
"""Loads, with their width in bits and whether they sign-extend."""

OVERFLOWING: Final = {
    Instruction.ADDO: Instruction.ADD,
    Instruction.SUBO: Instruction.SUB,
    Instruction.MULO: Instruction.MUL,
}
"""Signed arithmetic that notes overflow, with the operation that it performs."""
