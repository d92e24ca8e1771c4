"""Whether calls are read in C here: functions then take keywords and defaults."""

from __future__ import annotations

from typing import Final

from ffi_builder.runtime.entry import make
from ffi_builder.runtime.entry.available import Extension

READ_IN_C: Final = isinstance(make.extension(), Extension)
