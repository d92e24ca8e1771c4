"""Instructions of the table that go through the elements of a list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ffi_builder import abi
from ffi_builder.diagnosis.program import NO_INDEX_BITS, SLOT_PLACE, Program
from ffi_builder.diagnosis.table import Op
from ffi_builder.plan import Words


def _each(p: Program) -> None:
    size = p.operand(32)
    p.set(p.element, 0)
    p.or_(p.parameter(), NO_INDEX_BITS, p.place_)
    length = p.load(64, p.object, abi.CELL_SIZE)
    missing = p.not_(p.load(64, p.object, abi.CELL_DATA))
    p.fail(p.and_(missing, p.ne(length, 0)), Words.CELLS_NULL)
    with p.when(p.not_(length)):
        p.skip(size)


def _next(p: Program) -> None:
    size = p.operand(32)
    p.add(p.element, 1, p.element)
    with p.when(p.slt(p.load(64, p.object, abi.CELL_SIZE), p.element)):
        p.set(p.element, 0)
        p.skip(size)


def _item(p: Program) -> None:
    behind = p.shl(p.element, 4)
    p.add(p.add(p.load(64, p.object, abi.CELL_DATA), behind), -abi.ANY_SIZE, p.any)
    p.set(p.optional, 0)


def _first(p: Program) -> None:
    slot = p.slot_of(p.operand(16))
    with p.when(p.eq(p.element, 1)):
        p.store(p.object, slot)
        p.store(p.object_type, slot, SLOT_PLACE)


def _back(p: Program) -> None:
    size = p.operand(32)
    p.sub(p.pc, size, p.pc)


LISTS: Final[dict[Op, Callable[[Program], None]]] = {
    Op.EACH: _each,
    Op.NEXT: _next,
    Op.ITEM: _item,
    Op.FIRST: _first,
    Op.BACK: _back,
}
