r"""The functions in C that watched wrappers call, a bundle of :mod:`ffi_builder.support`.

Another JIT needs this object, or library, beside the one that all wrappers need.

Examples:
    >>> from ffi_builder import support
    >>> support.object_code("aarch64", of="sanitize")[:4]
    b'\x7fELF'
"""
