"""Functions of the model: those of NumPy, PyTorch and JAX, and those of kernels.py."""

# pyright: basic, reportMissingImports=false
from __future__ import annotations

from dataclasses import replace
from typing import Any

import kernels
import numpy as np
from model import Ops


def numpy_ops() -> Ops:
    """Functions of NumPy, which show the mathematics."""

    def rms_norm(x: Any, weight: Any) -> Any:
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * weight

    def gelu(x: Any) -> Any:
        return x * (1 + np.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x**3))) / 2

    def attention(query: Any, key: Any, value: Any) -> Any:
        scores = query @ key.swapaxes(-1, -2) / query.shape[-1] ** 0.5
        past = np.tri(scores.shape[-1], dtype=bool)
        e = np.where(past, np.exp(scores - scores.max(-1, keepdims=True)), 0)
        return e / e.sum(-1, keepdims=True) @ value

    return Ops(rms_norm, rotation(np.stack), gelu, attention)


def torch_ops() -> Ops:
    import torch
    from torch.nn import functional

    return Ops(
        rms_norm=lambda x, weight: functional.rms_norm(x, weight.shape, weight, 1e-6),
        rotate=rotation(torch.stack),
        gelu=lambda x: functional.gelu(x, approximate="tanh"),
        attention=lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=True),
    )


def jax_ops() -> Ops:
    import jax
    import jax.numpy as jnp

    def rms_norm(x: Any, weight: Any) -> Any:
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * weight

    def attention(*args: Any) -> Any:  # JAX has the times before the heads
        times_first = [x.swapaxes(1, 2) for x in args]
        return jax.nn.dot_product_attention(*times_first, is_causal=True).swapaxes(1, 2)

    return Ops(rms_norm, rotation(jnp.stack), jax.nn.gelu, attention)


def rotation(stack: Any) -> Any:
    def rotate(x: Any, by: Any) -> Any:
        x, y, by = x[..., 0], x[..., 1], by[:, None]
        return stack([x * by[..., i, 0] + y * by[..., i, 1] for i in range(2)], -1)

    return rotate


def with_kernels(ops: Ops, attribute: str | None = None) -> Ops:
    """Replace functions by kernels, or by an attribute of them: "torch" or "jax"."""
    ours = {"rms_norm": kernels.rms_norm, "rotate": kernels.rotate, "gelu": kernels.gelu}
    if attribute:
        ours = {name: getattr(kernel, attribute) for name, kernel in ours.items()}
    return replace(ops, **ours)
