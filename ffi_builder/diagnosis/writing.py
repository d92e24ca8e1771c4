"""Writes those instructions of the table that have many operands."""

from __future__ import annotations

import struct
from typing import Final

from ffi_builder import spec
from ffi_builder.diagnosis.table import (
    OPERATOR_CODES,
    SCALAR_BITS,
    WORDS,
    Code,
    Op,
    Rounding,
    Style,
    style_of,
)
from ffi_builder.diagnosis.table_writer import TableWriter
from ffi_builder.plan import Words
from ffi_builder.plan import steps as s
from ffi_builder.plan.messages import choices_text

_ROUNDING: Final = {
    None: Rounding.FLOAT64,
    "float64": Rounding.FLOAT64,
    "float32": Rounding.FLOAT32,
    "float16": Rounding.FLOAT16,
    "bfloat16": Rounding.BFLOAT16,
}
_STYLES: Final = {
    s.Kind.HANDLE: Style.HEX,
    s.Kind.CONST_BOOL: Style.BOOL,
}


def write_scalar(out: TableWriter, kind: s.Kind, dtype: str | None) -> None:
    """Decode a scalar of a kind; round floats to a dtype."""
    mask = sum(1 << SCALAR_BITS.index(index) for index in kind.accepts)
    style = Style.FLOAT if kind.is_float else _STYLES.get(kind, Style.INT)
    out.emit(Op.SCALAR, "BBB", mask, WORDS.index(kind.words), style)
    if style is Style.FLOAT:
        out.emit(Op.FLOAT, "B", _ROUNDING[dtype])


def write_choice(out: TableWriter, choice: spec.Choice) -> None:
    """Check that a str is one of the choices."""
    out.emit(Op.CHOICE)
    out.text(choices_text(choice.choices))
    out.numbers("H", len(choice.choices))
    for text in choice.choices:
        out.text(text)


def write_expression(out: TableWriter, expr: spec.Expr, words: Words) -> None:
    """Check that the value is that of an expression."""
    out.emit(Op.EXPR, "B", WORDS.index(words))
    out.text(str(expr))
    symbols = list(dict.fromkeys(spec.variables(expr)))
    out.numbers(f"{len(symbols) + 1}H", len(symbols), *(out.symbols[var] for var in symbols))
    _write_postfix(out, expr)
    out.emit(Code.END)


def _write_postfix(out: TableWriter, value: spec.Dim) -> None:
    match value:
        case spec.Var():
            # A uint64 beyond int64 counts as an overflow.
            unsigned = style_of(value.dtype) is Style.UINT
            out.emit(Code.SYMBOL, "HB", out.symbols[value], unsigned)
        case spec.Expr(op, lhs, rhs):
            _write_postfix(out, lhs)
            _write_postfix(out, rhs)
            out.emit(OPERATOR_CODES[op])
        case int():
            out.emit(Code.CONSTANT, "q", value)


def integer_dtype(dtype: str) -> tuple[int, int]:
    """Return the number of bits, and 1 if the dtype is signed."""
    signed = not dtype.startswith("u")
    return int(dtype.removeprefix("u").removeprefix("int")), int(signed)


def as_signed(value: int) -> int:
    """Return the int64 with the same bits as a uint64."""
    return struct.unpack("<q", struct.pack("<Q", value))[0] if value >= 2**63 else value
