"""The model in PyTorch and JAX, with their own functions and with kernels."""

# pyright: basic, reportMissingImports=false
from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from model import Ops
from ops import jax_ops, torch_ops, with_kernels

Model = Callable[[dict[str, Any], Any], Any]
"""A function of weights and tokens, which returns logits."""


def torch_models(model: Callable[[Ops], Model]) -> dict[str, Model]:
    """Return the model with PyTorch's own functions, and with kernels."""
    import torch

    warnings.filterwarnings("ignore", ".*torch.jit")  # torch's own use of it
    compiled = partial(torch.compile, fullgraph=True)
    pure, operators = torch_ops(), with_kernels(torch_ops(), "torch")
    return {
        "PyTorch": model(pure),
        "PyTorch, kernels": model(with_kernels(pure)),
        "PyTorch, kernels as operators": model(operators),
        "torch.compile": compiled(model(pure)),
        "torch.compile, kernels": compiled(model(operators)),
    }


def jax_models(model: Callable[[Ops], Model]) -> dict[str, Model]:
    """Return the model with JAX's own functions, and with kernels."""
    import jax

    pure = jax_ops()
    return {
        "jax.jit": jax.jit(model(pure)),
        "jax.jit, kernels": jax.jit(model(with_kernels(pure, "jax"))),
    }


def on_torch(weights: dict[str, Any], tokens: Any) -> tuple[dict[str, Any], Any]:
    import torch

    return {name: torch.from_numpy(x) for name, x in weights.items()}, torch.from_numpy(tokens)


def on_jax(weights: dict[str, Any], tokens: Any) -> tuple[dict[str, Any], Any]:
    import jax.numpy as jnp

    return {name: jnp.asarray(x) for name, x in weights.items()}, jnp.asarray(tokens)
