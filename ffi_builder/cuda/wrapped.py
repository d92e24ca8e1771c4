"""CUDA images as sources of ``wrap``, also in what Triton made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields, replace
from typing import Any, ClassVar

from typing_extensions import override

from ffi_builder import BuildError, SpecError, spec
from ffi_builder.cuda.images import Image, is_image, kernels
from ffi_builder.cuda.launch.options import Launch
from ffi_builder.cuda.launch.provider import CudaLaunchCallProvider
from ffi_builder.cuda.triton import checked, constants, launched
from ffi_builder.extending import NoKernelError, dataclass
from ffi_builder.providers import CallProvider


@dataclass(frozen=True)
class LaunchedImage(ABC):
    """An image whose kernels are launched, of any vendor."""

    data: Any
    compiled: Any = None
    """The object that ``triton.compile`` returned, if the image is Triton's."""

    device: ClassVar[str]
    what: ClassVar[str]
    """The image, in errors."""
    kernels: ClassVar[staticmethod[[Any], Image]]
    """The function that reads the image."""

    @property
    def has_names(self) -> bool:
        """Whether Triton says the names of the kernel's parameters."""
        return hasattr(self.compiled, "src")

    @abstractmethod
    def provider(self, kernel: str, args: Any, launch: Launch) -> CallProvider:
        """Return what launches a kernel."""

    def called(
        self, signature: spec.Signature, function: str | None, args: Any, launch: Launch | None
    ) -> tuple[spec.Signature, CallProvider, str]:
        """Return what :class:`~ffi_builder.wrapping.sources.Image` says."""
        metadata = None if self.compiled is None else self.compiled.metadata
        how, name = _checked_launch(launch, metadata, self.what), signature.name
        types = "with the sizes of the image's parameters"
        if metadata is not None:
            for constant, value in constants(self.compiled, signature):
                raise BuildError(
                    f"wrap: {constant!r} is a constexpr of Triton's kernel {metadata.name!r}, "
                    f"which was compiled with {value}: leave the parameter out, and write the "
                    f"number for a size"
                )
            signature, args = checked(self.compiled, signature, args, how)
            how, name, types = launched(metadata, how), metadata.name, "with Triton's types"
        elif how.block is None:
            how = replace(how, block=self._block(function or name))
        try:
            provider = self.provider(function or name, args, how)
        except NoKernelError as error:
            raise SpecError(f"{error}; say which with function=") from None
        return signature, provider, types

    def _block(self, name: str) -> tuple[int, int, int]:
        """Return the only block that a kernel can have.

        Raises:
            TypeError: it may have several.
        """
        kernel = self.kernels(self.data).kernels.get(name)
        if kernel is None or kernel.block is None:
            raise TypeError("wrap: launch= needs block=: the image does not say how many threads")
        return kernel.block


class CudaImage(LaunchedImage):
    """A cubin, a fatbin or PTX."""

    device = "cuda"
    what = "a CUDA image"
    kernels = staticmethod(kernels)

    @override
    def provider(self, kernel: str, args: Any, launch: Launch) -> CallProvider:
        return CudaLaunchCallProvider(self.data, kernel, args=args, **options_of(launch))


def options_of(launch: Launch) -> dict[str, Any]:
    """Return the options of a provider, by name."""
    return {each.name: getattr(launch, each.name) for each in fields(launch)}


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


def _checked_launch(launch: Launch | None, metadata: Any, what: str) -> Launch:
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
