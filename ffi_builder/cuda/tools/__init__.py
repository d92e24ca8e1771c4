"""Compile, lower and assemble kernels for CUDA, and read what Triton, TileLang and cuTile made."""
