"""Compiled functions as functions of PyTorch and JAX."""
