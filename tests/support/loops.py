"""Kernels of the LLVM dialect with a loop."""

from __future__ import annotations

from typing import Final


def loop(name: str, parameters: str, body: str) -> str:
    """A kernel that runs ``body`` for each ``%i`` from 0 to ``%n``, which is a parameter."""
    return f"""
llvm.func @{name}({parameters}) {{
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^head(%zero : i64)
^head(%i: i64):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^body, ^done
^body:
  {body.strip()}
  %next = llvm.add %i, %one : i64
  llvm.br ^head(%next : i64)
^done:
  llvm.return
}}
"""


SCALE: Final = loop(
    "scale",
    "%x: !llvm.ptr, %n: i64, %factor: f32",
    """
  %at = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %old = llvm.load %at : !llvm.ptr -> f32
  %new = llvm.fmul %old, %factor : f32
  llvm.store %new, %at : f32, !llvm.ptr""",
)
"""Multiplies each of ``n`` float32 by a factor."""
