"""f16, bf16, and pairs of them."""

from __future__ import annotations

from typing import Final

from ffi_builder.ptx.table import Form, form

_COMPARES: Final = "<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>"
_COMBINES: Final = "<.and|.or|.xor>"


def _compared(name: str, results: str, suffix: str, kind: str, *extra: int) -> tuple[Form, ...]:
    """Rows of a comparison, alone and combined with a predicate."""
    return tuple(
        form(f"{name}.{compare}{suffix}  {results} {kind} {kind}{more}", f"{name}_{kind}", *extra)
        for compare, more in ((_COMPARES, ""), (f"{_COMPARES}{_COMBINES}", " !pred"))
    )


FORMS: Final[tuple[Form, ...]] = (
    form("<add|sub|mul>[.rn][.ftz][.sat].<f16|f16x2>  =$2 $2 $2", "$1_$2"),
    form("<add|sub|mul>[.rn].<bf16|bf16x2>  =$2 $2 $2", "$1_$2"),
    form("fma.rn[.ftz][.sat].<f16|f16x2>  =$1 $1 $1 $1", "fma_$1"),
    form("fma.rn[.ftz].relu.<f16|f16x2>  =$1 $1 $1 $1", "fma_$1"),
    form("fma.rn[.relu].<bf16|bf16x2>  =$1 $1 $1 $1", "fma_$1"),
    form("<neg|abs>[.ftz].<f16|f16x2>  =$2 $2", "$1_$2"),
    form("<neg|abs>.<bf16|bf16x2>  =$2 $2", "$1_$2"),
    form("<min|max>[.ftz][.NaN][.xorsign.abs].<f16|f16x2>  =$2 $2 $2", "$1_$2"),
    form("<min|max>[.NaN][.xorsign.abs].<bf16|bf16x2>  =$2 $2 $2", "$1_$2"),
    form("ex2.approx.<f16|f16x2>  =$1 $1", "ex2_$1"),
    form("ex2.approx.ftz.<bf16|bf16x2>  =$1 $1", "ex2_$1"),
    form("tanh.approx.<f16|f16x2|bf16|bf16x2>  =$1 $1", "tanh_$1"),
    # Mixed with f32.
    form("<add|sub>[.rn|.rz|.rm|.rp][.sat].f32.<f16|bf16>  =f32 $2 f32", "$1_f32_$2"),
    form("fma.<rn|rz|rm|rp>[.sat].f32.<f16|bf16>  =f32 $2 $2 f32", "fma_f32_$2"),
    # Comparisons; of pairs, each half has a result, and of others the complement has none.
    *_compared("setp", "=pred _", "[.ftz].f16", "f16"),
    *_compared("setp", "=pred _", ".bf16", "bf16"),
    *_compared("setp", "=pred|", "[.ftz].f16x2", "f16x2"),
    *_compared("setp", "=pred|", ".bf16x2", "bf16x2"),
    *(
        row
        for kind, ftz in (("f16", "[.ftz]"), ("bf16", ""))
        for row in (
            *_compared("set", f"={kind}", f"{ftz}.{kind}.{kind}", kind, 1),
            *_compared("set", f"={kind}x2", f"{ftz}.{kind}x2.{kind}x2", f"{kind}x2", 1),
            *_compared("set", "=u16", f"{ftz}.<u16|s16>.{kind}", kind, 0),
            *_compared("set", "=u32", f"{ftz}.<u32|s32>.{kind}", kind, 0),
            *_compared("set", "=u32", f"{ftz}.<u32|s32>.{kind}x2", f"{kind}x2", 0),
        )
    ),
)
