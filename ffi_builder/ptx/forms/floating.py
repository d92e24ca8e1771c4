"""f32 and f64."""

from __future__ import annotations

from typing import Final

from ffi_builder.ptx.table import Form, form

FORMS: Final[tuple[Form, ...]] = (
    form("<add|sub|mul>[.rn|.rz|.rm|.rp][.ftz][.sat].f32  =f32 f32 f32", "$1_f32"),
    form("fma.<rn|rz|rm|rp>[.ftz][.sat].f32  =f32 f32 f32 f32", "fma_f32"),
)
