"""CUDA images as sources of ``wrap``, also in what Triton made."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from ffi_builder import SpecError, spec
from ffi_builder.cuda.images import is_image, kernels
from ffi_builder.cuda.launch.options import Launch
from ffi_builder.cuda.launch.provider import CudaLaunchCallProvider
from ffi_builder.cuda.triton import checked, launched
from ffi_builder.extending import NoKernelError, dataclass
from ffi_builder.providers import CallProvider


@dataclass(frozen=True)
class CudaImage:
    """A cubin, a fatbin or PTX."""

    data: bytes | str
    compiled: Any = None
    """The object that ``triton.compile`` returned, if the image is Triton's."""

    device = "cuda"

    def called(
        self,
        signature: spec.Signature,
        function: str | None,
        args: Any,
        launch: Launch | None,
    ) -> tuple[spec.Signature, CallProvider, str]:
        """Return what :class:`~ffi_builder.wrapping.sources.Image` says."""
        metadata = None if self.compiled is None else self.compiled.metadata
        how, name = checked_launch(launch, metadata, "a CUDA image"), signature.name
        types = "with the sizes of the image's parameters"
        if metadata is not None:
            signature, args = checked(self.compiled, signature, args, how)
            how, name, types = launched(metadata, how), metadata.name, "with Triton's types"
        elif how.block is None:
            how = replace(how, block=self._block(function or name))
        options: dict[str, Any] = {each.name: getattr(how, each.name) for each in fields(how)}
        try:
            provider = CudaLaunchCallProvider(self.data, function or name, args=args, **options)
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


def read(source: object, data: object, *, launched: bool) -> CudaImage | None:
    """Read a source of ``wrap``; None if it is no image."""
    asm: Any = getattr(source, "asm", {})
    for kind in ("cubin", "ptx"):
        if kind in asm and hasattr(source, "metadata"):
            return CudaImage(asm[kind], source)
    if isinstance(data, (str, bytes)):
        return CudaImage(data) if is_image(data) or (launched and isinstance(data, str)) else None
    code = getattr(source, "code", None)  # PTX in an ObjectCode of cuda.core; its bytes are read
    return CudaImage(code) if isinstance(code, str) and is_image(code) else None


def checked_launch(launch: Launch | None, metadata: Any, what: str) -> Launch:
    """Return how an image is launched.

    Raises:
        TypeError: nothing says so, or something else than a Launch.
    """
    if not isinstance(launch, (Launch, type(None))):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"wrap: expected launch=Launch(grid=…, block=…) but got {launch!r}")
    if launch is None:
        raise TypeError(
            f"wrap: {what} needs launch=, as in launch=Launch(grid=spec.ceildiv(n, 128)"
            f"{')' if metadata is not None else ', block=128)'}"
        )
    return launch
