"""Ways to launch a CUDA kernel, which benchmarks/launch.py measures."""
