# pyright: basic, reportMissingImports=false
"""Train a classifier in JAX with a fused softmax in C, whose derivative is in C too.

`ffi_jax.function` makes JAX functions of both, and `vjp=` says that one is the derivative of the
other. The losses and weights agree with those of `jax.nn.softmax`. This needs a C compiler, and
`pip install ffi_builder[jit,mlir,jax]`.
"""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp

from ffi_builder import attach, providers, runtime, spec
from ffi_builder.frameworks import jax as ffi_jax

SOURCE = Path(__file__).parent / "softmax.c"
# A tensor with intent=in is an operand of the JAX function, one with intent=out is its result.
MATRIX = "Tensor([rows, columns], float32, intent="
SIGNATURES = [
    f"softmax(x: {MATRIX}in), y: {MATRIX}out))",
    f"softmax_backward(y: {MATRIX}in), dy: {MATRIX}in), dx: {MATRIX}out))",
]


def hook(module) -> None:
    for text in SIGNATURES:
        signature = spec.Signature.parse(text, device="cpu")
        args = [*(param.name for param in signature.params), "rows", "columns"]
        attach(module, signature, providers.DirectCallProvider(signature.name, args=args))


with tempfile.TemporaryDirectory() as folder:
    made = Path(folder, "softmax.o")
    compiler = [*shlex.split(os.environ.get("CC", "cc")), "-O2", "-fPIC"]
    subprocess.run([*compiler, "-c", SOURCE, "-o", made], check=True)
    compiled = runtime.compile("module {}", post_compile_hooks=[hook], link=[made])

softmax_backward = ffi_jax.function(compiled["softmax_backward"])


def forward(x):
    y = softmax(x)
    return y, y  # the result, and what the derivative needs


def backward(y, dy):
    return (softmax_backward(y, dy),)


softmax = ffi_jax.function(compiled["softmax"], vjp=(forward, backward))


def train(probabilities, steps: int):
    """Fit a linear classifier, and return the loss of each step and the weights."""
    keys = jax.random.split(jax.random.key(0), 3)
    x = jax.random.normal(keys[0], (64, 16))
    labels = (x @ jax.random.normal(keys[1], (16, 10))).argmax(axis=1)
    weights = jax.random.normal(keys[2], (16, 10))

    def loss(weights):
        chosen = jnp.take_along_axis(probabilities(x @ weights), labels[:, None], axis=1)
        return -jnp.log(chosen).mean()

    @jax.jit
    def step(weights):
        value, gradient = jax.value_and_grad(loss)(weights)
        return weights - 0.5 * gradient, value

    losses = []
    for _ in range(steps):
        weights, value = step(weights)
        losses.append(value)
    return jnp.stack(losses), weights


def main() -> None:
    x = jax.random.normal(jax.random.key(1), (8, 100))
    batch = jnp.stack([x, x + 1])
    assert jnp.allclose(softmax(x), jax.nn.softmax(x), atol=1e-6)
    assert jnp.allclose(jax.vmap(softmax)(batch), jax.nn.softmax(batch), atol=1e-6)

    losses, weights = train(softmax, steps=50)
    expected, expected_weights = train(jax.nn.softmax, steps=50)
    print(f"loss: {losses[0]:.3f} to {losses[-1]:.3f}, with jax.nn.softmax {expected[-1]:.3f}")
    assert jnp.allclose(losses, expected, rtol=1e-4)
    assert jnp.allclose(weights, expected_weights, atol=1e-4)
    try:
        softmax(x[0])
    except ValueError as error:
        print(f"ValueError: {str(error).splitlines()[0]}")


if __name__ == "__main__":
    main()
