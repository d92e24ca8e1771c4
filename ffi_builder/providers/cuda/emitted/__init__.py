"""Emits helper functions into modules: they load images, prepare kernels and report failures.

Each function here emits a body, from a builder and the helper's arguments. All launching wrappers
of a module call the same helpers, which :mod:`~ffi_builder.providers.cuda.emitted.define` adds.
"""
