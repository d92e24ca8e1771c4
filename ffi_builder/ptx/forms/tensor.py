"""Copies through tensor maps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ffi_builder.ptx.table import Form, form

_REDUCTIONS: Final = "<add|min|max|inc|dec|and|or|xor>"


def _forms(rank: int) -> Iterator[Form]:
    opcode = f"cp.async.bulk.tensor.{rank}d"
    one = "[.cta_group::1]"
    for to in ("shared::cluster", "shared::cta"):
        load = f"{opcode}.{to}.global[.tile].mbarrier::complete_tx::bytes"
        yield form(f"{load}{one}  @ @*{rank} @", "tensor_load", rank, 0)
        yield form(f"{load}{one}.L2::cache_hint  @ @*{rank} @ b64", "tensor_load", rank, 0)
    load = f"{opcode}.shared::cluster.global[.tile].mbarrier::complete_tx::bytes.multicast::cluster"
    yield form(f"{load}{one}  @ @*{rank} @ b16", "tensor_load", rank, 1)
    yield form(f"{load}{one}.L2::cache_hint  @ @*{rank} @ b16 b64", "tensor_load", rank, 1)
    store = f"{opcode}.global.shared::cta[.tile].bulk_group"
    yield form(f"{store}  @*{rank} @", "tensor_store", rank, 0)
    yield form(f"{store}.L2::cache_hint  @*{rank} @ b64", "tensor_store", rank, 0)
    reduce = f"cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{_REDUCTIONS}[.tile].bulk_group"
    yield form(f"{reduce}  @*{rank} @", "tensor_store", rank, 1, "#1")
    yield form(f"{reduce}.L2::cache_hint  @*{rank} @ b64", "tensor_store", rank, 1, "#1")
    yield form(f"cp.async.bulk.prefetch.tensor.{rank}d.L2.global[.tile]  @*{rank}", "tensor_prefetch", rank)


FORMS: Final[tuple[Form, ...]] = (
    *(each for rank in range(1, 6) for each in _forms(rank)),
    form("prefetch[.param|.const].tensormap  @", "nothing"),
)
