"""Loads, stores, atomics, and conversions of addresses."""

from __future__ import annotations

from typing import Final

from ffi_builder.ptx.table import Form, form

_SPACES: Final = (
    ".global|.shared|.shared::cta|.shared::cluster|.local|.const|.param|.param::entry|.param::func"
)
_ORDERS: Final = ".weak|.volatile|.mmio|.relaxed|.acquire|.release"
_SCOPES: Final = ".cta|.cluster|.gpu|.sys"
_CACHES: Final = (
    ".ca|.cg|.cs|.lu|.cv|.wb|.wt|.nc|.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first"
    "|.L1::evict_last|.L1::no_allocate|.L2::evict_normal|.L2::evict_first|.L2::evict_last"
    "|.L2::64B|.L2::128B|.L2::256B|.L2::cache_hint|.unified"
)
_WORDS: Final = f"[{_ORDERS}|{_SCOPES}|{_SPACES}|{_CACHES}|.v2|.v4|.v8]*"
_WINDOWS: Final = ".global|.shared|.shared::cta|.shared::cluster|.local|.const|.param|.param::entry"
_POLICIES: Final = "[.L2::evict_last|.L2::evict_normal|.L2::evict_first|.L2::evict_unchanged]*"
_TYPES: Final = "<b8|u8|s8|b16|u16|s16|f16|bf16|b32|u32|s32|f32|b64|u64|s64|f64>"

FORMS: Final[tuple[Form, ...]] = (
    form(f"ld{_WORDS}.{_TYPES}  =$1+*v @ b64?", "ld"),
    form(f"ld{_WORDS}.b128  =b128 @", "ld_b128"),
    form(f"ldu{_WORDS}.{_TYPES}  =$1+*v @", "ld"),
    form(f"st{_WORDS}.{_TYPES}  @ $1+*v b64?", "st"),
    form(f"st{_WORDS}.b128  @ b128", "st_b128"),
    form(f"cvta[{_WINDOWS}].u64  =u64 u64", "cvta"),
    form(f"cvta.to[{_WINDOWS}].u64  =u64 u64", "cvta_to"),
    form(
        "isspacep.<global|shared|shared::cta|shared::cluster|local|const|param>  =pred u64",
        "isspacep",
    ),
    form(f"createpolicy.fractional{_POLICIES}.b64  =b64", "policy"),
    form(f"createpolicy.fractional{_POLICIES}.b64  =b64 f32", "policy"),
    form(f"createpolicy.range[.global]{_POLICIES}.b64  =b64 @ b32 b32", "policy"),
    form("createpolicy.cvt.L2.b64  =b64 b64", "policy"),
    form(
        "prefetch[.global|.local|.const|.param].<L1|L2|L2::evict_last|L2::evict_normal>  @",
        "nothing",
    ),
    form("prefetchu.L1  @", "nothing"),
    form("discard[.global].L2  @ #", "nothing"),
    form("applypriority[.global].L2::evict_normal  @ #", "nothing"),
)
