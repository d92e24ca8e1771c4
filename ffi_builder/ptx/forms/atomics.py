"""atom and red."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ffi_builder.ptx.table import Form, form

_SPACES: Final = ".global|.shared|.shared::cta|.shared::cluster"
_ORDERS: Final = ".relaxed|.acquire|.release|.acq_rel|.cta|.cluster|.gpu|.sys"
_WORDS: Final = f"[{_ORDERS}|{_SPACES}]*"
_LAST: Final = f"[{_ORDERS}|{_SPACES}|.L2::cache_hint|.noftz]*"
_OPERATIONS: Final = (
    ("<add|min|max>", "<u32|s32|u64|s64>"),
    ("<and|or|xor|exch>", "<b32|b64>"),
    ("<inc|dec>", "<u32>"),
    ("<add>", "<f32|f64|f16|f16x2|bf16|bf16x2>"),
    ("<min|max>", "<f16|f16x2|bf16|bf16x2>"),
)
_VECTORS: Final = (
    ("f32", "2|4"),
    ("f16", "2|4|8"),
    ("bf16", "2|4|8"),
    ("f16x2", "2|4"),
    ("bf16x2", "2|4"),
)


def _forms() -> Iterator[Form]:
    for operation, types in _OPERATIONS:
        opcode = f"{_WORDS}.{operation}{_LAST}.{types}"
        yield form(f"atom{opcode}  =$2 @ $2 b64?", "atom_$1_$2")
        yield form(f"red{opcode}  _ @ $2 b64?", "atom_$1_$2")
    yield form(f"atom{_WORDS}.cas{_LAST}.<b16|b32|b64>  =$1 @ $1 $1", "atom_cas_$1")
    yield form(f"atom{_WORDS}.<exch>.b128  =b128 @ b128", "atom_exch_b128")
    yield form(f"atom{_WORDS}.cas.b128  =b128 @ b128 b128", "atom_cas_b128")
    for at, (kind, counts) in enumerate(_VECTORS):
        vector = "|".join(f".v{count}" for count in counts.split("|"))
        size = "u32" if kind in ("f32", "f16x2", "bf16x2") else "u16"
        opcode = f"{_WORDS}.add{_LAST}[{vector}].{kind}"
        yield form(f"atom{opcode}  ={size}*v @ {size}*v", "atom_vector", at)


FORMS: Final[tuple[Form, ...]] = tuple(_forms())
