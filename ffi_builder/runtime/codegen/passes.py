"""What errors say of MLIR's passes and text: the pass that was meant, the place of a mistake."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ffi_builder.suggest import did_you_mean

_LOWERING: Final = {
    "one-shot-bufferize{bufferize-function-boundaries}": ("tensor", "bufferization"),
    "func.func(convert-linalg-to-loops)": ("linalg",),
    "expand-strided-metadata": (),
    "lower-affine": ("affine",),
    "convert-vector-to-scf,convert-vector-to-llvm": ("vector",),
    "convert-scf-to-cf": ("scf",),
    "convert-math-to-libm": ("math",),
    "convert-to-llvm": ("arith", "cf", "complex", "func", "index", "memref", "ub"),
    "reconcile-unrealized-casts": ("builtin",),
}
"""Passes to the LLVM dialect in the order in which they run, with the dialects that each ends."""

_OTHERS: Final = (
    *("affine-loop-fusion", "affine-loop-tile", "affine-super-vectorize", "canonicalize", "cse"),
    *("buffer-deallocation-pipeline", "convert-arith-to-llvm", "convert-cf-to-llvm", "inline"),
    *("convert-bufferization-to-memref", "convert-complex-to-llvm", "convert-func-to-llvm"),
    *("convert-elementwise-to-linalg", "convert-index-to-llvm", "convert-linalg-to-affine-loops"),
    *("convert-linalg-to-parallel-loops", "convert-math-to-libm", "convert-math-to-llvm", "sccp"),
    *("convert-openmp-to-llvm", "convert-scf-to-openmp", "convert-ub-to-llvm", "symbol-dce"),
    *("convert-vector-to-llvm", "convert-vector-to-scf", "empty-tensor-to-alloc-tensor"),
    *("finalize-memref-to-llvm", "linalg-fuse-elementwise-ops", "linalg-generalize-named-ops"),
    *("loop-invariant-code-motion", "lower-vector-mask"),
)
_KNOWN: Final = (*re.findall(r"(?<![a-z{-])[a-z]+-[a-z-]+", " ".join(_LOWERING)), *_OTHERS)
"""Names of upstream's passes that kernels are lowered with."""

_MOST_SHOWN: Final = 100


def lowering(operations: Iterable[str]) -> str:
    """Say which passes lower operations; empty if none is known.

    Examples:
        >>> from ffi_builder.runtime.codegen.passes import lowering
        >>> lowering(["scf.for", "func.func"])
        ': convert-scf-to-cf lowers scf, convert-to-llvm lowers func'
    """
    dialects = {name.partition(".")[0] for name in operations}
    lowered = {name: sorted(dialects & {*ended}) for name, ended in _LOWERING.items()}
    shown = [f"{name} lowers {', '.join(ended)}" for name, ended in lowered.items() if ended]
    return f": {', '.join(shown)}" if shown else ""


def unknown_pass(words: str) -> str:
    """Return ``", did you mean 'convert-scf-to-cf'?"`` for MLIR's words on a pass it lacks."""
    match = re.search(r"'([^']+)' does not refer to a registered pass", words)
    return did_you_mean(match[1], _KNOWN) if match and match[1] not in _KNOWN else ""


def with_line(words: str, text: str | bytes) -> str:
    """Add the first line that an error names, with a caret, to MLIR's words."""
    match = re.search(r'"-":(\d+):(\d+)', words)
    lines = text.split("\n") if isinstance(text, str) else []
    if match is None or not 0 < int(match[1]) <= len(lines):
        return words
    line, column = lines[int(match[1]) - 1], int(match[2]) - 1
    start = max(0, column - _MOST_SHOWN // 2) if len(line) > _MOST_SHOWN else 0
    return f"{words}\n{line[start : start + _MOST_SHOWN]}\n{' ' * (column - start)}^"
