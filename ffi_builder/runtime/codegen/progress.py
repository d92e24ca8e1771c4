"""Says on a terminal what a compile does that takes long."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

SECONDS: Final = 2.0
"""How long a step takes before it is named."""


@contextmanager
def told(step: str) -> Generator[None]:
    """Name a step on stderr if it takes longer than :data:`SECONDS`, and when it has ended.

    Nothing is written, and no thread started, if stderr is not a terminal.
    """
    if sys.stderr is None or not sys.stderr.isatty():  # pyright: ignore[reportUnnecessaryComparison]
        yield
        return
    start = time.monotonic()
    timer = threading.Timer(SECONDS, _write, (f"ffi_builder: {step} …",))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        took = time.monotonic() - start
        if took > SECONDS:
            _write(f"ffi_builder: {step} took {took:.1f} s")


def _write(words: str) -> None:
    print(words, file=sys.stderr, flush=True)
