"""Integers: arithmetic, comparisons, selections."""

from __future__ import annotations

from typing import Final

from ffi_builder.ptx.table import Form, form

FORMS: Final[tuple[Form, ...]] = (
    form("add.<u16|u32|u64>  =$1 $1 $1", "add_$1"),
    form("add.s16  =s16 s16 s16", "add_u16"),
    form("add.s32  =s32 s32 s32", "add_u32"),
    form("add.s64  =s64 s64 s64", "add_u64"),
    form("sub.<u16|u32|u64>  =$1 $1 $1", "sub_$1"),
    form("sub.s16  =s16 s16 s16", "sub_u16"),
    form("sub.s32  =s32 s32 s32", "sub_u32"),
    form("sub.s64  =s64 s64 s64", "sub_u64"),
    form("mul.lo.<u16|u32|u64>  =$1 $1 $1", "mul_lo_$1"),
    form("mul.lo.s<16|32|64>  =s$1 s$1 s$1", "mul_lo_u$1"),
    form("mul.hi.<u16|s16|u32|s32|u64|s64>  =$1 $1 $1", "mul_hi_$1"),
    form("mul.wide.<u|s>16  =$132 $116 $116", "mul_wide_$116"),
    form("mul.wide.<u|s>32  =$164 $132 $132", "mul_wide_$132"),
    form("mad.lo.<u16|u32|u64>  =$1 $1 $1 $1", "mad_lo_$1"),
    form("mad.lo.s<16|32|64>  =s$1 s$1 s$1 s$1", "mad_lo_u$1"),
    form("mad.wide.<u|s>16  =$132 $116 $116 $132", "mad_wide_$116"),
    form("mad.wide.<u|s>32  =$164 $132 $132 $164", "mad_wide_$132"),
    form("div.<u16|s16|u32|s32|u64|s64>  =$1 $1 $1", "div_$1"),
    form("rem.<u16|s16|u32|s32|u64|s64>  =$1 $1 $1", "rem_$1"),
    form("min.<u16|s16|u32|s32|u64|s64>  =$1 $1 $1", "min_$1"),
    form("max.<u16|s16|u32|s32|u64|s64>  =$1 $1 $1", "max_$1"),
    form("abs.<s16|s32|s64>  =$1 $1", "abs_$1"),
    form("neg.<s16|s32|s64>  =$1 $1", "neg_$1"),
    form("setp.<eq|ne>.b<16|32|64>  =pred| b$2 b$2", "setp_u$2"),
    form("setp.<eq|ne>.<and|or|xor>.b<16|32|64>  =pred| b$3 b$3 !pred", "setp_u$3"),
    form("setp.<eq|ne|lt|le|gt|ge|lo|ls|hi|hs>.<u16|u32|u64|s16|s32|s64>  =pred| $2 $2", "setp_$2"),
    form(
        "setp.<eq|ne|lt|le|gt|ge|lo|ls|hi|hs>.<and|or|xor>.<u16|u32|u64|s16|s32|s64>"
        "  =pred| $3 $3 !pred",
        "setp_$3",
    ),
    form("selp.<b16|u16|s16|b32|u32|s32|f32|b64|u64|s64|f64>  =$1 $1 $1 pred", "selp"),
)
