"""A CUDA driver with no device, to test code that launches kernels where there is no GPU.

It is a libcuda.so.1 in C, built against the real cuda.h where it is first used. It is written from
the documentation of the driver API, in cuda.h itself, and refuses what a driver refuses, with the
same results; :mod:`ffi_builder.fakecuda.rules` has a list. What a driver leaves undefined it
writes down as a violation. Kernels run on the host, as functions in Python.
"""
