"""The tables: every form of an instruction that is executed. Others are refused."""

from __future__ import annotations

from typing import Final

from ffi_builder.ptx.forms import (
    asynchronous,
    atomics,
    control,
    conversion,
    floating,
    half,
    integer,
    logic,
    matrix,
    memory,
    tcgen05,
    tensor,
    warp,
    wgmma,
    wmma,
)
from ffi_builder.ptx.table import Form

FORMS: Final[tuple[Form, ...]] = tuple(
    row
    for module in (
        *(control, integer, logic, floating, half, conversion, memory, atomics, warp, matrix),
        *(wmma, wgmma, tcgen05, asynchronous, tensor),
    )
    for row in module.FORMS
)
