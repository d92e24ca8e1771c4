"""Warp-wide instructions: shfl, vote, match, redux, elect."""

from __future__ import annotations

from typing import Final

from ffi_builder.ptx.table import Form, form

FORMS: Final[tuple[Form, ...]] = (
    form("shfl.sync.<idx|up|down|bfly>.b32  =b32| b32 b32 b32 b32", "shfl", "#1"),
)
