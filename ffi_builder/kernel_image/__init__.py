"""Reads cubins, fatbins and PTX: which kernels they have, with which parameters.

    image = read_image(data)
    image.architectures, image["saxpy"].parameters

With this a provider finds mismatches between signature and kernel when it is made, without a GPU or
a driver.
"""

from ffi_builder.kernel_image.image import Image, Kernel, Parameter
from ffi_builder.kernel_image.read import is_image, read_image

__all__ = ["Image", "Kernel", "Parameter", "is_image", "read_image"]
