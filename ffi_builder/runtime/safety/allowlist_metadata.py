"""Decide which metadata of LLVM IR is harmless.

LLVM's verifier does not look at all nodes, and the passes that use those take their form for
granted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from typing import Final

from ffi_builder.patterns import pattern
from ffi_builder.runtime.safety.tables import words

_KNOWN_FLAGS: Final = frozenset(
    {
        *("Debug Info Version", "Dwarf Version", "PIC Level", "PIE Level", "frame-pointer"),
        *("uwtable", "wchar_size"),
    }
)
# Kinds of metadata in whose nodes passes do not expect a null.
_WITHOUT_NULL: Final = words("alias.scope llvm.loop noalias tbaa", "!")
_NULL: Final = pattern(r"^!\d+ = (?:distinct )?!\{[^\n]*\bnull\b", re.MULTILINE)
# The forms of loop properties that passes take for granted.
_LOOP_PROPERTY: Final = pattern(
    r"""!\d+\ =\ (?:distinct\ )?!\{!"llvm\.loop\.(?:
        (?:mustprogress|unroll\.(?:disable|enable|full|runtime\.disable)|disable_nonforced)"
      | (?:vectorize\.(?:enable|width)|interleave\.count|unroll\.count|isvectorized)",
        \ i(?:1|32)\ (?:true|false|\d{1,9})
    )\}""",
    re.VERBOSE,
)
_FLAG: Final = pattern(r'^!\d+ = !\{i32 \d+, !"([^"]*)"', re.MULTILINE)


def hazards(text: str, found: Set[str]) -> Iterator[str]:
    """Look at the nodes in `text`, in which the words `found` are."""
    # LLVM prints nodes last, so there is little to search.
    nodes = text[f"\n{text}".find("\n!") :]
    if found & _WITHOUT_NULL:
        yield from (node[0] for node in _NULL.finditer(nodes))
    if '!"llvm.loop.' in text:
        for line in text.split("\n"):
            if '!"llvm.loop.' in line and _LOOP_PROPERTY.fullmatch(line.rstrip()) is None:
                yield line[:60]
    if "!llvm.module.flags" in text:
        yield from (flag for flag in _FLAG.findall(nodes) if flag not in _KNOWN_FLAGS)
