"""Reads AMD code objects and offload bundles: which kernels they have, with which parameters.

    image = kernels(data)
    image.architectures, image["saxpy"].parameters

The records are those of CUDA's images.
"""

from ffi_builder.rocm.images.read import is_bundle, is_code_object, is_image, kernels

__all__ = ["is_bundle", "is_code_object", "is_image", "kernels"]
