"""Launching kernels of AMD GPUs from wrappers. Building one needs no GPU and no ROCm."""
