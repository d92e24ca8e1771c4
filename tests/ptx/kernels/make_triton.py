# pyright: basic, reportMissingImports=false
"""Kernels of Triton's, compiled without a GPU: `python make_triton.py` writes the PTX here.

NAME.json has what Triton says about launching each.
"""

import json
import os
from pathlib import Path

os.environ["TRITON_DISABLE_LINE_INFO"] = "1"

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

SAVED = ("name", "num_warps", "shared", "global_scratch_size", "profile_scratch_size")


@triton.jit
def matmul(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        at = start + inner
        in_a = (rows[:, None] < m) & (at[None, :] < k)
        in_b = (at[:, None] < k) & (columns[None, :] < n)
        x = tl.load(a + rows[:, None] * k + at[None, :], mask=in_a, other=0.0)
        y = tl.load(b + at[:, None] * n + columns[None, :], mask=in_b, other=0.0)
        total = tl.dot(x, y, total)
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * n + columns[None, :], total, mask=inside)


@triton.jit
def by_descriptors(a, b, c, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        total = tl.dot(a.load([row, start]), b.load([start, column]), total)
    c.store([row, column], total.to(tl.float16))


@triton.jit
def softmax(o, x, n, SIZE: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, SIZE)
    values = tl.load(x + row * n + at, at < n, -float("inf"))
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(o + row * n + at, powers / tl.sum(powers, 0), at < n)


@triton.jit
def layernorm(x, w, o, n, eps, SIZE: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, SIZE)
    values = tl.load(x + row * n + at, at < n, 0.0).to(tl.float32)
    centered = tl.where(at < n, values - tl.sum(values, 0) / n, 0.0)
    scale = tl.sqrt(tl.sum(centered * centered, 0) / n + eps)
    tl.store(o + row * n + at, centered / scale * tl.load(w + at, at < n), at < n)


@triton.jit
def sort(x, o, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(o + at, tl.sort(tl.load(x + at)))


@triton.jit
def sigmoid(x, o, n, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    values = tl.load(x + at, at < n).to(tl.float32)
    tl.store(o + at, tl.sigmoid(values).to(tl.bfloat16), at < n)


@triton.jit
def philox(o, seed, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(o + at, tl.rand(seed, at))


@triton.jit
def locked(lock, o):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(o, tl.load(o) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def attention(q, k, v, o, n, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    rows, inner = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, D)
    queries = tl.load(q + rows[:, None] * D + inner[None, :])
    largest = tl.full((M,), -float("inf"), tl.float32)
    sums = tl.zeros((M,), tl.float32)
    total = tl.zeros((M, D), tl.float32)
    for start in range(0, n, N):
        at = start + tl.arange(0, N)
        keys = tl.load(k + at[None, :] * D + inner[:, None])
        values = tl.load(v + at[:, None] * D + inner[None, :])
        products = tl.dot(queries, keys)
        now = tl.maximum(largest, tl.max(products, 1))
        powers, faded = tl.exp(products - now[:, None]), tl.exp(largest - now)
        sums = sums * faded + tl.sum(powers, 1)
        total = total * faded[:, None] + tl.dot(powers.to(tl.float16), values)
        largest = now
    tl.store(o + rows[:, None] * D + inner[None, :], total / sums[:, None])


BLOCK = {"M": 64, "N": 64, "K": 32}
MATMUL = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "m": "i32", "n": "i32", "k": "i32"}
DESCRIPTOR = "tensordesc<fp16[64, 64]>"
KERNELS = {
    "matmul_80": (matmul, MATMUL, {"M": 32, "N": 32, "K": 32}),
    "matmul_90": (matmul, {**MATMUL, "a": "*bf16", "b": "*bf16"}, BLOCK),
    "by_descriptors_90": (
        by_descriptors,
        {"a": DESCRIPTOR, "b": DESCRIPTOR, "c": DESCRIPTOR, "k": "i32"},
        {"M": 64, "N": 64, "K": 64},
    ),
    "softmax_90": (softmax, {"o": "*fp32", "x": "*fp32", "n": "i32"}, {"SIZE": 1024}),
    "layernorm_80": (
        layernorm,
        {"x": "*fp16", "w": "*fp32", "o": "*fp32", "n": "i32", "eps": "fp32"},
        {"SIZE": 512},
    ),
    "sort_100": (sort, {"x": "*i32", "o": "*i32"}, {"SIZE": 256}),
    "sigmoid_100": (sigmoid, {"x": "*bf16", "o": "*bf16", "n": "i32"}, {"SIZE": 512}),
    "philox_90": (philox, {"o": "*fp32", "seed": "i32"}, {"SIZE": 256}),
    "locked_90": (locked, {"lock": "*i32", "o": "*i32"}, {}),
    "attention_100": (
        attention,
        {"q": "*fp16", "k": "*fp16", "v": "*fp16", "o": "*fp32", "n": "i32"},
        {"M": 32, "N": 32, "D": 32},
    ),
}

if __name__ == "__main__":
    folder = Path(__file__).parent
    launches = {}
    for name, (kernel, types, constants) in KERNELS.items():
        target = GPUTarget("cuda", int(name.rpartition("_")[2]), 32)
        options = {"num_warps": 4, "num_stages": 2, "enable_fp_fusion": True}
        options["ptx_version"] = 88
        made = triton.compile(ASTSource(kernel, types, constants), target=target, options=options)
        (folder / f"{name}.ptx").write_text(made.asm["ptx"])
        launches[name] = {each: getattr(made.metadata, each) for each in SAVED}
        if "descriptors" in name:
            launches[name]["tensordesc_meta"] = made.metadata.tensordesc_meta
    (folder / "triton.json").write_text(json.dumps(launches, indent=1) + "\n")
