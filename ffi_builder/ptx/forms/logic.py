"""Bits: moves, logic, shifts, fields, permutations."""

from __future__ import annotations

from typing import Final

from ffi_builder.ptx.table import Form, form

_PARTS: Final = (
    ("b16", "b8*2"),
    ("b32", "b8*4"),
    ("b32", "b16*2"),
    ("b64", "b16*4"),
    ("b64", "b32*2"),
)

FORMS: Final[tuple[Form, ...]] = (
    form("mov.<b16|u16|s16|b32|u32|s32|f32|b64|u64|s64|f64>  =$1 $1", "mov"),
    form("mov.pred  =pred !pred", "mov_pred"),
    form("mov.b128  =b128 b128", "mov_b128"),
    *(
        made
        for whole, parts in _PARTS
        for made in (
            form(f"mov.{whole}  ={parts} {whole}", "mov_unpack"),
            form(f"mov.{whole}  ={whole} {parts}", "mov_pack"),
        )
    ),
    form("mov.b128  =b64*2 b128", "mov_unpack_b128"),
    form("mov.b128  =b128 b64*2", "mov_pack_b128"),
    form("<and|or|xor>.<b16|b32|b64>  =$2 $2 $2", "$1_$2"),
    form("<not|cnot>.<b16|b32|b64>  =$2 $2", "$1_$2"),
    form("<and|or|xor>.pred  =pred !pred !pred", "$1_pred"),
    form("not.pred  =pred !pred", "not_pred"),
    form("shl.<b16|b32|b64>  =$1 $1 b32", "shl_$1"),
    form("shr.<b|u><16|32|64>  =b$2 b$2 b32", "shr_u_b$2"),
    form("shr.s<16|32|64>  =b$1 b$1 b32", "shr_s_b$1"),
    form("shf.<l|r>.<wrap|clamp>.b32  =b32 b32 b32 b32", "shf_$1", "#2"),
    form("lop3.b32  =b32 b32 b32 b32 #", "lop3"),
    form("lop3.<or|and>.b32  =b32| b32 b32 b32 # !pred", "lop3_pred"),
    form("bfe.<u32|s32|u64|s64>  =$1 $1 b32 b32", "bfe_$1"),
    form("bfi.<b32|b64>  =$1 $1 $1 b32 b32", "bfi_$1"),
    form("brev.<b32|b64>  =$1 $1", "brev_$1"),
    form("bmsk.<wrap|clamp>.b32  =b32 b32 b32", "bmsk", "#1"),
    form("szext.<wrap|clamp>.<u32|s32>  =b32 b32 b32", "szext", "#1", "sign 2"),
    form("prmt.b32  =b32 b32 b32 b32", "prmt"),
    form("prmt.b32.<f4e|b4e|rc8|ecl|ecr|rc16>  =b32 b32 b32 b32", "prmt_mode", "#1"),
)
