"""Images for AMD GPUs as sources of ``wrap``, also in what Triton made."""

from __future__ import annotations

from typing import Any

from typing_extensions import override

from ffi_builder import SpecError
from ffi_builder.cuda.launch.options import Launch
from ffi_builder.cuda.wrapped import LaunchedImage, options_of
from ffi_builder.providers import CallProvider
from ffi_builder.rocm.images.read import kernels
from ffi_builder.rocm.launch.provider import RocmLaunchCallProvider


class RocmImage(LaunchedImage):
    """A code object or an offload bundle."""

    device = "rocm"
    what = "an image for AMD GPUs"
    kernels = staticmethod(kernels)

    @override
    def provider(self, kernel: str, args: Any, launch: Launch) -> CallProvider:
        options = options_of(launch)
        if options.pop("cluster") is not None:
            raise SpecError(
                f"{RocmLaunchCallProvider.__name__}: cluster: launches on AMD's GPUs have no "
                f"clusters; leave it out of launch="
            )
        return RocmLaunchCallProvider(self.data, kernel, args=args, **options)


def read(source: Any, data: object) -> RocmImage:
    """Return the image that a source is: its bytes, or what Triton has compiled."""
    return RocmImage(data) if isinstance(data, bytes) else RocmImage(source.asm["hsaco"], source)
