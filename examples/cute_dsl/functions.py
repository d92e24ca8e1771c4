"""Functions of CuTe DSL that run on the CPU, and the arguments that they are compiled for."""

# pyright: basic, reportMissingImports=false
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cutlass
from cutlass import cute
from cutlass.cute import runtime as fakes

HOST = {"memspace": cutlass.AddressSpace.generic}
"""Tensors in host memory."""


@cute.jit
def scale(x: cute.Tensor, y: cute.Tensor, factor: cutlass.Float32):
    for i in range(x.shape[0]):
        y[i] = x[i] * factor


@cute.jit
def row_sums(x: cute.Tensor, sums: cute.Tensor):
    for i in range(x.shape[0]):
        total = cutlass.Float32(0)
        for j in range(x.shape[1]):
            total += x[i, j]
        sums[i] = total


@cute.jit
def transpose(x: cute.Tensor, y: cute.Tensor):
    for i in range(cute.size(x)):
        y[i // 3, i % 3] = x[i % 3, i // 3]


@cute.jit
def combine(inputs: tuple, out: cute.Tensor):
    (x, y), weight = inputs
    for i in range(x.shape[0]):
        out[i] = x[i] + weight * y[i]


@cute.jit
def block(x: cute.Tensor, size: cute.Shape, start: cutlass.Int32, stream):
    for i in range(size[0]):
        for j in range(size[1]):
            x[i, j] = start + i * size[1] + j


def vector(n: Any, **more: Any) -> Any:
    return fakes.make_fake_compact_tensor(cutlass.Float32, (n,), **HOST, **more)


def compiled(function: Callable[..., Any], *arguments: Any) -> Any:
    """Compile a function of NumPy arrays with the wrapper builder that is set at the moment."""
    return cute.compile(function, *arguments, options="--enable-tvm-ffi")


def compile_all() -> dict[str, Any]:
    n, m, two, four = cute.sym_int(), cute.sym_int(), cute.sym_int64(2), cute.sym_int64(4)
    strided = fakes.make_fake_tensor(
        cutlass.Float32, (n, m), (cute.sym_int64(), cute.sym_int64()), **HOST
    )
    fixed = [
        fakes.make_fake_compact_tensor(cutlass.Float64, sizes, stride_order=(1, 0), **HOST)
        for sizes in ((3, 5), (5, 3))
    ]
    rows = fakes.make_fake_tensor(cutlass.Int32, (two, four), (four, 1), assumed_align=16, **HOST)
    numbers = (cutlass.Int32(2), cutlass.Int32(4))
    return {
        "scale": compiled(scale, vector(n), vector(n), cutlass.Float32(1)),
        "row_sums": compiled(row_sums, strided, vector(n)),
        "transpose": compiled(transpose, *fixed),
        "combine": compiled(combine, ((vector(n), vector(n)), cutlass.Float32(1)), vector(n)),
        "block": compiled(block, rows, numbers, cutlass.Int32(0), fakes.make_fake_stream()),
    }
