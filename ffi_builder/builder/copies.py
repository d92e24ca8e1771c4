"""Offsets in ``Copy``, the record of a sanitized tensor, of the fields that wrappers read.

``ffi_builder/support/copies.c`` declares it, and asserts these numbers.
"""

from __future__ import annotations

from typing import Final

COPY_WORDS: Final = 20
"""The size of a ``Copy``, in i64s."""
OBJECT: Final = 0
COPIED_DATA: Final = 8
MEMORY: Final = 16
SPAN: Final = 48
MISPLACED: Final = 80
FOREIGN: Final = 88
ORIGIN: Final = 96
IS_CERTAIN: Final = 104
SALTS: Final = 16
"""The number of patterns."""
TEXT_SIZE: Final = 96
"""Bytes of the text of an index or value."""
