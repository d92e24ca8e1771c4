"""The names within a function: registers, variables and labels, in scopes of braces."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from ffi_builder.ptx.errors import PtxError
from ffi_builder.ptx.text import SIZES


@dataclass(frozen=True, slots=True)
class Register:
    """A register, and its row in C."""

    row: int
    type: str

    @property
    def size(self) -> int:
        """Its bytes."""
        return SIZES[self.type]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a variable is."""

    space: str
    at: int
    """In that space; -1: behind all that has a size."""


@dataclass(slots=True)
class Frame:
    """What a function has while it runs: no function calls itself, so there is one of each."""

    back: int
    """The row of where it returns to."""
    places: dict[str, int] = field(default_factory=dict[str, int])
    """Its parameters and results in local memory."""
    calls: set[str] = field(default_factory=set[str])


@dataclass(slots=True)
class _Scope:
    number: int
    types: dict[str, str] = field(default_factory=dict[str, str])
    ranges: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    """How many there are of ``%r<9>``, and their type, by ``%r``."""
    registers: dict[str, Register] = field(default_factory=dict[str, Register])
    variables: dict[str, Place] = field(default_factory=dict[str, Place])


_REGISTERS: Final = re.compile(r"\.reg\s*\.(\w+)\s+(.*)", re.DOTALL)
_NUMBER: Final = re.compile(r"0|[1-9]\d{0,8}")


class Scopes:
    """The scopes that are open, the innermost last."""

    def __init__(self) -> None:
        self._open = [_Scope(0)]
        self._count = 0

    def open(self) -> None:
        """A brace."""
        self._count += 1
        self._open.append(_Scope(self._count))

    def close(self) -> None:
        """A closing brace."""
        self._open.pop()

    @property
    def variables(self) -> dict[str, Place]:
        """The variables that the innermost scope declares."""
        return self._open[-1].variables

    def variable(self, name: str) -> Place | None:
        """Return a variable's place; None: there is none of the name."""
        places = (each.variables[name] for each in reversed(self._open) if name in each.variables)
        return next(places, None)

    def declare(self, text: str, fail: Callable[[str], PtxError]) -> None:
        """Read ``.reg .b32 %r<9>, x``."""
        match = _REGISTERS.fullmatch(text)
        if match is None or match[1] not in SIZES:
            raise fail(f"the registers {text!r}")
        scope = self._open[-1]
        for each in match[2].split(","):
            declared = re.fullmatch(r"\s*([%A-Za-z_$][\w$]*)\s*(?:<\s*(\d+)\s*>)?\s*", each)
            if declared is None:
                raise fail(f"the registers {text!r}")
            if declared[2]:
                scope.ranges[declared[1]] = int(declared[2]), match[1]
            else:
                scope.types[declared[1]] = match[1]

    def register(self, name: str, row: Callable[[int], int]) -> Register | None:
        """Return the register of a name; None: there is none."""
        for scope in reversed(self._open):
            register = scope.registers.get(name)
            if register is not None:
                return register
            kind = scope.types.get(name) or _in_range(scope, name)
            if kind is not None:
                made = Register(row(SIZES[kind]), kind)
                scope.registers[name] = made
                return made
        return None

    def label(self, name: str) -> str:
        """Return a name for a label of the innermost scope."""
        return self.labels(name)[0]

    def labels(self, name: str) -> list[str]:
        """Return the names of the labels that a branch may mean, the innermost first."""
        return [f"{each.number}:{name}" for each in reversed(self._open)]


def _in_range(scope: _Scope, name: str) -> str | None:
    for prefix, (count, kind) in scope.ranges.items():
        number = name[len(prefix) :]
        if name.startswith(prefix) and _NUMBER.fullmatch(number) and int(number) < count:
            return kind
    return None
