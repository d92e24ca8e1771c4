"""Reads AMD code objects and offload bundles: which kernels they have, with which parameters.

    image = kernels(data)
    image.architectures, image["saxpy"].parameters

The records are those of CUDA's images.
"""
