"""Compare the logits of each framework, with and without kernels: `python main.py [LAYERS]`.

It prints the largest difference from NumPy in float64.
"""

# pyright: basic, reportMissingImports=false
from __future__ import annotations

import sys
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from frameworks import Model, jax_models, on_jax, on_torch, torch_models
from model import Ops, Sizes, forward, weights
from ops import numpy_ops, with_kernels


def main() -> None:
    sizes = Sizes(*map(int, sys.argv[1:]))
    tokens = np.random.default_rng(1).integers(0, sizes.vocabulary, (2, sizes.time)).astype("int32")
    expected = forward(sizes, numpy_ops(), weights(sizes, "float64"), tokens)

    def model(ops: Ops) -> Model:
        return partial(forward, sizes, ops)

    def show(models: dict[str, Model], weights: dict[str, Any], tokens: Any) -> None:
        for name, function in models.items():
            difference = np.abs(np.asarray(function(weights, tokens)) - expected).max()
            print(f"{name}: {difference:.1e}")
            assert difference < 1e-5

    print(f"The largest logit is {np.abs(expected).max():.1f}")
    in_numpy = {"NumPy": model(numpy_ops()), "NumPy, kernels": model(with_kernels(numpy_ops()))}
    show(in_numpy, weights(sizes), tokens)
    if find_spec("torch"):
        show(torch_models(model), *on_torch(weights(sizes), tokens))
    if find_spec("jax_tvm_ffi"):
        show(jax_models(model), *on_jax(weights(sizes), tokens))


if __name__ == "__main__":
    main()
