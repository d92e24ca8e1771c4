"""A small GPT. The same code is run by NumPy, PyTorch and JAX.

Weights are a dict of arrays. What differs between the frameworks is in `Ops`.
"""

# pyright: basic
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Sizes:
    """How large the model is."""

    layers: int = 12
    width: int = 256
    heads: int = 4
    vocabulary: int = 1000
    time: int = 128  # tokens of a text

    @property
    def pairs(self) -> int:
        """Half of the features of a head: each two of them are rotated."""
        return self.width // self.heads // 2


@dataclass(frozen=True)
class Ops:
    """Functions of arrays of one framework."""

    rms_norm: Callable[[Any, Any], Any]
    rotate: Callable[[Any, Any], Any]
    gelu: Callable[[Any], Any]
    attention: Callable[[Any, Any, Any], Any]  # causal, of arrays [batch, heads, time, features]


def weights(sizes: Sizes, dtype: str = "float32") -> dict[str, Any]:
    """Return random weights, and the rotations of each time."""
    rng, width = np.random.default_rng(0), sizes.width

    def matrix(rows: int, columns: int) -> Any:
        return rng.normal(scale=rows**-0.5, size=(rows, columns)).astype(dtype)

    def norm() -> Any:
        return rng.uniform(0.5, 1.5, width).astype(dtype)

    made = {"embedding": matrix(sizes.vocabulary, width), "norm": norm()}
    for layer in range(sizes.layers):
        of_layer = {name: matrix(width, width) for name in ("query", "key", "value", "out")}
        of_layer |= {"up": matrix(width, 4 * width), "down": matrix(4 * width, width)}
        of_layer |= {"norm_1": norm(), "norm_2": norm()}
        made |= {f"{layer}.{name}": weight for name, weight in of_layer.items()}
    angles = np.outer(np.arange(sizes.time), 1e4 ** -(np.arange(sizes.pairs) / sizes.pairs))
    cos, sin = np.cos(angles), np.sin(angles)
    rotations = np.stack([cos, -sin, sin, cos], -1).reshape(*angles.shape, 2, 2)
    return made | {"rotations": rotations.astype(dtype)}


def forward(sizes: Sizes, ops: Ops, weights: dict[str, Any], tokens: Any) -> Any:
    """Return the logits of each token of each text."""
    shape = (*tokens.shape, sizes.heads, sizes.pairs, 2)  # of what is rotated
    heads = (*tokens.shape, sizes.heads, 2 * sizes.pairs)

    def attend(w: dict[str, Any], x: Any) -> Any:
        query = ops.rotate((x @ w["query"]).reshape(shape), weights["rotations"])
        key = ops.rotate((x @ w["key"]).reshape(shape), weights["rotations"])
        each = (y.reshape(heads).swapaxes(1, 2) for y in (query, key, x @ w["value"]))
        return ops.attention(*each).swapaxes(1, 2).reshape(x.shape) @ w["out"]

    x = weights["embedding"][tokens]
    for layer in range(sizes.layers):
        names = "query", "key", "value", "out", "up", "down", "norm_1", "norm_2"
        w = {name: weights[f"{layer}.{name}"] for name in names}
        x = x + attend(w, ops.rms_norm(x, w["norm_1"]))
        x = x + ops.gelu(ops.rms_norm(x, w["norm_2"]) @ w["up"]) @ w["down"]
    return ops.rms_norm(x, weights["norm"]) @ weights["embedding"].T
