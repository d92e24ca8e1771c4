"""Kernels that Triton compiled: their cubin, and how Triton launches them.

Triton runs 32 threads for each warp. It appends a pointer to scratch memory for each size of it in
the metadata; docs/cuda-tools.md has the table of Triton's terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.wrapping.launch import Launch

if TYPE_CHECKING:
    from ffi_builder.providers.cuda.entries import LaunchEntry

_WARP: Final = 32
_SCRATCH: Final = ("global_scratch_size", "profile_scratch_size")
_LAUNCHERS: Final = (spec.Stream, spec.EnvStream)


def is_compiled(source: Any) -> bool:
    """Return whether an object is what ``triton.compile`` returns."""
    return "cubin" in getattr(source, "asm", ()) and hasattr(source, "metadata")


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


def with_scratch(
    metadata: Any, signature: spec.Signature, args: Sequence[LaunchEntry] | None
) -> list[LaunchEntry]:
    """Return what the kernel gets: the arguments, and NULL for each pointer to scratch memory.

    Raises:
        BuildError: the kernel needs scratch memory, which nobody allocates.
    """
    sizes = {name: getattr(metadata, name) for name in _SCRATCH if hasattr(metadata, name)}
    if any(sizes.values()):
        raise BuildError(
            f"wrap: Triton's kernel {metadata.name!r} needs scratch memory, {sizes}, which nobody "
            f"allocates: launch it from Triton"
        )
    if args is None:
        args = [p for p in signature.params if not isinstance(spec.required(p), _LAUNCHERS)]
    return [*args, *(None for _ in sizes)]
