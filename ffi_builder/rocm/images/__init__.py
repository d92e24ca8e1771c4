"""Reads AMD code objects and offload bundles: which kernels they have, with which parameters.

    image = kernels(data)
    image.architectures, image["saxpy"].parameters

The records are those of CUDA's images.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ffi_builder.extending import lazy

if TYPE_CHECKING:
    from ffi_builder.rocm.images.read import kernels
    from ffi_builder.rocm.images.signs import is_bundle, is_code_object, is_image

__all__ = ["is_bundle", "is_code_object", "is_image", "kernels"]

__getattr__, __dir__ = lazy(
    __name__,
    {
        **dict.fromkeys(("is_bundle", "is_code_object", "is_image"), "signs"),
        "kernels": "read",
    },
    __all__,
)
