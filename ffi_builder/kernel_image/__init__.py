"""Reading cubins, fatbins and PTX: their kernels, and the parameters of these.

    image = read_image(data)
    image.architectures, find_kernel(image, "saxpy").parameters

A mismatch between a signature and a kernel is found with this when a provider is made, with no GPU
and no driver there.
"""

from ffi_builder.kernel_image.image import Image, Kernel, Parameter, find_kernel
from ffi_builder.kernel_image.read import read_image

__all__ = ["Image", "Kernel", "Parameter", "find_kernel", "read_image"]
