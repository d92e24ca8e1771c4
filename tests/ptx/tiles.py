"""Where factors of products are in shared memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy

np: Any = numpy  # its stubs leave open what views are


@dataclass(frozen=True)
class Layout:
    """A matrix in shared memory: width of its swizzle, and whether it is transposed."""

    width: int = 128
    by_mn: bool = False

    def place(self, mn: Any, k: Any, size: float) -> Any:
        """Return offsets of elements, which have so many bytes (a fraction, of bits)."""
        each = round(16 / size)
        chunks = self.width // 16
        if not self.by_mn:
            line = mn % 8 * self.width + mn // 8 * self.stride
            at = line + k // each * (self.leading if chunks == 1 else 16)
            at = at + (k % each * size).astype(int)
        else:
            chunk = mn // each
            if chunks == 1:
                at = chunk * self.stride + k % 8 * 16 + k // 8 * self.leading
            else:
                at = chunk % chunks * 16 + chunk // chunks * self.leading
                at = at + k % 8 * self.width + k // 8 * self.stride
            at = at + (mn % each * size).astype(int)
        return at ^ (at >> 7 & chunks - 1) << 4

    @property
    def stride(self) -> int:
        """Between groups of eight; of chunks, if a transposed matrix is not swizzled."""
        if not self.by_mn:
            return 2048 if self.width == 16 else 8 * self.width
        return 512 if self.width == 16 else 8 * self.width

    @property
    def leading(self) -> int:
        """Between chunks in the other direction."""
        if not self.by_mn:
            return 128
        return 128 if self.width == 16 else 2048

    def descriptor(self, at: int, swizzles: Mapping[int, int]) -> int:
        """Return what the instruction gets, with the bits of each width."""
        fields = at >> 4 | self.leading >> 4 << 16 | self.stride >> 4 << 32
        return fields | swizzles[self.width]


def store(image: Any, at: int, elements: Any, layout: Layout, bits: int) -> None:
    """Put the elements of a matrix, by mn and k, where the layout has them."""
    mn, k = np.indices(elements.shape)
    places = at + layout.place(mn, k, bits / 8)
    if bits == 1:
        np.bitwise_or.at(image, places, (elements << k % 8).astype("uint8"))
        return
    for byte in range(bits // 8):
        image[places + byte] = (elements >> 8 * byte & 0xFF).astype("uint8")
