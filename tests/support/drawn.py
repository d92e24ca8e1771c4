"""How many examples are drawn."""

from __future__ import annotations

import os
from typing import Final

FAST: Final = bool(os.environ.get("FFI_BUILDER_FAST"))
"""Whether this is `make test-core` or `make test-fast`."""
ALL: Final = bool(os.environ.get("FFI_BUILDER_EXAMPLES"))
"""Whether this is `make fuzz`, which draws others in each run."""


def drawn(count: int) -> int:
    """A third, as every run draws the same; all in `make fuzz`; a fifth in `make test-fast`."""
    return count if ALL and not FAST else max(1, count // (5 if FAST else 3))


def drawn_quickly(count: int) -> int:
    """The same for tests that take no time: they draw all but in `make test-fast`."""
    return max(1, count // 5) if FAST else count
