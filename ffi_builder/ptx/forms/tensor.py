"""Copies through tensor maps, and maps that a kernel makes or changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ffi_builder.ptx.table import Form, form

_REDUCTIONS: Final = "<add|min|max|inc|dec|and|or|xor>"
_HINT: Final = "[.L2::cache_hint]"

# The order of ``Field`` in tensormap.c: the bits of values, and what there is of each dimension.
_FIELDS: Final = {
    "global_address": (64, False),
    "rank": (32, False),
    "box_dim": (32, True),
    "global_dim": (32, True),
    "global_stride": (64, True),
    "element_stride": (32, True),
    "elemtype": (32, False),
    "interleave_layout": (32, False),
    "swizzle_mode": (32, False),
    "swizzle_atomicity": (32, False),
    "fill_mode": (32, False),
}
_SPACES: Final = "[.global|.shared::cta]"


def _forms(rank: int) -> Iterator[Form]:
    opcode, bytes_ = f"cp.async.bulk.tensor.{rank}d", "mbarrier::complete_tx::bytes"
    load = f"{opcode}.<shared::cluster|shared::cta>.global[.tile].{bytes_}[.cta_group::1]{_HINT}"
    yield form(f"{load}  @ @*{rank} @ b64?", "tensor_load", rank, 0)
    many = f"{opcode}.shared::cluster.global[.tile].{bytes_}.multicast::cluster"
    yield form(f"{many}[.cta_group::1]{_HINT}  @ @*{rank} @ b16 b64?", "tensor_load", rank, 1)
    store = f"{opcode}.global.shared::cta[.tile].bulk_group{_HINT}"
    yield form(f"{store}  @*{rank} @ b64?", "tensor_store", rank, 0)
    reduce = f"cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{_REDUCTIONS}"
    yield form(f"{reduce}[.tile].bulk_group{_HINT}  @*{rank} @ b64?", "tensor_store", rank, 1, "#1")
    prefetch = f"cp.async.bulk.prefetch.tensor.{rank}d.L2.global[.tile]{_HINT}"
    yield form(f"{prefetch}  @*{rank} b64?", "tensor_prefetch", rank)


FORMS: Final[tuple[Form, ...]] = (
    *(each for rank in range(1, 6) for each in _forms(rank)),
    form("prefetch[.param|.const].tensormap  @", "nothing"),
    *(
        form(
            f"tensormap.replace.tile.{name}{_SPACES}.b1024.b{bits}  @ {'# ' * has_element}b{bits}",
            *("tensormap_replace", at, int(has_element)),
        )
        for at, (name, (bits, has_element)) in enumerate(_FIELDS.items())
    ),
    form(
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release"
        ".<cta|cluster|gpu|sys>.sync.aligned  @ @ #",
        "tensormap_copy",
    ),
)
