"""Integers: arithmetic, comparisons, selections, counts of bits."""

from __future__ import annotations

from typing import Final

from ffi_builder.ptx.table import Form, form

_ALL: Final = "<u16|s16|u32|s32|u64|s64>"
_NUMBERS: Final = (
    ("<eq|ne|lt|le|gt|ge>", "<s16|s32|s64>"),
    ("<eq|ne|lt|le|gt|ge|lo|ls|hi|hs>", "<u16|u32|u64>"),
)
_LOGIC: Final = "<and|or|xor>"
_SELECTED: Final = "<b16|u16|s16|b32|u32|s32|f32|b64|u64|s64|f64>"
_TAKES: Final = 1
_GIVES: Final = 2
_CARRIES: Final = (("{}.cc", _GIVES), ("{}c", _TAKES), ("{}c.cc", _TAKES | _GIVES))

FORMS: Final[tuple[Form, ...]] = (
    form("<add|sub>.<u16|u32|u64>  =$2 $2 $2", "$1_$2"),
    form("<add|sub>.s<16|32|64>  =s$2 s$2 s$2", "$1_u$2"),
    form("<add|sub>.sat.s32  =s32 s32 s32", "$1_sat_s32"),
    form("mul.lo.<u16|u32|u64>  =$1 $1 $1", "mul_lo_$1"),
    form("mul.lo.s<16|32|64>  =s$1 s$1 s$1", "mul_lo_u$1"),
    form(f"mul.hi.{_ALL}  =$1 $1 $1", "mul_hi_$1"),
    form("mul.wide.<u|s>16  =$132 $116 $116", "mul_wide_$116"),
    form("mul.wide.<u|s>32  =$164 $132 $132", "mul_wide_$132"),
    form("mad.lo.<u16|u32|u64>  =$1 $1 $1 $1", "mad_lo_$1"),
    form("mad.lo.s<16|32|64>  =s$1 s$1 s$1 s$1", "mad_lo_u$1"),
    form(f"mad.hi.{_ALL}  =$1 $1 $1 $1", "mad_hi_$1"),
    form("mad.hi.sat.s32  =s32 s32 s32 s32", "mad_hi_sat_s32"),
    form("mad.wide.<u|s>16  =$132 $116 $116 $132", "mad_wide_$116"),
    form("mad.wide.<u|s>32  =$164 $132 $132 $164", "mad_wide_$132"),
    form("mul24.<lo|hi>.<u32|s32>  =$2 $2 $2", "mul24_$1_$2"),
    form("mad24.<lo|hi>.<u32|s32>  =$2 $2 $2 $2", "mad24_$1_$2"),
    form("mad24.hi.sat.s32  =s32 s32 s32 s32", "mad24_hi_sat_s32"),
    form(f"sad.{_ALL}  =$1 $1 $1 $1", "sad_$1"),
    form(f"<div|rem|min|max>.{_ALL}  =$2 $2 $2", "$1_$2"),
    form("<min|max>.relu.s32  =s32 s32 s32", "$1_relu_s32"),
    form("add.<u|s>16x2  =b32 b32 b32", "add_u16x2"),
    form("<min|max>.<u|s>16x2  =b32 b32 b32", "$1_$216x2"),
    form("<min|max>.relu.s16x2  =b32 b32 b32", "$1_relu_s16x2"),
    form("<min|max>.<s32|s16x2>.relu  =b32 b32 b32", "$1_relu_$2"),
    form("vabsdiff4.u32.<u32.u32|s32.s32>  =u32 u32 u32 u32", "vabsdiff4", 0),
    form("vabsdiff4.u32.<u32.u32|s32.s32>.add  =u32 u32 u32 u32", "vabsdiff4", 1),
    form("<abs|neg>.<s16|s32|s64>  =$2 $2", "$1_$2"),
    *(
        form(f"{name.format(each)}.<u|s><32|64>  =b$2 b$2 b$2", f"{each}c_b$2", carry)
        for each in ("add", "sub")
        for name, carry in _CARRIES
    ),
    *(
        made
        for name, carry in (("mad.{}.cc", _GIVES), ("madc.{}", _TAKES), ("madc.{}.cc", 3))
        for made in (
            form(f"{name.format('lo')}.<u|s><32|64>  =b$2 b$2 b$2 b$2", "madc_lo_b$2", carry),
            form(f"{name.format('hi')}.<u|s><32|64>  =b$2 b$2 b$2 b$2", "madc_hi_$1b$2", carry),
        )
    ),
    form("setp.<eq|ne>.b<16|32|64>  =pred| b$2 b$2", "setp_u$2"),
    form("setp.<eq|ne>.<and|or|xor>.b<16|32|64>  =pred| b$3 b$3 !pred", "setp_u$3"),
    *(
        made
        for compares, types in _NUMBERS
        for made in (
            form(f"setp.{compares}.{types}  =pred| $2 $2", "setp_$2"),
            form(f"setp.{compares}.{_LOGIC}.{types}  =pred| $3 $3 !pred", "setp_$3"),
        )
    ),
    *(
        made
        for result, is_float in (("<u32|s32>", 0), ("<f32>", 1))
        for compares, types, operand, named in (
            ("<eq|ne>", "b<16|32|64>", "b", "u"),
            *((*each, "", "") for each in _NUMBERS),
        )
        for made in (
            form(
                f"set.{compares}.{result}.{types}  =$2 {operand}$3 {operand}$3",
                f"set_{named}$3",
                is_float,
            ),
            form(
                f"set.{compares}.{_LOGIC}.{result}.{types}  =$3 {operand}$4 {operand}$4 !pred",
                f"set_{named}$4",
                is_float,
            ),
        )
    ),
    form(f"selp.{_SELECTED}  =$1 $1 $1 !pred", "selp"),
    form(f"slct.{_SELECTED}.s32  =$1 $1 $1 s32", "slct_s32"),
    form("popc.b<32|64>  =b32 b$1", "popc"),
    form("clz.b<32|64>  =b32 b$1", "clz_b$1"),
    form("bfind.<u32|s32|u64|s64>  =b32 $1", "bfind_$1", 0),
    form("bfind.shiftamt.<u32|s32|u64|s64>  =b32 $1", "bfind_$1", 1),
    form("fns.b32  =b32 b32 b32 b32", "fns"),
    form("dp4a.<u32|s32>.<u32|s32>  =b32 b32 b32 b32", "dp4a", "sign 1", "sign 2"),
    form("dp2a.<lo|hi>.<u32|s32>.<u32|s32>  =b32 b32 b32 b32", "dp2a", "sign 2", "sign 3", "#1"),
)
