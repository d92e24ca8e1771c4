"""A tensor that a Variant may be is watched where it came."""

from __future__ import annotations

import numpy as np
import pytest

from ffi_builder import attach, runtime, spec
from ffi_builder.providers import DirectCallProvider
from tests.support.wrapping import new_module

KERNEL = """
llvm.func @k(%which: i32, %number: f64, %tensor: !llvm.ptr) {
  %null = llvm.mlir.zero : !llvm.ptr
  %there = llvm.icmp "ne" %tensor, %null : !llvm.ptr
  llvm.cond_br %there, ^write, ^done
^write:
  %five = llvm.mlir.constant(5.0 : f32) : f32
  llvm.store %five, %tensor : f32, !llvm.ptr
  llvm.br ^done
^done:
  llvm.return
}
"""


def test_a_variant() -> None:
    text = "f(s: Optional(Variant(float64, Tensor([n], float32, intent=in))))"
    module = new_module(KERNEL)
    signature = spec.Signature.parse(text, device="cpu")
    attach(module, signature, DirectCallProvider("k"), sanitize=True)
    f = runtime.compile(module)["f"]
    f(0.5)
    f(None)
    with pytest.raises(AssertionError, match=r"the kernel changes s\.tensor\[0\] from 1 to 5"):
        f(np.ones(3, "float32"))
