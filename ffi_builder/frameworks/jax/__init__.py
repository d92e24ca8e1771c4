"""Functions of JAX from compiled functions.

    from ffi_builder.frameworks import jax as ffi_jax

    scale = ffi_jax.function(compiled["scale"])
    y = jax.jit(scale)(x, factor=2.0)

JAX and jax-tvm-ffi are imported when :func:`function` is called. The extra ``jax`` installs them.
"""

from ffi_builder.frameworks.jax.function import JaxFunction, function

__all__ = ["JaxFunction", "function"]
