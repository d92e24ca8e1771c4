"""Wheels of kernels: made, installed, used and refused."""
