"""The checked-in images: `make.py` says how each was made."""

from __future__ import annotations

from pathlib import Path
from typing import Final

IMAGES: Final = Path(__file__).parent / "images"


def image(name: str) -> bytes:
    return (IMAGES / name).read_bytes()
