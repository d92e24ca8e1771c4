"""A HIP library with no device, to test code that launches kernels of AMD GPUs.

It refuses what HIP refuses, as far as that is known from its documentation and its sources; no AMD
GPU was there to compare. docs/rocm.md has a list.
"""
