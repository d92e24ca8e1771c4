"""Kernels of a transformer, in the toy language of ../toy_dsl."""

# pyright: basic, reportInvalidTypeForm=false, reportInvalidTypeArguments=false
# pyright: reportReturnType=false, reportMissingImports=false
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "toy_dsl"))

from expressions import Array, axes, exp, sqrt
from kernel import kernel

batch, time, head, pair, i, j, d = axes("batch time head pair i j d")


@kernel
def rms_norm(
    x: Array[batch, time, d], weight: Array[d], eps: float = 1e-6
) -> Array[batch, time, d]:
    return x / sqrt((x * x).mean(d) + eps) * weight


@kernel
def rotate(
    x: Array[batch, time, head, pair, j], by: Array[time, pair, i, j]
) -> Array[batch, time, head, pair, i]:
    """Multiply each pair of numbers by the matrix of its time (rotary embedding)."""
    return (x * by).sum(j)


@kernel
def gelu(x: Array[batch, time, d]) -> Array[batch, time, d]:
    """Compute x * (1 + tanh(y)) / 2, which is x / (1 + exp(-2 * y))."""
    return x / (1 + exp(-1.5957691216057308 * (x + 0.044715 * x * x * x)))
