"""Checks that kernels read and write tensors as declared, and compute the right values."""
