"""Chooses among several kernels: conditions, the order of their tests, and the emitted code."""
