"""wgmma: products of four warps, with operands in shared memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ffi_builder.ptx.forms.matrix import BITS, NUMBERS
from ffi_builder.ptx.table import Form, form

_N: Final = f"<{'|'.join(map(str, range(8, 257, 8)))}>"


def _rows(d: str, *kinds: str, suffix: str = "") -> Iterator[Form]:
    """Yield the rows for a type of results and types of factors: a in memory, or registers."""
    bits = BITS[kinds[0]]
    factors = f"<{'|'.join(kinds)}>"
    signs = "" if d == "s32" else " # #"
    for at, a in enumerate(("b64", "b32*4")):
        trans = " #" * (2 - at) if bits == 16 else ""
        yield form(
            f"wgmma.mma_async.sync.aligned.m64n{_N}k{256 // bits}{'[.satfinite]' * (bits == 8)}"
            f".{d}.{factors}.{factors}{suffix}"
            f"  =b32*$1/{64 // BITS[d]} {a} b64 !pred{signs}{trans}",
            "wgmma_integer" if d == "s32" else "wgmma_float",
            *("#1", NUMBERS[kinds[0]], "#2", "#3", NUMBERS[d], at),
        )


FORMS: Final[tuple[Form, ...]] = (
    form("wgmma.fence.sync.aligned", "nothing"),
    form("wgmma.commit_group.sync.aligned", "nothing"),
    form("wgmma.wait_group.sync.aligned  #", "wgmma_wait"),
    *_rows("f16", "f16"),
    *_rows("f32", "f16"),
    *_rows("f32", "bf16"),
    *_rows("f32", "tf32"),
    *_rows("f16", "e4m3", "e5m2"),
    *_rows("f32", "e4m3", "e5m2"),
    *_rows("s32", "s8", "u8"),
    *_rows("s32", "b1", suffix=".and.popc"),
)
