"""Compiled functions as functions of PyTorch and JAX."""

from ffi_builder.lazy import lazy

__getattr__, __dir__ = lazy(__name__, {}, ["jax", "torch"])
