"""A HIP library with no device, to test code that launches kernels of AMD GPUs.

It refuses what HIP refuses, as far as that is known from its documentation and its sources; no AMD
GPU was there to compare. :mod:`ffi_builder.fakehip.rules` has a list.
"""
