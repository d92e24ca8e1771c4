"""How many examples Hypothesis draws."""

from __future__ import annotations

import os
from typing import Final

FAST: Final = bool(os.environ.get("FFI_BUILDER_FAST"))


def drawn(count: int) -> int:
    """A fifth in `make test-core` and `make test-fast`, which set FFI_BUILDER_FAST."""
    return max(1, count // 5) if FAST else count
