"""Bits: moves, logic, shifts, fields, permutations."""

from __future__ import annotations

from typing import Final

from ffi_builder.ptx.table import Form, form

FORMS: Final[tuple[Form, ...]] = (
    form("mov.<b16|u16|s16|b32|u32|s32|f32|b64|u64|s64|f64>  =$1 $1", "mov"),
    form("mov.pred  =pred !pred", "mov_pred"),
    form("mov.b128  =b128 b128", "mov_b128"),
    form("mov.b32  =b16*2 b32", "mov_unpack"),
    form("mov.b32  =b32 b16*2", "mov_pack"),
    form("mov.b64  =b32*2 b64", "mov_unpack"),
    form("mov.b64  =b64 b32*2", "mov_pack"),
    form("mov.b64  =b16*4 b64", "mov_unpack"),
    form("mov.b64  =b64 b16*4", "mov_pack"),
    form("mov.b128  =b64*2 b128", "mov_unpack_b128"),
    form("mov.b128  =b128 b64*2", "mov_pack_b128"),
    form("<and|or|xor>.<b16|b32|b64>  =$2 $2 $2", "$1_$2"),
    form("<not|cnot>.<b16|b32|b64>  =$2 $2", "$1_$2"),
    form("<and|or|xor>.pred  =pred !pred !pred", "$1_pred"),
    form("not.pred  =pred pred", "not_pred"),
    form("shl.<b16|b32|b64>  =$1 $1 b32", "shl_$1"),
    form("shr.<b|u>16  =b16 b16 b32", "shr_u_b16"),
    form("shr.<b|u>32  =b32 b32 b32", "shr_u_b32"),
    form("shr.<b|u>64  =b64 b64 b32", "shr_u_b64"),
    form("shr.s<16|32|64>  =b$1 b$1 b32", "shr_s_b$1"),
)
