"""Launching a CUDA kernel, in several ways: what benchmarks/launch.py measures."""
