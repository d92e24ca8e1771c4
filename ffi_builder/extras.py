"""Words for errors about packages that ffi_builder does not install by itself."""

from __future__ import annotations


def install(extra: str, package: str = "it") -> str:
    """Say how to install a package of an extra, both from a registry and in a clone.

    Examples:
        >>> from ffi_builder.extras import install
        >>> install("jit", "llvmlite")
        "install llvmlite, as the extra ffi_builder[jit] does: pip install '.[jit]' in a clone"
    """
    return (
        f"install {package}, as the extra ffi_builder[{extra}] does: pip install '.[{extra}]' in a "
        f"clone"
    )
