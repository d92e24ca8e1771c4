"""CUDA images as sources of ``wrap``, also in what Triton made.

Triton runs 32 threads for each warp. It appends a pointer to scratch memory for each size of it in
the metadata; docs/cuda-tools.md has the table of Triton's terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final, cast

from ffi_builder import BuildError, SpecError, spec
from ffi_builder.cuda.images import is_image
from ffi_builder.cuda.launch.options import Launch
from ffi_builder.cuda.launch.provider import CudaLaunchCallProvider
from ffi_builder.cuda.tools.triton import triton_signature
from ffi_builder.extending import NoKernelError, dataclass
from ffi_builder.providers import CallProvider
from ffi_builder.wrapping.c_types import CType, Prototype
from ffi_builder.wrapping.calls import bound, symbols, with_conditions

if TYPE_CHECKING:
    from ffi_builder.cuda.launch.entries import LaunchEntry

_WARP: Final = 32
_SCRATCH: Final = ("global_scratch_size", "profile_scratch_size")
_LAUNCHERS: Final = (spec.Stream, spec.EnvStream)


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
        how, name = _checked_launch(launch, metadata), signature.name
        types = "with the sizes of the image's parameters"
        if metadata is not None:
            signature, args = checked(self.compiled, signature, args)
            how, name, types = launched(metadata, how), metadata.name, "with Triton's types"
        options: dict[str, Any] = {each.name: getattr(how, each.name) for each in fields(how)}
        try:
            provider = CudaLaunchCallProvider(self.data, function or name, args=args, **options)
        except NoKernelError as error:
            raise SpecError(f"{error}; say which with function=") from None
        return signature, provider, types


def read(source: object, data: object, *, launched: bool) -> CudaImage | None:
    """Read a source of ``wrap``; None if it is no image."""
    if "cubin" in getattr(source, "asm", ()) and hasattr(source, "metadata"):
        compiled: Any = source
        return CudaImage(compiled.asm["cubin"], compiled)
    if isinstance(data, (str, bytes)):
        return CudaImage(data) if is_image(data) or (launched and isinstance(data, str)) else None
    code = getattr(source, "code", None)  # PTX in an ObjectCode of cuda.core; its bytes are read
    return CudaImage(code) if isinstance(code, str) and is_image(code) else None


def _checked_launch(launch: Launch | None, metadata: Any) -> Launch:
    if not isinstance(launch, (Launch, type(None))):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"wrap: expected launch=Launch(grid=…, block=…) but got {launch!r}")
    if launch is None:
        raise TypeError(
            "wrap: a CUDA image needs launch=, as in launch=Launch(grid=spec.ceildiv(n, 128)"
            f"{')' if metadata is not None else ', block=128)'}"
        )
    if metadata is None and launch.block is None:
        raise TypeError("wrap: launch= needs block=: the image does not say how many threads")
    return launch


def launched(metadata: Any, launch: Launch) -> Launch:
    """Add the values in Triton's metadata to a launch.

    Raises:
        TypeError: the launch has it already.
    """
    given = [
        field.name
        for field in fields(launch)
        if field.name not in ("grid", "stream") and getattr(launch, field.name) != field.default
    ]
    if given:
        raise TypeError(f"wrap: Triton's metadata say {', '.join(given)}: leave it out of launch=")
    attributes = {
        "cooperative": getattr(metadata, "launch_cooperative_grid", False),
        "programmatic_stream_serialization": getattr(metadata, "launch_pdl", False),
    }
    blocks = getattr(metadata, "num_ctas", 1)
    return replace(
        launch,
        block=_WARP * metadata.num_warps,
        cluster=None if blocks == 1 else blocks,
        dynamic_smem_bytes=metadata.shared,
        attributes=[name for name, is_wanted in attributes.items() if is_wanted],
    )


def checked(
    compiled: Any, signature: spec.Signature, args: Sequence[LaunchEntry] | None
) -> tuple[spec.Signature, list[LaunchEntry]]:
    """Return a signature that checks what Triton relies on, and what the kernel gets.

    Triton's names, types and divisibilities are those of a prototype. NULL is passed for each
    pointer to scratch memory.

    Raises:
        BuildError: the signature contradicts the types; the kernel needs scratch memory, which
            nobody allocates.
    """
    metadata = compiled.metadata
    sizes = {name: getattr(metadata, name) for name in _SCRATCH if hasattr(metadata, name)}
    if any(sizes.values()):
        raise BuildError(
            f"wrap: Triton's kernel {metadata.name!r} needs scratch memory, {sizes}, which nobody "
            f"allocates: launch it from Triton"
        )
    if hasattr(compiled, "src"):
        known = triton_signature(compiled)
        types = [
            (p.name, CType(p.dtypes[0], is_pointer=True))
            if isinstance(p, spec.Tensor)
            else (p.name, CType(cast("spec.Var", p).dtype))
            for p in known.params
        ]
        declared = Prototype(metadata.name, tuple(types), None)
        signature, found, _ = bound(declared, signature, cast("Any", args), _LAUNCHERS)
        args = list(found) if found is not None else None
        signature = with_conditions(signature, _promised(known, signature, args))
    if args is None:
        args = [p for p in signature.params if not isinstance(spec.required(p), _LAUNCHERS)]
    return signature, [*args, *(None for _ in sizes)]


def _promised(
    known: spec.Signature, signature: spec.Signature, args: Sequence[LaunchEntry] | None
) -> list[str]:
    """Return what Triton relies on as conditions, of arguments that are passed by their names.

    What the signature says already is left out.
    """
    names = args or [param.name for param in signature.params]
    known_sizes = {param.name: param for param in signature.params} | symbols(signature)
    found: list[str] = []
    for param, entry in zip(known.params, names, strict=False):
        promise = getattr(param, "data_alignment", None) or getattr(param, "divisibility", None)
        name = getattr(entry, "name", entry)
        if promise is not None and isinstance(name, str) and name.isidentifier():
            is_tensor = isinstance(param, spec.Tensor)
            condition = f"{name}{'.data' if is_tensor else ''} % {promise} == 0"
            divisor = getattr(known_sizes.get(name), "divisibility", None) or 1
            if divisor == 1:
                found.append(condition)
            elif divisor % promise:
                raise BuildError(
                    f"wrap: Triton relies on {condition}, but the signature says that {name!r} is "
                    f"divisible by {divisor}: write {promise}"
                )
    return found
