"""JAX, kernels on memrefs that its functions call, and functions that record what they get."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import pytest
import tvm_ffi

from ffi_builder import attach, runtime, spec
from ffi_builder.frameworks import jax as ffi_jax
from ffi_builder.providers import MemRefCallProvider

REASON: Final = "needs jax and jax-tvm-ffi: `make test-frameworks` installs them"
jax: Final[Any] = pytest.importorskip("jax", reason=REASON)
pytest.importorskip("jax_tvm_ffi", reason=REASON)
jnp: Final[Any] = jax.numpy

KERNELS: Final = """
func.func @scale(%y: memref<?xf32>, %x: memref<?xf32>, %factor: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = arith.mulf %a, %factor : f32
    memref.store %b, %y[%i] : memref<?xf32>
  }
  return
}
func.func @add_to(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = memref.load %y[%i] : memref<?xf32>
    %c = arith.addf %a, %b : f32
    memref.store %c, %y[%i] : memref<?xf32>
  }
  return
}
"""
LOWERING: Final = (
    "builtin.module(expand-strided-metadata,lower-affine,convert-scf-to-cf,convert-to-llvm,"
    "reconcile-unrealized-casts)"
)
SIGNATURES: Final = (
    "scale(y: Tensor([n], float32, intent=out), x: Tensor([n], float32, intent=in), "
    "factor: float32)",
    "add_to(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=inout))",
)


def parse(text: str) -> spec.Signature:
    return spec.Signature.parse(text, device="cpu")


def compile_kernels() -> runtime.CompiledModule:
    """Compile the kernels and their wrappers, as code of its own."""

    def hook(module: Any) -> None:
        for text in SIGNATURES:
            signature = parse(text)
            attach(module, signature, MemRefCallProvider(signature.name))

    return runtime.compile(KERNELS, pipeline=LOWERING, post_compile_hooks=[hook])


compiled = cache(compile_kernels)
"""The kernels, compiled once."""
compiled()  # now, as a test would have to release what it makes


def bare_scale() -> tvm_ffi.Function:
    """Return `scale`, which does not know its signature."""
    return runtime.function_at(compiled().address("scale"), owner=compiled())


class Recorded:
    """A function of JAX that calls Python, which keeps what it got; outputs stay as they are."""

    def __init__(self, text: str | spec.Signature, **options: Any) -> None:
        self.signature = parse(text) if isinstance(text, str) else text
        self.calls: list[list[Any]] = []
        function = tvm_ffi.convert(self._receive)
        self.function = ffi_jax.function(function, signature=self.signature, **options)

    def __call__(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Return what the function gets when it is called in a program."""
        jax.block_until_ready(jax.jit(lambda: self.function(*args, **kwargs))())
        return self.calls.pop()

    def _receive(self, *args: Any) -> None:
        self.calls.append([_shown(argument) for argument in args])


def _shown(value: Any) -> Any:
    """Return a tensor as its dtype and shape, which are valid after the call too."""
    if isinstance(value, tvm_ffi.Tensor):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, tvm_ffi.Array):
        return tuple(_items(value))
    return value


def _items(values: Any) -> Sequence[Any]:
    return list(values)
