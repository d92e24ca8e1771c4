"""Says whether calls are read in C here: functions then take keywords and defaults."""

from __future__ import annotations

from typing import Final

from ffi_builder.entry.available import Extension
from ffi_builder.runtime.python import functions

READ_IN_C: Final = isinstance(functions.extension(), Extension)
