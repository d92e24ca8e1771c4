"""Modules that compilers and lowering passes make, in one file: `modules.json.xz`.

`python -m tests.ordinary.make` wrote it.
"""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Final

PATH: Final = Path(__file__).parent / "modules.json.xz"


def modules() -> dict[str, str]:
    """The modules by name: `numba …` and `C …` are LLVM IR, the others are MLIR's LLVM dialect."""
    return json.loads(lzma.decompress(PATH.read_bytes()))


def is_llvm_ir(name: str) -> bool:
    return name.startswith(("numba ", "C "))
