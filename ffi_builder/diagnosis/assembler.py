"""An assembler for the machine of :mod:`.instructions`.

Functions have registers of their own above those of all that they call, so calls save nothing. A
function that calls itself saves what it must.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Final, TypeAlias

from ffi_builder.diagnosis.instructions import IMMEDIATE, REGISTERS, Instruction
from ffi_builder.records import dataclass


@dataclass(frozen=True)
class Reg:
    """A register by its number."""

    number: int


Operand: TypeAlias = "Reg | int"


@dataclass
class Label:
    """A position in the code, and the uses to patch once it is known."""

    position: int | None = None
    uses: list[int] = field(default_factory=list[int])


@dataclass(frozen=True)
class Function:
    """A function: its entry, and the registers it uses, which end below ``top``."""

    entry: Label
    link: Reg
    parameters: tuple[Reg, ...]
    top: int


ZERO: Final = Reg(0)
"""Always 0."""


class Assembler:
    """Collects code behind ``data``, in :attr:`code`."""

    def __init__(self, first_register: int, data: bytes = b"") -> None:
        self.code = bytearray(data)
        self._first = self._next = first_register
        self._top = self._greatest = first_register
        self._called: list[Function] = []
        self._current: Function | None = None

    # ---- functions

    def function(self, parameters: int, body: Callable[..., None]) -> Function:
        """Assemble a function; ``body(*parameters)`` may call those made before."""
        # Its registers are above those of the functions it calls, which a first pass finds.
        start = len(self.code)
        outer, self._called = self._called, []
        self._assemble(parameters, body)
        base = max((callee.top for callee in self._called), default=self._first)
        del self.code[start:]
        self._called = []
        function = self._assemble(parameters, body, base)
        self._called = outer
        assert function.top <= REGISTERS, "a function needs more registers than there are"
        self._greatest = max(self._greatest, function.top)
        return function

    def main(self, body: Callable[[], None]) -> int:
        """Assemble the code that runs first; return where it starts."""
        entry = len(self.code)
        self._current = None
        self._next = self._greatest
        body()
        assert self._top <= REGISTERS, "the routines need more registers than there are"
        return entry

    def _assemble(self, count: int, body: Callable[..., None], base: int | None = None) -> Function:
        self._next = self._top = self._first if base is None else base
        link, *parameters = (self.new() for _ in range(count + 1))
        self._current = Function(Label(len(self.code)), link, tuple(parameters), self._next)
        body(*parameters)
        self.ret()
        return replace(self._current, top=self._top)

    def call(self, function: Function, *arguments: Operand) -> None:
        """Call a function; a recursive one must save its link register and parameters first."""
        if function is not self._current:
            self._called.append(function)
        for parameter, argument in zip(function.parameters, arguments, strict=True):
            self.set(parameter, argument)
        self._jump_code(Instruction.CALL, function.link, function.entry)

    @property
    def current(self) -> Function:
        """The function that is being assembled."""
        assert self._current is not None, "outside of any function"
        return self._current

    def ret(self) -> None:
        """Return from the function that is being assembled."""
        self._emit(Instruction.RET, self.current.link.number)

    # ---- registers and values

    def new(self) -> Reg:
        """Reserve a register of the function that is being assembled."""
        register = Reg(self._next)
        self._next += 1
        self._top = max(self._top, self._next)
        return register

    def set(self, register: Reg, value: Operand) -> None:
        """Put a value into a register."""
        if isinstance(value, Reg):
            if value != register:
                self._emit(Instruction.ADD | IMMEDIATE, register.number, value.number, 0)
        elif -(2**15) <= value < 2**15:
            self._emit(Instruction.LI, register.number, *struct.pack("<h", value))
        else:
            self._emit(Instruction.LI64, register.number)
            self.code += struct.pack("<q", (value + 2**63) % 2**64 - 2**63)

    def register(self, value: Operand) -> Reg:
        """Return the register that holds a value; a number is put into a new one."""
        if isinstance(value, Reg):
            return value
        if value == 0:
            return ZERO
        register = self.new()
        self.set(register, value)
        return register

    def binary(self, op: Instruction, lhs: Operand, rhs: Operand, into: Reg | None = None) -> Reg:
        """Put ``lhs op rhs`` into a register, a new one by default."""
        left = self.register(lhs)
        op_byte, right = self._last(op, rhs)
        result = into or self.new()
        self._emit(op_byte, result.number, left.number, right)
        return result

    def load(self, bits: int, address: Reg, offset: Operand = 0) -> Reg:
        """Load from memory; 8 and 16 bits are zero-extended, 32 are sign-extended."""
        return self.binary(Instruction[f"LD{bits}"], address, offset)

    def store(self, value: Operand, address: Reg, offset: int = 0) -> None:
        """Store 64 bits."""
        self.binary(Instruction.ST64, address, offset, into=self.register(value))

    def effect(self, op: Instruction, a: Reg, b: Operand = 0, c: Operand = 0) -> None:
        """Append any other instruction, on three registers."""
        second, third = self.register(b), self.register(c)
        self._emit(op, a.number, second.number, third.number)

    # ---- flow

    def place(self, label: Label) -> None:
        """Put a label here."""
        label.position = len(self.code)
        for use in label.uses:
            struct.pack_into("<H", self.code, use, label.position)

    def jump(self, label: Label) -> None:
        """Go to a label."""
        self.jump_if_zero(ZERO, label)

    def jump_if_zero(self, condition: Reg, label: Label) -> None:
        """Go to a label if the register is 0."""
        self._jump_code(Instruction.JZ, condition, label)

    @contextmanager
    def when(self, condition: Reg) -> Generator[None]:
        """Run the body if the register is not 0."""
        past = Label()
        self.jump_if_zero(condition, past)
        kept = self._next
        yield
        self._next = kept
        self.place(past)

    @contextmanager
    def loop(self, count: Operand) -> Generator[Reg]:
        """Run the body for each index below ``count``."""
        index = self.new()
        limit = self.register(count)
        self.set(index, 0)
        head, past = Label(), Label()
        self.place(head)
        self.jump_if_zero(self.binary(Instruction.SLT, index, limit), past)
        kept = self._next
        yield index
        self._next = kept
        self.binary(Instruction.ADD, index, 1, into=index)
        self.jump(head)
        self.place(past)

    def switch(self, value: Reg, labels: list[Label]) -> None:
        """Go to the label with this number, or on to the next instruction if there is none."""
        self._emit(Instruction.SWITCH, value.number, len(labels))
        for label in labels:
            self._label(label)

    def cases(
        self,
        value: Reg,
        bodies: list[Callable[[], None]],
        *,
        share_registers: bool = True,
        behind: Label | None = None,
    ) -> None:
        """Run the body with this number, if there is one, then go to ``behind``.

        By default that is the end of the bodies.
        """
        labels, past = [Label() for _ in bodies], behind or Label()
        self.switch(value, labels)
        self.jump(past)
        kept = self._next
        for label, body in zip(labels, bodies, strict=True):
            self.place(label)
            body()
            self.jump(past)
            if share_registers:
                self._next = kept
        if behind is None:
            self.place(past)

    # ---- bytes

    def _last(self, op: Instruction, operand: Operand) -> tuple[int, int]:
        """Return the opcode and last byte; numbers that fit a byte are immediate."""
        if isinstance(operand, int) and -128 <= operand < 128:
            return op | IMMEDIATE, operand & 0xFF
        return op, self.register(operand).number

    def _emit(self, op: int, a: int, b: int = 0, c: int = 0) -> None:
        self.code += bytes((op, a, b, c))

    def _jump_code(self, op: Instruction, register: Reg, label: Label) -> None:
        self.code += bytes((op, register.number))
        self._label(label)

    def _label(self, label: Label) -> None:
        if label.position is None:
            label.uses.append(len(self.code))
        self.code += struct.pack("<H", label.position or 0)
