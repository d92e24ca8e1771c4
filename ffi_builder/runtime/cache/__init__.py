"""The compile cache: keys, entries and the folder that holds them.

Its modules are loaded when a cache is used, since most compiles use none.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from ffi_builder.lazy import lazy

if TYPE_CHECKING:
    from ffi_builder.runtime.cache import entry, folder, key

__all__ = ["DIR_VARIABLE", "entry", "folder", "key", "open_cache"]

DIR_VARIABLE: Final = "FFI_BUILDER_CACHE_DIR"

__getattr__, __dir__ = lazy(__name__, {}, __all__)


def open_cache(cache_dir: str | os.PathLike[str] | None) -> folder.Cache | None:
    """Open the cache in `cache_dir`, or in the folder that the environment names, if it does.

    Raises TypeError if it is not a path, and ValueError if it is empty, or if the size limit in the
    environment is not a number of bytes with K, M, G or T.
    """
    if cache_dir is None:
        cache_dir = os.environ.get(DIR_VARIABLE) or None
    if cache_dir is None:
        return None
    from ffi_builder.runtime.cache import folder

    return folder.open_folder(cache_dir)
