"""Find LLVM IR that only the code generators for AArch64 cannot take.

LLVM has three of them: GlobalISel at level 0, FastISel for functions that are `optnone`, and
SelectionDAG for all others. Each ends the process on a few types that the code generators for
x86-64 take. All instructions and intrinsics of the allowlist were tried with all types, for a
generic CPU and for one with SVE, with LLVM 22.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_HAZARD: Final = re.compile(
    r"""
      [su]itofp\ (?:nneg\ )?i128\ [^\n]*\ to\ bfloat
    | @llvm\.ct[lt]z\.v\d+i1\b
    | @llvm\.masked\.\w+\.v\d+bf16
    """,
    re.VERBOSE,
)
_LANES: Final = re.compile(r"<(\d+) x ")


def hazards(code: str) -> Iterator[str]:
    """Yield what in LLVM IR, without its strings and comments, is not known to be harmless."""
    found = _HAZARD.search(code)
    if found is not None:
        yield found[0]
    # SelectionDAG narrows three 64-bit integers to bytes of another number of bits.
    for lanes in set(_LANES.findall(code)):
        if int(lanes).bit_count() != 1:
            yield f"a vector of {lanes} elements"
