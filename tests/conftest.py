"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

# Compiling takes as long as it takes, and longer the first time and on a busy machine.
settings.register_profile("ffi_builder", deadline=None, print_blob=True)
settings.load_profile("ffi_builder")
