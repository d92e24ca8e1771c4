"""tcgen05: tensor memory, and products into it, of one block."""

from __future__ import annotations

from typing import Final

from ffi_builder.ptx.table import Form, form

_GROUP: Final = "cta_group::1"
_KINDS: Final = ("f16", "tf32", "f8f6f4", "i8")
_COLLECTOR: Final = (
    "[.collector::a::fill|.collector::a::use|.collector::a::lastuse|.collector::a::discard]"
)
# Shapes in the order of ``Pattern`` in tcgen05.c: their registers, and the most there are of them.
_SHAPES: Final = {"32x32b": (1, 128), "16x32bx2": (1, 128), "16x128b": (2, 64), "16x256b": (4, 32)}


def _moves(name: str, packs: str) -> tuple[Form, ...]:
    """Rows of loads or stores."""
    rows = list[Form]()
    for at, (shape, (each, most)) in enumerate(_SHAPES.items()):
        counts = "|".join(str(1 << power) for power in range(8) if 1 << power <= most)
        registers, split = f"b32*$1*{each}", " #" if shape == "16x32bx2" else ""
        operands = f"={registers} @{split}" if name == "ld" else f"@{split} {registers}"
        for packed, suffix in enumerate(("", f".{packs}::16b")):
            opcode = f"tcgen05.{name}.sync.aligned.{shape}.x<{counts}>{suffix}.b32"
            rows.append(form(f"{opcode}  {operands}", f"tcgen05_{name}", at, packed))
    return tuple(rows)


FORMS: Final[tuple[Form, ...]] = (
    form(f"tcgen05.alloc.{_GROUP}.sync.aligned[.shared::cta].b32  @ b32", "tcgen05_alloc"),
    form(f"tcgen05.dealloc.{_GROUP}.sync.aligned.b32  b32 b32", "tcgen05_dealloc"),
    form(f"tcgen05.relinquish_alloc_permit.{_GROUP}.sync.aligned", "nothing"),
    form("tcgen05.fence::<before_thread_sync|after_thread_sync>", "nothing"),
    form("tcgen05.wait::<ld|st>.sync.aligned", "nothing"),
    *_moves("ld", "pack"),
    *_moves("st", "unpack"),
    *(
        form(
            f"tcgen05.mma.{_GROUP}.kind::{kind}{_COLLECTOR}  @ {a} b64 b32{masks} !pred",
            *("tcgen05_mma", at, int(a == "@"), int(bool(masks))),
        )
        for at, kind in enumerate(_KINDS)
        for a in ("@", "b64")
        for masks in ("", " b32*4")
    ),
    form(
        f"tcgen05.commit.{_GROUP}[.mbarrier::arrive::one][.shared::cluster].b64  @",
        "tcgen05_commit",
    ),
)
