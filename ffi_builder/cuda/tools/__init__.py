"""Compile, lower and assemble kernels for CUDA, and read what Triton and TileLang made."""
