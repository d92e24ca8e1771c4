"""A decoded kernel, as the interpreter needs it, and the numbers that engine.h has, too."""

from __future__ import annotations

import struct
from array import array
from dataclasses import dataclass, field
from typing import Final

from ffi_builder.ptx.text import Function

CONSTANT: Final = 1 << 31
NEGATED: Final = 1 << 30
NO_GUARD: Final = 0x3FFFFFFF
INSTR: Final = struct.Struct("<QQII16B")
"""``Instr`` of engine.h: function, operands, guard, line, and the bytes."""
FIELDS: Final = ("round", "flags", "compare", "combine", "space", "size", "sign", "count")
# In the order of ``Special`` in engine.h.
_SPECIALS: Final = (
    *(f"%{name}.{axis}" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"),
    *("%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%gridid"),
    *(f"%lanemask_{kind}" for kind in ("eq", "lt", "le", "gt", "ge")),
    *(
        f"%{name}.{axis}"
        for name in ("cluster_ctaid", "cluster_nctaid", "clusterid", "nclusterid")
        for axis in "xyz"
    ),
    *("%cluster_ctarank", "%cluster_nctarank", "%is_explicit_cluster"),
    *("%dynamic_smem_size", "%total_smem_size", "%envreg1", "%envreg2", "shared address"),
)
SPECIAL: Final = {name: number for number, name in enumerate(_SPECIALS)}
SHARED_ADDRESS: Final = SPECIAL["shared address"]
CLOCKS: Final = {
    "%clock": 0,
    "%clock_hi": 1,
    "%clock64": 2,
    "%globaltimer": 2,
    "%globaltimer_lo": 0,
    "%globaltimer_hi": 1,
}


@dataclass(slots=True)
class Program:
    """A kernel, ready for C but for what a launch decides."""

    kernel: Function
    code: list[tuple[str, int, int, int, bytes]] = field(
        default_factory=list[tuple[str, int, int, int, bytes]]
    )
    """Function in C, place of its operands, guard, line, the bytes of the instruction."""
    operands: array[int] = field(default_factory=lambda: array("I"))
    constants: list[int] = field(default_factory=list[int])
    variables: list[tuple[int, str, int]] = field(default_factory=list[tuple[int, str, int]])
    """Which constants are addresses of variables: constant, variable, offset."""
    filled: list[tuple[int, int, int]] = field(default_factory=list[tuple[int, int, int]])
    """Rows that are filled when a warp begins: row, special register, value."""
    rows: int = 1
    """Row 0 is what nobody reads: ``_``."""
    local_size: int = 0
    shared_size: int = 0
    """Of the static variables, so that dynamic shared memory may follow."""
    params: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    """Offset and size of each parameter of the kernel."""
    sources: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    """File and line by the line of the PTX."""
    files: dict[int, str] = field(default_factory=dict[int, str])

    def source_of(self, line: int) -> str:
        """Return ``file:line`` of a line of the PTX; ``""``: nothing says it."""
        number, at = self.sources.get(line, (0, 0))
        return f"{self.files[number]}:{at}" if number in self.files and at else ""


def place(at: int, align: int) -> int:
    """Return the first multiple that is not before."""
    return -(-at // align) * align if align else at
