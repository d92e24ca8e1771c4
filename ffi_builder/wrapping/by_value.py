"""How C passes and returns structs by value: in registers or in memory, as two ABIs say.

On x86-64 (System V), each eight bytes of a struct of up to 16 go to a register: of integers if one
of their fields is no float. The whole struct goes to memory if a register lacks. On AArch64, one to
four floats of one type go to as many registers, another struct of up to 16 bytes to those of
integers, and of a larger one the address of a copy is passed.
"""

from __future__ import annotations

import platform
from dataclasses import replace
from typing import Final, TypeAlias

from ffi_builder import CompileError
from ffi_builder.extending import FLOAT_DTYPES
from ffi_builder.wrapping.c_types import CType, Layout, Prototype, llvm_type

Pieces: TypeAlias = "tuple[tuple[int, str], ...]"
_MACHINES: Final = {"amd64": "x86_64", "arm64": "aarch64"}
_WORD, _SMALL, _MOST_FLOATS = 8, 16, 4
_REGISTERS: Final = {"i64": 6, "f64": 8}
"""The registers of x86-64 that get arguments: of integers and pointers, and of floats."""


def with_registers(declared: Prototype, target: str | None = None) -> Prototype:
    """Return a prototype whose structs say how they are passed.

    Args:
        declared: the function.
        target: the triple of the machine; None for this one.

    Raises:
        CompileError: a struct that a wrapper does not pass by value, at all or on that machine.
    """
    result = declared.result
    whole = [("the result", result)] if result is not None else []
    whole += [(f"parameter {name or f'#{at}'}", t) for at, (name, t) in enumerate(declared.params)]
    structs = [(what, type_) for what, type_ in whole if type_.is_struct]
    if not structs:
        return declared
    machine = _machine(target)
    for what, type_ in structs:
        _check(f"{declared.name}: {what} is {type_}", type_, machine)
    if result is not None and result.is_struct:
        result = _returned(result, machine)
    left = dict(_REGISTERS)
    left["i64"] -= result is not None and result.is_struct and not result.pieces
    params = list[tuple[str, CType]]()
    for name, type_ in declared.params:
        passed = _passed(type_, machine, left) if type_.is_struct else type_
        for register in (each for _, each in passed.pieces):
            left[register] = left.get(register, 0) - 1
        if not type_.is_struct:
            left["f64" if type_.dtype in FLOAT_DTYPES and not type_.is_pointer else "i64"] -= 1
        params.append((name, passed))
    return replace(declared, params=tuple(params), result=result)


def triple_for(declared: Prototype, target: str | None) -> str | None:
    """Return the triple of the only machine that calls a function so; None if others do, too."""
    types = [*(type_ for _, type_ in declared.params), declared.result]
    by_value = any(each is not None and each.is_struct for each in types)
    return f"{_machine(target)}-unknown-linux-gnu" if by_value else None


def _machine(target: str | None) -> str:
    machine = (target or platform.machine()).partition("-")[0].lower()
    return _MACHINES.get(machine, machine)


def _check(what: str, type_: CType, machine: str) -> None:
    """Raise CompileError for a struct that cannot be passed by value."""
    layout = type_.layout
    assert layout is not None
    cure = "let a function in C take its address"
    if machine not in _MACHINES.values():
        raise CompileError(
            f"{what}, which is passed by value on x86-64 and AArch64, and not on {machine}; {cure}"
        )
    for each in layout.members:
        lacks = each.lacks or ("in a union" if each.is_shared else "")
        if lacks:
            raise CompileError(
                f"{what}, whose field {each.name or '(without a name)'} is {lacks}, which is not "
                f"passed by value; {cure}"
            )
    if layout.align > _WORD:
        raise CompileError(f"{what}, which is aligned to {layout.align} bytes; {cure}")


def _returned(type_: CType, machine: str) -> CType:
    pieces = _pieces(type_, machine)
    return replace(type_, pieces=pieces, attribute="" if pieces else _memory("sret", type_))


def _passed(type_: CType, machine: str, left: dict[str, int]) -> CType:
    pieces = _pieces(type_, machine)
    if machine == "aarch64":
        return replace(type_, pieces=pieces)
    wanted = [each for _, each in pieces]
    if not pieces or any(wanted.count(each) > left[each] for each in {*wanted}):
        return replace(type_, pieces=(), attribute=_memory("byval", type_))
    return replace(type_, pieces=pieces)


def _pieces(type_: CType, machine: str) -> Pieces:
    """Return the offsets and types of what registers get; nothing if the struct is in memory."""
    layout = type_.layout
    assert layout is not None
    kinds = {each.type_.dtype if not each.type_.is_pointer else "handle" for each in layout.members}
    count = len(layout.members)
    if machine == "aarch64" and len(kinds) == 1 and count <= _MOST_FLOATS:
        [kind] = kinds
        if kind in FLOAT_DTYPES:
            return ((0, f"array<{count} x {llvm_type(kind)}>"),)
    if layout.size > _SMALL:
        return ()
    if machine == "aarch64":
        return ((0, "i64" if layout.size <= _WORD else "array<2 x i64>"),)
    words = range(0, layout.size, _WORD)
    return tuple((at, "f64" if _has_floats_alone(layout, at) else "i64") for at in words)


def _has_floats_alone(layout: Layout, start: int) -> bool:
    """Return whether eight bytes of a struct have floats and nothing else."""
    here = (each.type_ for each in layout.members if each.offset // _WORD == start // _WORD)
    return all(each.dtype in FLOAT_DTYPES and not each.is_pointer for each in here)


def _memory(attribute: str, type_: CType) -> str:
    """Return LLVM's attributes of the address of a struct that is in memory."""
    assert type_.layout is not None
    of = f"!llvm.array<{type_.layout.size} x i8>"
    return f"llvm.{attribute} = {of}, llvm.align = {_WORD} : i64"
