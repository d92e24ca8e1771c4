r"""The functions in C that wrappers of AMD's kernels call, a bundle of :mod:`ffi_builder.support`.

Most of them are CUDA's sources, compiled with another ``vendor.h``.

Examples:
    >>> from ffi_builder import support
    >>> support.object_code("aarch64", of="rocm")[:4]
    b'\x7fELF'
"""
