"""Finds the images in libraries and objects of wrappers, and which kernels functions launch.

The symbols that say so are those of ``launch.states``, of any vendor.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from ffi_builder.extending import MODULE_PREFIX, dataclass

_IMAGE: Final = re.compile(rf"{MODULE_PREFIX}[a-z]+_image_(\w{{16}})")
_LOAD: Final = re.compile(
    rf"{MODULE_PREFIX}[a-z]+_init_(?P<image>\w{{16}})_(?P<kernel>\w{{8}})_(?P<function>.+)"
)
_LARGEST: Final = 1 << 26
"""The most bytes of an image that is read."""


@dataclass(frozen=True)
class Launched:
    """A kernel that a function launches."""

    function: str
    """The function; a number may follow, ``_1``, if it launches several kernels."""
    kernel: str
    """The beginning of the SHA-256 of the kernel's name."""

    def is_of(self, name: str) -> bool:
        """Return whether the kernel has this name."""
        return hashlib.sha256(name.encode()).hexdigest().startswith(self.kernel)


def launched(
    symbols: Sequence[tuple[str, int, Callable[[], bytes]]],
) -> Iterator[tuple[bytes, list[Launched]]]:
    """Yield each image, and what functions launch of it; images of more than 64 MiB are left out.

    Args:
        symbols: the name, the size and the content of each, as
            ``ffi_builder.runtime.extending.own_symbols`` yields them.
    """
    launches: dict[str, list[Launched]] = {}
    for name, _, _ in symbols:
        if load := _LOAD.fullmatch(name):
            launches.setdefault(load["image"], []).append(
                Launched(load["function"], load["kernel"])
            )
    for name, size, read in symbols:
        image = _IMAGE.fullmatch(name)
        if image is not None and image[1] in launches and size <= _LARGEST:
            yield read(), launches[image[1]]
