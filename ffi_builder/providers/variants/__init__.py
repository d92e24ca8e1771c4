"""Choosing among several kernels: conditions, the order of their tests, and what is emitted."""
