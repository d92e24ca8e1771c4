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
    tensormap,
    warp,
    wgmma,
    wmma,
)
from ffi_builder.ptx.table import Form

FORMS: Final[tuple[Form, ...]] = (
    *control.FORMS,
    *integer.FORMS,
    *logic.FORMS,
    *floating.FORMS,
    *half.FORMS,
    *conversion.FORMS,
    *memory.FORMS,
    *atomics.FORMS,
    *warp.FORMS,
    *matrix.FORMS,
    *wmma.FORMS,
    *wgmma.FORMS,
    *tcgen05.FORMS,
    *asynchronous.FORMS,
    *tensor.FORMS,
    *tensormap.FORMS,
)
