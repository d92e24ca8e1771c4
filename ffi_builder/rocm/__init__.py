"""Tools for kernels of AMD GPUs.

    print(kernels(hsaco))                       list the kernels of a code object or a bundle

No function needs a driver or a GPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ffi_builder.extending import lazy

if TYPE_CHECKING:
    from ffi_builder.rocm.images.read import kernels

__all__ = ["kernels"]

__getattr__, __dir__ = lazy(__name__, {"kernels": "images.read"}, __all__)
