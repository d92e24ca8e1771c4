"""Warp-wide instructions: shfl, vote, match, redux, elect."""

from __future__ import annotations

from typing import Final

from ffi_builder.ptx.table import Form, form

FORMS: Final[tuple[Form, ...]] = (
    form("shfl.sync.<idx|up|down|bfly>.b32  =b32| b32 b32 b32 b32", "shfl", "#1"),
    form("vote.sync.<any|all|uni>.pred  =pred !pred b32", "vote_$1"),
    form("vote.sync.ballot.b32  =b32 !pred b32", "vote_ballot"),
    form("match.any.sync.<b32|b64>  =b32 _ $1 b32", "match_any"),
    form("match.all.sync.<b32|b64>  =b32| $1 b32", "match_all"),
    form("redux.sync.add.<u32|s32>  =b32 b32 b32", "redux_add_u32"),
    form("redux.sync.<min|max>.<u32|s32>  =b32 b32 b32", "redux_$1_$2"),
    form("redux.sync.<and|or|xor>.b32  =b32 b32 b32", "redux_$1_b32"),
    form("redux.sync.<min|max>[.NaN].f32  =f32 f32 b32", "redux_f32", "#1", 0),
    form("redux.sync.<min|max>.abs[.NaN].f32  =f32 f32 b32", "redux_f32", "#1", 1),
    form("activemask.b32  =b32", "activemask"),
    form("elect.sync  =b32| b32", "elect"),
)
