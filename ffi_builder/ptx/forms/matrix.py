"""mma, ldmatrix, stmatrix and movmatrix."""

from __future__ import annotations

from itertools import product
from typing import Final

from ffi_builder.ptx.table import Form, form

# Bits of an element in a register, by type; in the order of ``Type`` in matrix.h.
BITS: Final = {
    "f16": 16,
    "bf16": 16,
    "tf32": 32,
    "e4m3": 8,
    "e5m2": 8,
    "e2m3": 8,
    "e3m2": 8,
    "e2m1": 8,
    "f64": 64,
    "f32": 32,
    "s8": 8,
    "u8": 8,
    "s4": 4,
    "u4": 4,
    "b1": 1,
    "s32": 32,
    "packed e2m1": 4,
}
NUMBERS: Final = {name: number for number, name in enumerate(BITS)}
_SHARED: Final = "[.shared|.shared::cta]"
_ALIGNED: Final = "mma.sync.aligned"
_KIND: Final = ".kind::f8f6f4"


def registers(kind: str, elements: int) -> str:
    """Return what 32 lanes have together: so many elements."""
    bits = max(BITS[kind], 32)
    return f"b{bits}*{elements * BITS[kind] // (32 * bits)}"


def _mma(handler: str, opcode: str, m: int, k: int, types: str, suffix: str = "") -> Form:
    """A row for the shape of m, 8 columns and k, and for the types of d, a, b and c."""
    d, a, b, c = types.split()
    operands = (
        f"={registers(d, m * 8)} {registers(a, m * k)} {registers(b, k * 8)} {registers(c, m * 8)}"
    )
    name = opcode.replace("SHAPE", f"m{m}n8k{k}")
    text = f"{name}.{d}.{a}.{b}.{c}{suffix}  {operands}"
    return form(text, handler, m, k // 4, *(NUMBERS[each] for each in (a, b, c, d)))


def _scaled(kind: str, parts: int, k: int, a: str, b: str, scale: str) -> tuple[Form, ...]:
    """Rows of products whose factors are scaled, in both orders that are found."""
    types = "packed e2m1" if k == 64 else a, "packed e2m1" if k == 64 else b
    operands = "=b32*4 b32*4 b32*2 b32*4 b32*1 b16*2 b32*1 b16*2"
    numbers = (parts, k // 4, *(NUMBERS[each] for each in types), int(scale == "ue8m0"))
    qualifiers = f".kind::{kind}.block_scale.scale_vec::{parts}X"
    return tuple(
        form(f"{_ALIGNED}{name}.f32.{a}.{b}.f32.{scale}  {operands}", "mma_scaled", *numbers)
        for name in (f"{qualifiers}.m16n8k{k}.row.col", f".m16n8k{k}.row.col{qualifiers}")
    )


_PLAIN: Final = f"{_ALIGNED}.SHAPE.row.col"
_F8: Final = ("e4m3", "e5m2")
_BELOW_F16: Final = (*_F8, "e3m2", "e2m3", "e2m1")

FORMS: Final[tuple[Form, ...]] = (
    *(
        form(f"{name}.sync.aligned.{shape}{_SHARED}.b16  {operands}", name, count, at)
        for count, (trans, at) in product((1, 2, 4), (("", 0), (".trans", 1)))
        for shape in (f"m8n8.x{count}{trans}", f"x{count}{trans}.m8n8")
        for name, operands in (("ldmatrix", f"=b32*{count} @"), ("stmatrix", f"@ b32*{count}"))
    ),
    form("movmatrix.sync.aligned.m8n8.trans.b16  =b32 b32", "movmatrix", 1, 1),
    *(
        form(
            f"{_ALIGNED}.m8n8k4.<row|col>.<row|col>.{d}.f16.f16.{c}"
            f"  =b32*{8 * BITS[d] // 32} b32*2 b32*2 b32*{8 * BITS[c] // 32}",
            *("mma_quads", "#1", "#2", NUMBERS[c], NUMBERS[d]),
        )
        for d, c in (("f16", "f16"), ("f32", "f16"), ("f32", "f32"))
    ),
    *(
        _mma("mma", _PLAIN, 16, k, f"{d} {kind} {kind} {d}")
        for kind, ks, ds in (
            ("f16", (8, 16), ("f16", "f32")),
            ("bf16", (8, 16), ("f32",)),
            ("tf32", (4, 8), ("f32",)),
        )
        for k, d in product(ks, ds)
    ),
    *(
        _mma("mma", _PLAIN, 16, k, f"{d} {a} {b} {d}")
        for k, d, a, b in product((16, 32), ("f16", "f32"), _F8, _F8)
    ),
    *(
        _mma("mma", opcode, 16, 32, f"{d} {a} {b} {d}")
        for opcode in (f"{_ALIGNED}{_KIND}.SHAPE.row.col", f"{_ALIGNED}.SHAPE.row.col{_KIND}")
        for d, a, b in product(("f16", "f32"), _BELOW_F16, _BELOW_F16)
    ),
    *(
        row
        for a, b in product(_BELOW_F16, repeat=2)
        for row in _scaled("mxf8f6f4", 1, 32, a, b, "ue8m0")
    ),
    *(
        row
        for kind, parts, scale in (
            ("mxf4", 2, "ue8m0"),
            ("mxf4nvf4", 2, "ue8m0"),
            ("mxf4nvf4", 4, "ue8m0"),
            ("mxf4nvf4", 4, "ue4m3"),
        )
        for row in _scaled(kind, parts, 64, "e2m1", "e2m1", scale)
    ),
    *(
        _mma("mma_f64", _PLAIN, m, k, "f64 f64 f64 f64")
        for m, k in ((8, 4), (16, 4), (16, 8), (16, 16))
    ),
    *(
        _mma("mma", f"{_PLAIN}[.satfinite]", m, k, f"s32 {a}{bits} {b}{bits} s32")
        for bits, shapes in ((8, ((8, 16), (16, 16), (16, 32))), (4, ((8, 32), (16, 32), (16, 64))))
        for (m, k), a, b in product(shapes, "su", "su")
    ),
    *(
        _mma("mma_b1", _PLAIN, m, k, "s32 b1 b1 s32", ".<and|xor>.popc")
        for m, k in ((8, 128), (16, 128), (16, 256))
    ),
)
