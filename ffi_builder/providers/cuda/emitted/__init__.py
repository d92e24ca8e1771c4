"""Functions that become part of a module: they load images, prepare kernels, and report failures.

Each body takes a builder and the function's arguments. All launching wrappers of a module call the
same functions, which :mod:`~ffi_builder.providers.cuda.emitted.define` adds.
"""
