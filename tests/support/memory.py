"""What is allocated, counted exactly, to find calls that lose memory."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable
from typing import Any, Final

CALLS: Final = 2000
ALLOWED: Final = 16 * CALLS
"""Bytes; malloc and Python give out 16 or more at a time."""


def in_use() -> int:
    """Return the bytes that malloc has handed out."""

    class Info(ctypes.Structure):
        _fields_ = [(f"field{index}", ctypes.c_size_t) for index in range(10)]

    library = ctypes.CDLL(None)
    library.mallinfo2.restype = Info
    found: Any = library.mallinfo2()
    return found.field4 + found.field7  # hblkhd and uordblks


def lost(call: Callable[[], object]) -> int:
    """Return the bytes that many calls leave behind, every time; once may be chance."""
    for _ in range(CALLS):
        call()
    least = sys.maxsize
    for _ in range(3):
        gc.collect()
        before = in_use() + 16 * sys.getallocatedblocks()
        for _ in range(CALLS):
            call()
        gc.collect()
        least = min(least, in_use() + 16 * sys.getallocatedblocks() - before)
        if least < ALLOWED // 2:
            break
    return least
