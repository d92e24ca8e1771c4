"""The address of a function in an object file or a shared library."""

from __future__ import annotations

import ctypes
from pathlib import Path

from native import cc


def address_in(path: Path, symbol: str, folder: Path) -> int:
    """Load a library and keep it loaded; link it in `folder` first if `path` is an object."""
    if path.suffix == ".o":
        library = folder / "code.so"
        cc("-shared", "-Wl,-z,now", str(path), "-o", str(library))
        path = library
    loaded = ctypes.CDLL(str(path), mode=ctypes.RTLD_LOCAL)
    address = ctypes.cast(getattr(loaded, symbol), ctypes.c_void_p).value
    assert address is not None
    return address
