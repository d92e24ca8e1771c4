"""Relocations that the JIT's linker, JITLink, does not know or cannot reach with.

It finds them only when a function is looked up, and then writes to stderr. The numbers are those of
the psABI documents of x86-64 and AArch64 ("ELF for the Arm 64-bit Architecture").
"""

from __future__ import annotations

import platform
from collections.abc import Set
from typing import Final

from ffi_builder.records import dataclass
from ffi_builder.runtime.elf import Reach, Relocation

_TLS_MODEL: Final = "a thread-local model that the JIT does not know: "
_PIC: Final = "compile it with -fPIC"


_TLS_EXPORT: Final = "; or write a shared library with export_library, whose linker knows them"


@dataclass(frozen=True)
class Refusal:
    """Relocations that are refused."""

    types: frozenset[int]
    words: str
    """Text after "The object uses"."""
    reach: Reach = Reach.SECTION
    """Symbols that are as far away, or farther, are refused."""


# ABS64, PREL64, PREL32, MOVW_UABS_G0_NC to G3, LD_PREL_LO19, ADR_PREL_LO21, ADR_PREL_PG_HI21,
# ADD_ABS_LO12_NC, LDST…_ABS_LO12_NC, TSTBR14, CONDBR19, JUMP26, CALL26, ADR_GOT_PAGE,
# LD64_GOT_LO12_NC, LD64_GOTPAGE_LO15, TLSDESC_ADR_PAGE21 to TLSDESC_ADD_LO12, TLSDESC_CALL
_AARCH64_KNOWN: Final = frozenset(
    {
        *(257, 260, 261, 264, 266, 268, 269, 273, 274, 275, 277, 278, 279, 280, 282, 283),
        *(284, 285, 286, 299, 311, 312, 313, 562, 563, 564, 569),
    }
)

_REFUSALS: Final = {
    "x86_64": (
        Refusal(
            # TLSLD, DTPOFF32, GOTTPOFF, TPOFF32, GOTPC32_TLSDESC and what goes with it
            frozenset({20, 21, 22, 23, 34, 35, 36}),
            f"{_TLS_MODEL}thread-local variables must be neither static nor hidden, and compiled "
            f"with -fPIC and no other -ftls-model{_TLS_EXPORT}",
        ),
        Refusal(frozenset({10, 11}), f"absolute 32-bit addresses: {_PIC}"),  # 32, 32S
    ),
    "aarch64": (
        Refusal(
            # TLSGD, TLSLD, TLSIE, TLSLE, and TLSDESC of the tiny and the large code model
            frozenset({*range(512, 562), *range(565, 569)}),
            f"{_TLS_MODEL}{_PIC} and no other -ftls-model, -mtls-dialect or -mcmodel{_TLS_EXPORT}",
        ),
        Refusal(
            # LD_PREL_LO19, ADR_PREL_LO21, TSTBR14, CONDBR19: within 1 MiB
            frozenset({273, 274, 279, 280}),
            "addresses near its own that the JIT may put far away: compile it without "
            "-mcmodel=tiny; in assembly, use adrp and b for other sections",
            Reach.OBJECT,
        ),
        Refusal(
            # PREL32, ADR_PREL_PG_HI21: within 2 and 4 GiB
            frozenset({261, 275}),
            f"the distance to what another object or the process defines: {_PIC}",
            Reach.ELSEWHERE,
        ),
        Refusal(
            frozenset(range(257, 1024)) - _AARCH64_KNOWN,
            f"relocations that the JIT does not know: {_PIC} and no -mcmodel",
        ),
    ),
}


def unsupported(found: Set[Relocation], machine: str | None = None) -> Refusal | None:
    """Return what an object with these relocations uses that the JIT cannot link, if anything.

    `machine` is `x86_64` or `aarch64`, by default this one's.
    """
    for refusal in _REFUSALS.get(machine or platform.machine(), ()):
        if any(each.type in refusal.types and each.reach >= refusal.reach for each in found):
            return refusal
    return None
