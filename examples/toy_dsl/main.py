"""Kernels in the toy language, called from NumPy, PyTorch and JAX: `python main.py`."""

# pyright: basic, reportInvalidTypeForm=false, reportInvalidTypeArguments=false
# pyright: reportReturnType=false, reportMissingImports=false
import warnings
from importlib.util import find_spec

import numpy as np
from expressions import Array, axes, exp, sqrt
from kernel import kernel

n, m, d = axes("n m d")


@kernel
def rms_norm(x: Array[n, d], weight: Array[d] | None = None, eps: float = 1e-6) -> Array[n, d]:
    y = x / sqrt((x * x).mean(d) + eps)
    return y if weight is None else y * weight


@kernel
def softmax(x: Array[n, d]) -> Array[n, d]:
    e = exp(x - x.max(d))
    return e / e.sum(d)


@kernel
def matmul(a: Array[n, d], b: Array[d, m]) -> Array[n, m]:
    return (a * b).sum(d)


def reference(x, weight, eps):
    y = x / np.sqrt((x * x).mean(1, keepdims=True) + eps)
    return y if weight is None else y * weight


def with_numpy(x, weight):
    print(rms_norm(x, weight))
    print(rms_norm(x.astype("float64"), eps=0.1))


def with_torch(x, weight):
    import torch

    warnings.filterwarnings("ignore", ".*torch.jit")  # torch's own use of it
    norm = rms_norm.torch  # before torch traces it
    step = torch.compile(lambda x, weight: norm(x, weight).sum(1), fullgraph=True)
    print(step(torch.from_numpy(x), torch.from_numpy(weight)))


def with_jax(x, weight):
    import jax

    print(jax.jit(lambda x, weight: rms_norm.jax(x, weight).sum(1))(x, weight))


def mistakes(x, weight):
    print(error_of(rms_norm, x, weight[:2]))
    print(error_of(rms_norm, x, weight.astype("float64")))
    print(error_of(rms_norm, x, weight, "tiny"))


def error_of(function, *args):
    try:
        return function(*args)
    except (TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    rms_norm.check(reference, dims={"d": 3}, values={"eps": 1e-6})
    x, weight = np.arange(6, dtype="float32").reshape(2, 3), np.ones(3, "float32")
    for needed, show in ("numpy", with_numpy), ("torch", with_torch), ("jax_tvm_ffi", with_jax):
        print(f"==== {show.__name__}")
        print("not installed") if find_spec(needed) is None else show(x, weight)
    print("==== mistakes")
    mistakes(x, weight)
