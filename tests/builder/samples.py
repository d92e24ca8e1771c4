"""Signatures with every kind of parameter, and a kernel, for tests that need just any."""

from __future__ import annotations

from typing import Final

from ffi_builder import spec
from ffi_builder.spec import Shape, Tensor, TupleParam, Var, dims

n, m, k = dims("n m k")
MATMUL: Final[list[spec.Param]] = [
    Tensor("A", [n, k], "float32", device_type="cpu"),
    Tensor("B", [k, m], "float32", device_type="cpu"),
    Tensor("C", [n, m], "float32", device_type="cpu"),
]
EVERY_KIND: Final[list[spec.Param]] = [
    Tensor("x", [n, k * 2], "float16", device_type="cuda", strides=[None, 1], data_alignment=16),
    Var("h", "float16"),
    Var("u", "uint64", divisibility=3),
    Shape("s", [n, 3, k]),
    spec.Stream("stream"),
    spec.EnvStream("env"),
    spec.DataPointer("p"),
    TupleParam("t", [Tensor("y", [None], "bool", device_type="cpu"), Var("flag", "bool")]),
    spec.ConstNone("none"),
    spec.ConstInt("one", 1),
    spec.ConstBool("yes", True),
    spec.ConstFloat("half", 0.5),
    spec.Optional(Tensor("mask", [n, m], ("int8", "bool"), device_type="any", strides="any")),
    spec.Optional(spec.Struct("cfg", [Var("alpha", "float32"), spec.String("label")])),
    spec.Optional(Var("count", "int32", min=1)),
    Tensor("rest", ..., "float32", device_type="cuda", strides="F"),
    spec.Choice("act", {"relu": 1, "gelu": -2}, "int8"),
    spec.Bytes("raw"),
    spec.DType("dtype"),
    spec.Device("device"),
    spec.Object("any"),
    spec.Object("module", "ffi.Module"),
    spec.Function("callback"),
    spec.Array("list"),
    spec.Map("dict"),
]
LISTS: Final[list[spec.Param]] = [
    spec.TensorList(Tensor("xs", [m, k], "int8", device_type="cpu"), length=n, each=[m]),
    spec.Optional(spec.TensorList(Tensor("ys", [k], "float32", device_type="cuda", strides="any"))),
]
MATMUL_KERNEL: Final = """
func.func @mm(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf32>, memref<?x?xf32>) outs(%C : memref<?x?xf32>)
  return
}
"""
MATMUL_SYMBOLS: Final = {"A": ["n", "k"], "B": ["k", "m"], "C": ["n", "m"]}
"""The symbols of its dimensions."""
