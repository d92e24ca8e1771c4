"""Assembles the diagnosis: words and names, then code for the machine."""

from __future__ import annotations

from collections.abc import Callable

from ffi_builder.diagnosis.assembler import Label
from ffi_builder.diagnosis.program import Program
from ffi_builder.diagnosis.routines.checks import CHECKS
from ffi_builder.diagnosis.routines.decoding import DECODING, define_decoding
from ffi_builder.diagnosis.routines.expressions import EXPRESSIONS, define_expressions
from ffi_builder.diagnosis.routines.lists import LISTS
from ffi_builder.diagnosis.routines.objects import OBJECTS, define_objects
from ffi_builder.diagnosis.routines.overlap import OVERLAP, define_overlap
from ffi_builder.diagnosis.routines.report import define_report
from ffi_builder.diagnosis.routines.symbols import SYMBOLS
from ffi_builder.diagnosis.routines.tensors import TENSORS, define_tensors
from ffi_builder.diagnosis.table import Op

_ROUTINES = {
    **DECODING,
    **TENSORS,
    **OVERLAP,
    **OBJECTS,
    **CHECKS,
    **SYMBOLS,
    **EXPRESSIONS,
    **LISTS,
}


def assemble() -> tuple[bytes, int]:
    """Return the constant, and the position in it where the code starts running."""
    p = Program()
    define_report(p)
    define_objects(p)
    define_decoding(p)
    define_tensors(p)
    define_overlap(p)
    define_expressions(p)
    entry = p.main(lambda: _main(p))
    return bytes(p.code), entry


def _main(p: Program) -> None:
    """Run the table's instructions. The last one reports that nothing was wrong."""
    p.begin()
    head = Label()
    p.place(head)
    bodies = [lambda: p.run("undecided"), *(_routine(p, op) for op in list(Op)[1:])]
    p.cases(p.operand(8), bodies, behind=head)


def _routine(p: Program, op: Op) -> Callable[[], None]:
    return lambda: _ROUTINES[op](p)
