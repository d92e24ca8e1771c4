"""Kernels on memrefs, lowered by MLIR's own passes, that take arrays of any layout."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import tvm_ffi

from ffi_builder import attach_ffi_func, runtime
from ffi_builder.providers import MemRefCallProvider
from ffi_builder.spec import Tensor, dims

ANY_1D = "memref<?xf32, strided<[?], offset: ?>>"
ANY_2D = "memref<?x?xf32, strided<[?, ?], offset: ?>>"
TEXT: Final = f"""
  func.func @add(%x: {ANY_2D}, %y: memref<?x?xf32>, %out: {ANY_2D}) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = memref.dim %x, %c0 : {ANY_2D}
    %columns = memref.dim %x, %c1 : {ANY_2D}
    scf.for %i = %c0 to %rows step %c1 {{
      scf.for %j = %c0 to %columns step %c1 {{
        %a = memref.load %x[%i, %j] : {ANY_2D}
        %b = memref.load %y[%i, %j] : memref<?x?xf32>
        %c = arith.addf %a, %b : f32
        memref.store %c, %out[%i, %j] : {ANY_2D}
      }}
    }}
    return
  }}
  func.func @copy(%from: {ANY_1D}, %to: {ANY_1D}) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %from, %c0 : {ANY_1D}
    scf.for %i = %c0 to %n step %c1 {{
      %a = memref.load %from[%i] : {ANY_1D}
      memref.store %a, %to[%i] : {ANY_1D}
    }}
    return
  }}
  func.func @copy_scalar(%from: memref<f32>, %to: memref<f32>) {{
    %a = memref.load %from[] : memref<f32>
    memref.store %a, %to[] : memref<f32>
    return
  }}"""
LOWERING: Final = (
    "builtin.module(expand-strided-metadata,lower-affine,convert-scf-to-cf,convert-to-llvm,"
    "reconcile-unrealized-casts)"
)
n, m = dims("n m")
ANY: Final = (None, None)


def cpu(name: str, shape: list[Any], strides: tuple[None, ...] | None = None) -> Tensor:
    return Tensor(name, shape, "float32", device_type="cpu", strides=strides)


SIGNATURES: Final = {
    "add": [cpu("x", [n, m], ANY), cpu("y", [n, m]), cpu("out", [n, m], ANY)],
    "copy": [cpu("src", [n], (None,)), cpu("dst", [n], (None,))],
    "copy_scalar": [cpu("src", []), cpu("dst", [])],
}


def _attach(module: Any) -> None:
    for name, params in SIGNATURES.items():
        attach_ffi_func(module, name, params, MemRefCallProvider(name))


def kernel(name: str) -> tvm_ffi.Function:
    """``add(x, y, out)``, ``copy(src, dst)`` or ``copy_scalar(src, dst)``, compiled once."""
    return _compiled()[name]


@cache
def _compiled() -> dict[str, tvm_ffi.Function]:
    # The functions alone: they keep their code, and let go of the module and its context.
    compiled = runtime.compile(TEXT, pipeline=LOWERING, post_compile_hooks=[_attach])
    return {name: compiled[name] for name in SIGNATURES}
