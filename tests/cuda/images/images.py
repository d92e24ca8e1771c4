"""The checked-in images, and what is in them by their source, tests/cuda/images/kernels.cu."""

from __future__ import annotations

from pathlib import Path
from typing import Final

IMAGES: Final = Path(__file__).parent / "images"
FILL: Final = "_ZN2ns4fillIfEEvPT_S1_"

SIZES: Final = {
    "saxpy": [4, 8, 8, 4],
    "tensor_map": [4, 128, 8],
    "nothing": [],
    "by_value": [24, 8],
    "many": [1, 2, 4, 8, 4, 8, 1, 8, 1, 8],
    "bounded": [8],
    "clustered": [8],
    "ranked": [8],
    FILL: [8, 4],
}
"""Sizes of the parameters, in C++."""
SMALL: Final = ("saxpy", "tensor_map")


def image(name: str) -> bytes:
    return (IMAGES / name).read_bytes()
