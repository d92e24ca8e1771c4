"""Finds the functions in C that wrappers call, for the JIT."""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Iterable

from ffi_builder import support
from ffi_builder.errors import BuildError
from ffi_builder.protocol import SHARED
from ffi_builder.runtime import _optional


def object_for(undefined: Iterable[str]) -> bytes | None:
    """Return the object to link, or None if no symbol needs it or this process has the code.

    The code is in a library that is loaded once, unless the package was installed without a C
    compiler.
    """
    own = _own(undefined)
    if not own or _in_library(own[0]):
        return None
    return support.object_code()


def missing(names: Iterable[str]) -> str:
    """Say what to do about support functions that nothing defines; empty if there is none."""
    found = [name for name in names if name.startswith(SHARED)]
    if not found:
        return ""
    if _own(found):
        return (
            "they are support functions of ffi_builder: load support.library() with "
            "ctypes.RTLD_GLOBAL, link support.object_code(), or attach(…, self_contained=True)"
        )
    return (
        "they are support functions of another version of ffi_builder: compile the module again, "
        "or attach(…, self_contained=True)"
    )


def _own(names: Iterable[str]) -> list[str]:
    """Return the names of functions of this version."""
    ending = f"_{support.digest()}"
    return [name for name in names if name.startswith(SHARED) and name.endswith(ending)]


@functools.cache
def _in_library(symbol: str) -> bool:
    _optional.load("tvm_ffi")  # its library is loaded with global symbols, which this one needs
    with contextlib.suppress(BuildError, OSError):
        return hasattr(ctypes.CDLL(str(support.library()), ctypes.RTLD_GLOBAL), symbol)
    return False
