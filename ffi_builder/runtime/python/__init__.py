"""Compiled functions as Python callables."""
