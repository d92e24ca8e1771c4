"""Compare the model with kernels in NumPy, PyTorch and JAX with NumPy in float64: `python main.py`.

It prints the largest difference of a logit. Logits are about 1, and float32 has 7 digits.
"""

# pyright: basic, reportMissingImports=false
from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from frameworks import jax_ops, numpy_ops, torch_ops, with_kernels
from model import Ops, Sizes, forward, weights

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


def main() -> None:
    sizes = Sizes()
    tokens = np.random.default_rng(1).integers(0, sizes.vocabulary, (2, sizes.time)).astype("int32")
    expected = forward(sizes, numpy_ops(), weights(sizes, "float64"), tokens)

    def model(ops: Ops) -> Model:
        return partial(forward, sizes, ops)

    def show(models: dict[str, Model], weights: dict[str, Any], tokens: Any) -> None:
        for name, function in models.items():
            difference = np.abs(np.asarray(function(weights, tokens)) - expected).max()
            print(f"{name}: {difference:.1e}")

    in_numpy = {"NumPy": model(numpy_ops()), "NumPy, kernels": model(with_kernels(numpy_ops()))}
    show(in_numpy, weights(sizes), tokens)
    print(f"The largest logit is {np.abs(expected).max():.1f}")
    if find_spec("torch"):
        show(torch_models(model), *on_torch(weights(sizes), tokens))
    if find_spec("jax_tvm_ffi"):
        show(jax_models(model), *on_jax(weights(sizes), tokens))


if __name__ == "__main__":
    main()
