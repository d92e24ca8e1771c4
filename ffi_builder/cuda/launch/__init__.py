"""Launching CUDA kernels from wrappers. Building one needs no GPU, driver or CUDA toolkit."""
