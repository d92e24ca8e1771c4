"""cvt, and what goes with it."""

from __future__ import annotations

from typing import Final

from ffi_builder.ptx.table import Form, form

FORMS: Final[tuple[Form, ...]] = (
    form(
        "cvt.<u8|s8|u16|s16|u32|s32|u64|s64>.<u8|s8|u16|s16|u32|s32|u64|s64>  =$1+ $2+",
        "cvt_integer",
        "size 1",
        "sign 1",
    ),
)
