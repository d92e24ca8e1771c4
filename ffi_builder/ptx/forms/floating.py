"""f32, f64, and pairs of f32."""

from __future__ import annotations

from typing import Final

from ffi_builder.ptx.table import Form, form

_ROUND: Final = "<rn|rz|rm|rp>"
_ANY: Final = "[.rn|.rz|.rm|.rp]"
_FTZ: Final = "[.ftz]"
_SAT: Final = "[.ftz][.sat]"
_ORDERED: Final = "<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>"
_LOGIC: Final = "<and|or|xor>"
_SELECTED: Final = "<b16|u16|s16|b32|u32|s32|f32|b64|u64|s64|f64>"
_TESTS: Final = "<finite|infinite|number|notanumber|normal|subnormal>"
_TYPES: Final = ((f"{_FTZ}.f32", "f32"), (".f64", "f64"))

FORMS: Final[tuple[Form, ...]] = (
    form(f"<add|sub|mul>{_ANY}{_SAT}.f32  =f32 f32 f32", "$1_f32"),
    form(f"<add|sub|mul>{_ANY}.f64  =f64 f64 f64", "$1_f64"),
    form(f"<add|sub|mul>{_ANY}{_FTZ}.f32x2  =b64 b64 b64", "$1_f32x2"),
    form(f"<fma|mad>.{_ROUND}{_SAT}.f32  =f32 f32 f32 f32", "fma_f32"),
    form(f"<fma|mad>.{_ROUND}.f64  =f64 f64 f64 f64", "fma_f64"),
    form(f"fma.{_ROUND}{_FTZ}.f32x2  =b64 b64 b64 b64", "fma_f32x2"),
    form(f"div.approx{_FTZ}.f32  =f32 f32 f32", "div_approx_f32"),
    form(f"div.<full|rn|rz|rm|rp>{_FTZ}.f32  =f32 f32 f32", "div_f32"),
    form(f"div.{_ROUND}.f64  =f64 f64 f64", "div_f64"),
    form(f"<rcp|sqrt>.<approx|rn|rz|rm|rp>{_FTZ}.f32  =f32 f32", "$1_f32"),
    form(f"<rcp|sqrt>.{_ROUND}.f64  =f64 f64", "$1_f64"),
    form("<rcp|rsqrt>.approx.ftz.f64  =f64 f64", "$1_coarse_f64"),
    form("rsqrt.approx.f64  =f64 f64", "rsqrt_f64"),
    form(f"<rsqrt|sin|cos|ex2|lg2>.approx{_FTZ}.f32  =f32 f32", "$1_f32"),
    form("tanh.approx.f32  =f32 f32", "tanh_f32"),
    form(f"<abs|neg>{_FTZ}.f32  =f32 f32", "$1_float"),
    form("<abs|neg>.f64  =f64 f64", "$1_float"),
    form("copysign.<f32|f64>  =$1 $1 $1", "copysign"),
    form(f"<min|max>{_FTZ}[.NaN].f32  =f32 f32 f32", "$1_f32", 0),
    form(f"<min|max>{_FTZ}[.NaN].xorsign.abs.f32  =f32 f32 f32", "$1_f32", 1),
    form(f"<min|max>{_FTZ}[.NaN].f32  =f32 f32 f32 f32", "$13_f32", 0),
    form(f"<min|max>{_FTZ}[.NaN].abs.f32  =f32 f32 f32 f32", "$13_f32", 1),
    form("<min|max>.f64  =f64 f64 f64", "$1_f64"),
    *(
        made
        for ending, each in _TYPES
        for made in (
            form(f"setp.{_ORDERED}{ending}  =pred| {each} {each}", "setp_float"),
            form(f"setp.{_ORDERED}.{_LOGIC}{ending}  =pred| {each} {each} !pred", "setp_float"),
            *(
                more
                for result, is_float in (("<u32|s32>", 0), ("<f32>", 1))
                for more in (
                    form(
                        f"set.{_ORDERED}{ending.removesuffix(each)}{result}.{each}"
                        f"  =$2 {each} {each}",
                        "set_float",
                        is_float,
                    ),
                    form(
                        f"set.{_ORDERED}.{_LOGIC}{ending.removesuffix(each)}{result}.{each}"
                        f"  =$3 {each} {each} !pred",
                        "set_float",
                        is_float,
                    ),
                )
            ),
        )
    ),
    form(f"slct{_FTZ}.{_SELECTED}.f32  =$1 $1 $1 f32", "slct_f32"),
    form(f"testp.{_TESTS}.<f32|f64>  =pred $2", "testp", "#1"),
)
