"""cvt, and what goes with it."""

from __future__ import annotations

from typing import Final

from ffi_builder.ptx.table import Form, form

_INTEGERS: Final = "<u8|s8|u16|s16|u32|s32|u64|s64>"
_KINDS: Final = ("f16", "bf16", "f32", "f64")
"""In the order of ``Kind`` in c/conversion.c."""
_FORMATS: Final = ("f16", "bf16", "tf32", "e4m3", "e5m2", "e2m3", "e3m2", "e2m1")
"""In the order of ``FormatNumber`` in c/floats.h."""
_ROUND: Final = "<rn|rz|rm|rp>"
_WHOLE: Final = "<rni|rzi|rmi|rpi>"
_BETWEEN: Final = {
    "": ("f32 f16", "f32 bf16", "f64 f16", "f64 bf16", "f64 f32"),
    f".{_ROUND}": ("f16 f32", "f16 f64", "f16 bf16", "bf16 f16", "bf16 f32", "bf16 f64", "f32 f64"),
}
"""To and from another kind: what is exact, and what is rounded."""
_LIMITS: Final = "<.relu|.satfinite|.relu.satfinite|.satfinite.relu>"
_LIMITED: Final = "[.relu|.satfinite|.relu.satfinite|.satfinite.relu]"


def _words(*kinds: str) -> str:
    """Return the modifiers of a conversion between kinds."""
    return ("[.ftz]" if "f32" in kinds else "") + ("" if "bf16" in kinds else "[.sat]")


def _integers(kind: str) -> tuple[Form, ...]:
    at = _KINDS.index(kind)
    wider = "" if kind == "bf16" else "+"
    return (
        form(
            f"cvt.{_WHOLE}{_words(kind)}.{_INTEGERS}.{kind}  =$2{wider} {kind}",
            "cvt_to_integer",
            at,
            "size 2",
            "sign 2",
        ),
        form(
            f"cvt.{_ROUND}{_words(kind)}.{kind}.{_INTEGERS}  ={kind} $2{wider}",
            "cvt_from_integer",
            at,
        ),
    )


def _float(to: str, source: str, rounding: str) -> Form:
    kinds = _KINDS.index(to), _KINDS.index(source)
    text = f"cvt{rounding}{_words(to, source)}.{to}.{source}  ={to} {source}"
    return form(text, "cvt_float", *kinds, int(rounding == f".{_WHOLE}"))


def _limited(to: str) -> tuple[Form, ...]:
    """Return the conversions of f32 that may be limited: of one, and of two."""
    pair = _FORMATS.index(to), 16
    return (
        form(
            f"cvt.<rn|rz>{_LIMITS}.{to}.f32  ={to} f32",
            "cvt_float",
            _KINDS.index(to),
            _KINDS.index("f32"),
            0,
        ),
        form(f"cvt.<rn|rz>{_LIMITED}.{to}x2.f32  =b32 f32 f32", "cvt_pair", *pair),
    )


def _narrow(name: str, bits: int) -> tuple[Form, ...]:
    """Return the conversions of pairs below 16 bits, where the largest number is the limit."""
    both = f"b{2 * max(bits, 4)}"
    this = _FORMATS.index(name), bits
    halves = tuple((each, (_FORMATS.index(each), 16)) for each in ("f16", "bf16"))
    return (
        *(
            made
            for words in (".satfinite[.relu]", ".relu.satfinite")
            for made in (
                form(f"cvt.rn{words}.{name}x2.f32  ={both} f32 f32", "cvt_pair", *this),
                *(
                    form(
                        f"cvt.rn{words}.{name}x2.{each}x2  ={both} b32",
                        "cvt_repaired",
                        *this,
                        *half,
                    )
                    for each, half in halves
                ),
            )
        ),
        *(
            form(f"cvt.rn[.relu].{each}x2.{name}x2  =b32 {both}", "cvt_repaired", *half, *this)
            for each, half in halves
        ),
    )


FORMS: Final[tuple[Form, ...]] = (
    form(f"cvt[.sat].{_INTEGERS}.{_INTEGERS}  =$1+ $2+", "cvt_integer", "size 1", "sign 1"),
    *(made for kind in _KINDS for made in _integers(kind)),
    *(_float(kind, kind, rounding) for rounding in (f".{_WHOLE}", "") for kind in _KINDS),
    *(
        _float(to, source, rounding)
        for rounding, pairs in _BETWEEN.items()
        for to, source in map(str.split, pairs)
    ),
    *_limited("f16"),
    *_limited("bf16"),
    form("cvt.rna[.satfinite].tf32.f32  =b32 f32", "cvt_tf32"),
    form(f"cvt.<rn|rz>{_LIMITED}.tf32.f32  =b32 f32", "cvt_tf32"),
    *(
        made
        for name, bits in (("e4m3", 8), ("e5m2", 8), ("e2m3", 8), ("e3m2", 8), ("e2m1", 4))
        for made in _narrow(name, bits)
    ),
    form("cvt.<rz|rp>[.satfinite].ue8m0x2.f32  =b16 f32 f32", "cvt_power"),
    form("cvt.<rz|rp>[.satfinite].ue8m0x2.bf16x2  =b16 b32", "cvt_power_bf16x2"),
    form("cvt.rn.bf16x2.ue8m0x2  =b32 b16", "cvt_of_power"),
    *(
        form(f"cvt.pack.sat.{kind}16.s32  =b32 s32 s32", "cvt_pack", 16, int(kind == "s"))
        for kind in "us"
    ),
    *(
        form(
            f"cvt.pack.sat.{kind}{bits}.s32.b32  =b32 s32 s32 b32",
            "cvt_pack_more",
            bits,
            int(kind == "s"),
        )
        for bits in (8, 4, 2)
        for kind in "us"
    ),
)
