"""Branches, exits and barriers. Calls, returns and indexed branches are in decode.py."""

from __future__ import annotations

from typing import Final

from ffi_builder.ptx.table import Form, form

_BAR: Final = "<bar|barrier>[.cta]"
_ALIGNED: Final = "[.aligned]"
_NONE: Final = 255

FORMS: Final[tuple[Form, ...]] = (
    form("bra[.uni]  label", "bra"),
    form("exit", "exit"),
    form("trap", "trap"),
    form("brkpt", "nothing"),
    form("nanosleep.u32  u32", "nanosleep"),
    form("setmaxnreg.<inc|dec>.sync.aligned.u32  #", "nothing"),
    form("pmevent  #", "nothing"),
    form("pmevent.mask  #", "nothing"),
    form("membar.<cta|gl|sys>", "nothing"),
    form("fence[.sc|.acq_rel|.acquire|.release].<cta|cluster|gpu|sys>", "nothing"),
    form("griddepcontrol.<launch_dependents|wait>", "nothing"),
    # What the numbers are: the kind; which operands are the barrier, the threads, the predicate.
    form(f"{_BAR}.sync{_ALIGNED}  b32", "bar_sync", 0, 0, _NONE),
    form(f"{_BAR}.sync{_ALIGNED}  b32 b32", "bar_sync", 0, 0, 1),
    form(f"{_BAR}.arrive{_ALIGNED}  b32 b32", "bar_arrive", 0, 0, 1),
    form(f"{_BAR}.red.popc{_ALIGNED}.u32  =u32 b32 !pred", "bar_sync", 1, 1, _NONE, 2),
    form(f"{_BAR}.red.popc{_ALIGNED}.u32  =u32 b32 b32 !pred", "bar_sync", 1, 1, 2, 3),
    *(
        form(f"{_BAR}.red.{kind}{_ALIGNED}.pred  =pred {given} !pred", "bar_sync", at, 1, *places)
        for at, kind in ((2, "and"), (3, "or"))
        for given, *places in (("b32", _NONE, 2), ("b32 b32", 2, 3))
    ),
    form("bar.warp.sync  b32", "bar_warp_sync"),
    form("barrier.cluster.arrive[.release|.relaxed][.aligned]", "cluster_arrive"),
    form("barrier.cluster.wait[.acquire][.aligned]", "cluster_wait"),
    form("fence.mbarrier_init.release.cluster", "nothing"),
    form(
        "fence.proxy.<alias|async|async.global|async.shared::cta|async.shared::cluster>", "nothing"
    ),
    form("fence.proxy.tensormap::generic.release.<cta|cluster|gpu|sys>", "nothing"),
    form("fence.proxy.tensormap::generic.acquire.<cta|cluster|gpu|sys>  @ #", "nothing"),
    form(
        "fence.proxy.async::generic.<acquire|release>.sync_restrict::<shared::cta|shared::cluster>.cluster",
        "nothing",
    ),
    form("fence.<acquire|release>.sync_restrict::<shared::cta|shared::cluster>.cluster", "nothing"),
)
