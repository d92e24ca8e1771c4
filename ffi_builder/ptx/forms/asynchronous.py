"""cp.async, bulk copies and mbarriers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ffi_builder.ptx.table import SPACES, Form, form

_SHARED: Final = "[.shared|.shared::cta]"
_ANY: Final = "[.shared|.shared::cta|.shared::cluster]"
_ORDER: Final = "[.release|.acquire|.relaxed|.cta|.cluster]*"
_HINT: Final = "[.L2::cache_hint]"
_CACHE: Final = "[.L2::cache_hint|.L2::64B|.L2::128B|.L2::256B]*"


def _bulk() -> Iterator[Form]:
    for to, from_ in (
        ("shared::cluster", "global"),
        ("shared::cta", "global"),
        ("shared::cluster", "shared::cta"),
    ):
        spaces = SPACES[to], SPACES[from_]
        opcode = f"cp.async.bulk.{to}.{from_}.mbarrier::complete_tx::bytes"
        yield form(f"{opcode}{_HINT}  @ @ b32 @ b64?", "bulk_copy", *spaces, 1, 0)
    many = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
    yield form(f"{many}{_HINT}  @ @ b32 @ b16 b64?", "bulk_copy", 6, 1, 1, 1)
    store = "cp.async.bulk.global.shared::cta.bulk_group"
    yield form(f"{store}{_HINT}  @ @ b32 b64?", "bulk_copy", 1, 2, 0, 0)


def _barriers() -> Iterator[Form]:
    yield form(f"mbarrier.init{_SHARED}.b64  @ b32", "mbarrier_init")
    yield form(f"mbarrier.inval{_SHARED}.b64  @", "mbarrier_inval")
    yield form(f"mbarrier.<expect_tx|complete_tx>{_ORDER}{_ANY}.b64  @ b32", "mbarrier_$1")
    for name, dropped in (("arrive", 0), ("arrive_drop", 1)):
        opcode = f"mbarrier.{name}"
        plain = f"{opcode}[.noComplete]{_ORDER}{_ANY}.b64"
        yield form(f"{plain}  =b64 @ b32?", "mbarrier_arrive", 0, dropped)
        bytes_ = f"{opcode}.expect_tx{_ORDER}{_ANY}.b64"
        yield form(f"{bytes_}  =b64 @ b32", "mbarrier_arrive", 1, dropped)
    for opcode in ("mbarrier.test_wait", "mbarrier.try_wait"):
        yield form(f"{opcode}{_ORDER}{_SHARED}.b64  =pred @ b64 b32?", "mbarrier_wait", 0)
        parity = f"{opcode}.parity{_ORDER}{_SHARED}.b64"
        yield form(f"{parity}  =pred @ b32 b32?", "mbarrier_wait", 1)
    yield form("mbarrier.pending_count.b64  =b32 b64", "mbarrier_pending_count")


FORMS: Final[tuple[Form, ...]] = (
    form(f"cp.async.<ca|cg>{_SHARED}.global{_CACHE}  @ @ # b32? b64?", "cp_async"),
    form("cp.async.commit_group", "cp_async_commit"),
    form("cp.async.wait_group  #", "cp_async_wait"),
    form("cp.async.wait_all", "cp_async_wait_all"),
    form(f"cp.async.mbarrier.arrive{_SHARED}.b64  @", "cp_async_arrive", 0),
    form(f"cp.async.mbarrier.arrive.noinc{_SHARED}.b64  @", "cp_async_arrive", 1),
    form("cp.async.bulk.commit_group", "bulk_commit"),
    form("cp.async.bulk.wait_group[.read]  #", "bulk_wait"),
    form("cp.async.bulk.prefetch.L2.global  @ b32", "nothing"),
    *_bulk(),
    *_barriers(),
    form(
        "st.async[.weak].shared::cluster.mbarrier::complete_tx::bytes[.v2|.v4]"
        ".<b32|u32|s32|f32|b64|u64|s64|f64>  @ $1*v @",
        "st_async",
    ),
    form("mapa[.shared::cluster].<u32|u64>  =$1 $1 b32", "mapa"),
    form("getctarank[.shared::cluster].<u32|u64>  =u32 $1", "getctarank"),
)
