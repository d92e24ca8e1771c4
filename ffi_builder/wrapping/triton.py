"""Kernels that Triton compiled: their cubin, and how Triton launches them.

Triton runs 32 threads for each warp. It appends a pointer to scratch memory for each size of it in
the metadata; docs/cuda-tools.md has the table of Triton's terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final, cast

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.wrapping.c_types import CType, Prototype
from ffi_builder.wrapping.calls import bound, symbols, with_conditions
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
        from ffi_builder.cuda.triton import triton_signature  # imports NVIDIA's tools

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
