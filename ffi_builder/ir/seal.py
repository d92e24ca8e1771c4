"""Marking functions that are made of operations known to translate to LLVM IR.

A runtime that looks at every operation before it hands a module to MLIR's translation (which ends
the process on what it cannot translate) need not look at these. The mark names what it vouches for,
so that it is void once a pass or a hook has put other operations into the function.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Final

from ffi_builder.ir.protocols import Operation
from ffi_builder.ir.types import Types

TRUSTED: Final = "ffi-builder-trusted-"


def seal(types: Types, function: Operation, passthrough: Sequence[str]) -> None:
    """Give a finished function LLVM attributes, and the mark among them."""
    names = [
        operation.operation.name
        for block in function.regions[0].blocks
        for operation in block.operations
    ]
    mark = f"{TRUSTED}{zlib.crc32(','.join(names).encode()):08x}"
    quoted = ", ".join(f'"{name}"' for name in (*passthrough, mark))
    function.attributes["passthrough"] = types.attribute(f"[{quoted}]")
