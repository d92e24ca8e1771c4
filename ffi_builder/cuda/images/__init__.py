"""Reads cubins, fatbins and PTX: which kernels they have, with which parameters.

    image = kernels(data)
    image.architectures, image["saxpy"].parameters

With this a provider finds mismatches between signature and kernel when it is made, without a GPU or
a driver.
"""

from ffi_builder.cuda.images.image import Image, Kernel, Parameter
from ffi_builder.cuda.images.read import is_image, kernels

__all__ = ["Image", "Kernel", "Parameter", "is_image", "kernels"]
