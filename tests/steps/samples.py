"""Signatures whose plans have every step, and the values that the symbols have in right calls."""

from __future__ import annotations

from typing import Final

SAMPLES: Final[dict[str, tuple[str, dict[str, float]]]] = {
    "matmul": (
        "f(A: Tensor([n, k], float32), B: Tensor([k, m], float32), C: Tensor([n, m], float32))",
        {"n": 3, "k": 4, "m": 5},
    ),
    "strides": (
        "f(x: Tensor([n, 4, None], int8, strides=[s, 7, n * 2], data_alignment=64, device_id=0), "
        "y: Tensor([n], uint8, strides=[s]), z: Tensor([2, n], bool, strides=any)) "
        "where s: int32, 2 <= s <= 64, s % 2 == 0",
        {"n": 3, "s": 12},
    ),
    "column-major": (
        "f(x: Tensor([n, k, 2], float16 | bfloat16, strides=F), y: Tensor([k, n], float64))",
        {"n": 3, "k": 4},
    ),
    "dtypes of others": (
        "f(x: Tensor([n], float32 | int8), y: Tensor([n], x.dtype), z: Tensor(..., y.dtype), "
        "t: Tuple(w: Optional(Tensor([n, 2], z.dtype, device_type=any)), a: Tensor([], bool), "
        "b: Tensor([], t[1].dtype)))",
        {"n": 3},
    ),
    "any": (
        "f(x: Tensor(..., float32, device_type=any), y: Tensor(..., int32, strides=F), "
        "z: Tensor([], float32, strides=any, device_type=any))",
        {},
    ),
    "packed": (
        "f(x: Tensor([n, 8], float4_e2m1fn, storage_dtype=float4_e2m1fnx2), "
        "y: Tensor([n, k], float4_e2m1fn, strides=[k, 1], storage_dtype=float4_e2m1fnx2))",
        {"n": 4, "k": 8},
    ),
    "expressions": (
        "f(dims: Shape([m * 3 + 1, n, n // 2, q * 2, n + m]), x: Tensor([p + 1, n % 4], int32), "
        "p: int32, y: Tensor([q * 2 - 1], int32)) where m: int8, 2 <= m <= 8, m % 2 == 0",
        {"m": 4, "n": 6, "q": 3, "p": 4},
    ),
    "scalars": (
        "f(a: int8, b: uint64, c: bool, d: float32, e: float16, h: handle, s: Stream, "
        "p: DataPointer, t: DType, v: Device, dims: Shape([a, 4])) "
        "where 1 <= a <= 100, a % 4 == 0, b >= 2",
        {"a": 8, "b": 16, "c": 1, "d": 0.5, "e": 1.0, "h": 0x10},
    ),
    "again": (
        "f(cfg: Tuple(a: int32, b: bool, c: float32, h: handle), "
        "a: int32, b: bool, c: float32, h: handle)",
        {"a": 8, "b": 1, "c": 0.5, "h": 0x10},
    ),
    "constants": (
        "f(a: None, b: Literal[3], c: Literal[True], d: Literal[0.5], cfg: Tuple())",
        {},
    ),
    "objects": (
        "f(s: String, b: Bytes, m: Choice({'relu': 1, 'gelu': 2}), o: Object, "
        "l: Object('ffi.Module'), f: Function, a: Array, d: Map, any: Any)",
        {},
    ),
    "arrays": (
        "f(a: Array(int8), b: Optional(Array(String)), c: Array(Array(bool)), "
        "d: Tuple(e: Array(Object('ffi.Module'))))",
        {},
    ),
    "varargs": ("f(a: int8, *rest: Any)", {"a": 8}),
    "optionals": (
        "f(x: Optional(Tensor([n, k], float32, device_type=cuda)), "
        "cfg: Optional(Struct(alpha: float32, y: Tensor([n], float32, device_type=cuda), "
        "inner: Tuple(mode: Optional(Choice({'a': -1}, int8)), dims: Shape([k])))), "
        "s: Optional(String), i: Optional(int32), "
        "z: Tensor([k, n, n * k], float32, device_type=cuda))",
        {"n": 3, "k": 4, "alpha": 0.5, "i": 7},
    ),
    "devices": (
        "f(x: Tensor([n], float32, device_type=cuda, device_id=d), "
        "y: Tensor([n], float32, device_type=cuda), z: Tensor([n], float32, device_type=any), "
        "d: uint8)",
        {"n": 3, "d": 0},
    ),
    "overlap": (
        "f(x: Tensor([n], float32, device_type=any), y: Tensor([n], float32, intent=out), "
        "cfg: Struct(z: Optional(Tensor([n, 4], float16 | bfloat16, strides=any)))) "
        "where no_overlap(y, cfg.z)",
        {"n": 3},
    ),
    "overlap of lists": (
        "f(xs: TensorList(Tensor([n], float32, intent=in), length=2), y: Tensor([n], int8), "
        "zs: Optional(TensorList(Tensor([n, 4], float16, intent=out), length=g))) "
        "where no_overlap(y, zs)",
        {"n": 3, "g": 3},
    ),
    "relations": (
        "f(n: int64, x: Tensor([min(n, 3)], int8), cfg: Tuple(a: int32, b: Optional(uint64)), "
        "c: int16, d: int32, y: Tensor([max(n, 2)], int8)) "
        "where a <= n, b in {7, 64}, d - n * 2 < a + 1, n - c != 1002, n * c <= 100",
        {"n": 4, "a": 3, "b": 7, "c": 2, "d": 2},
    ),
    "lists": (
        "f(xs: TensorList(Tensor([m, k, 2], float32 | int8, strides=[s, 2, None], "
        "data_alignment=64), length=g, each=[m]), "
        "ys: TensorList(Tensor([m, m * 2, k], float32), length=g, each=[m])) "
        "where g: int8, g <= 100, m % 3 == 0, s: int32",
        {"m": 3, "k": 4, "s": 8, "g": 2},
    ),
    "numbers": (
        "f(n: int32, a: List(int64, n + 1), b: Optional(List(bool, 2)), c: List(float16), "
        "d: Tuple(e: List(uint8, m)), g: List(uint64, k * 2 + 1)) where m: int8",
        {"n": 3, "m": 2, "k": 2},
    ),
    "rows": (
        "f(n: int32, a: List(List(int64), n + 1), b: Optional(List(List(bool, 2), m)), "
        "c: List(List(float16))) where m: int8",
        {"n": 2, "m": 2},
    ),
    "texts": (
        "f(n: int32, a: List(String, n + 1), b: Optional(List(Bytes, m))) where m: int8",
        {"n": 3, "m": 2},
    ),
    "variants": (
        "f(x: Tensor([n], float32), s: Variant(float64, String, int8, Tensor([n, k], float16)), "
        "o: Optional(Variant(Bytes, bool)), "
        "t: Tuple(v: Variant(DType, Device, uint64, Tensor([k], int8, device_id=d))), "
        "y: Tensor([k, n], int8)) where no_overlap(s.tensor)",
        {"n": 3, "k": 4, "d": 0},
    ),
    "lists in others": (
        "f(xs: Optional(TensorList(Tensor([n, 4], float4_e2m1fn, device_type=any, device_id=d, "
        "storage_dtype=float4_e2m1fnx2))), "
        "pair: Tuple(ys: TensorList(Tensor([n], float16, strides=F), length=2), "
        "z: Tensor([n], float16)))",
        {"n": 5, "d": 0},
    ),
}
"""By name: the signature as text (tensors on the CPU if they do not say), and the values."""
