"""Functions that the wrappers of a module share: the diagnosis, and checks off the fast path."""

from ffi_builder.builder.helpers.define import EXTENT_SIZE, call_shared, run_shared, shared_name
from ffi_builder.builder.helpers.library import define_helpers, define_wanted

__all__ = [
    "EXTENT_SIZE",
    "call_shared",
    "define_helpers",
    "define_wanted",
    "run_shared",
    "shared_name",
]
