"""Images for AMD GPUs as sources of ``wrap``, also in what Triton made."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from ffi_builder import SpecError, spec
from ffi_builder.cuda.launch.options import Launch
from ffi_builder.cuda.triton import checked, launched
from ffi_builder.cuda.wrapped import checked_launch
from ffi_builder.extending import NoKernelError, dataclass
from ffi_builder.providers import CallProvider
from ffi_builder.rocm.images import kernels
from ffi_builder.rocm.launch.provider import RocmLaunchCallProvider


@dataclass(frozen=True)
class RocmImage:
    """A code object or an offload bundle."""

    data: bytes
    compiled: Any = None
    """The object that ``triton.compile`` returned, if the image is Triton's."""

    device = "rocm"

    def called(
        self,
        signature: spec.Signature,
        function: str | None,
        args: Any,
        launch: Launch | None,
    ) -> tuple[spec.Signature, CallProvider, str]:
        """Return what :class:`~ffi_builder.wrapping.sources.Image` says."""
        metadata = None if self.compiled is None else self.compiled.metadata
        how, name = checked_launch(launch, metadata, "an image for AMD GPUs"), signature.name
        types = "with the sizes of the image's parameters"
        if metadata is not None:
            signature, args = checked(self.compiled, signature, args, how)
            how, name, types = launched(metadata, how), metadata.name, "with Triton's types"
        elif how.block is None:
            how = replace(how, block=self._block(function or name))
        options: dict[str, Any] = {each.name: getattr(how, each.name) for each in fields(how)}
        if options.pop("cluster") is not None:
            raise SpecError(
                f"{RocmLaunchCallProvider.__name__}: cluster: launches on AMD's GPUs have no "
                f"clusters; leave it out of launch="
            )
        try:
            provider = RocmLaunchCallProvider(self.data, function or name, args=args, **options)
        except NoKernelError as error:
            raise SpecError(f"{error}; say which with function=") from None
        return signature, provider, types

    def _block(self, name: str) -> tuple[int, int, int]:
        """Return the only block that a kernel can have.

        Raises:
            TypeError: it may have several.
        """
        found = kernels(self.data).kernels.get(name)
        if found is None or found.block is None:
            raise TypeError("wrap: launch= needs block=: the image does not say how many threads")
        return found.block


def read(source: Any, data: object) -> RocmImage:
    """Return the image that a source is: its bytes, or what Triton has compiled."""
    return RocmImage(data) if isinstance(data, bytes) else RocmImage(source.asm["hsaco"], source)
