"""A kernel image and a signature to a compiled module, with no MLIR in between for the caller."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ffi_builder import runtime, spec
from ffi_builder.builder import attach
from ffi_builder.plan import check_signature
from ffi_builder.providers import CudaLaunchCallProvider

if TYPE_CHECKING:
    from ffi_builder.providers.cuda import LaunchEntry
    from ffi_builder.providers.cuda.dimensions import Size
    from ffi_builder.providers.cuda.streams import StreamChoice
    from ffi_builder.runtime import CompiledModule


def wrap_cubin(
    image: bytes | str,
    kernel: str,
    signature: spec.Signature,
    *,
    grid: Size,
    block: Size,
    args: Sequence[LaunchEntry] | None = None,
    cluster: Size | None = None,
    dynamic_smem_bytes: spec.Dim = 0,
    attributes: Sequence[str] = (),
    stream: StreamChoice = None,
    opt_level: int = 2,
    cache_dir: str | os.PathLike[str] | None = None,
) -> CompiledModule:
    """Compile a function that checks its arguments and launches a kernel of an image.

    It needs neither a GPU nor a driver; its first call does. The module carries the image along,
    and is exported as any other: ``export_library`` writes a library that needs no file beside it.

    Args:
        image: a cubin, a fatbin or PTX.
        kernel: its name there; ``ffi_builder.cuda.kernels(image)`` has them all.
        signature: what the function accepts, under whose name the module has it.
        grid: blocks in x, y and z: up to three ints or expressions over the signature's Vars.
        block: threads of a block, likewise.
        args: which values become the kernel's parameters, in order. Left out, all parameters that
            are neither streams nor constants: of a tensor the data pointer.
        cluster: blocks of a cluster, likewise.
        dynamic_smem_bytes: dynamic shared memory of a block: an int or an expression.
        attributes: as of `ffi_builder.providers.CudaLaunchCallProvider`, where all of these from
            ``grid`` on are explained.
        stream: as there.
        opt_level: 0 to 3, for the wrapper; the kernel is compiled already.
        cache_dir: a folder that keeps compiled code, as of `ffi_builder.runtime.compile`.

    Raises:
        SpecError: the image cannot be read or has no such kernel, or it cannot be launched so; the
            signature is no Signature.
        BuildError: the signature does not fit the kernel's parameters; the message has both.
        CompileError: torch-mlir or llvmlite is not installed.
        TypeError: the image is neither bytes nor str, or the kernel's name no str.
        ValueError: another ``opt_level``.
    """
    check_signature("signature: ", signature)
    provider = CudaLaunchCallProvider(
        image,  # pyright: ignore[reportArgumentType]  (it takes PTX as str too)
        kernel,
        grid=grid,
        block=block,
        args=args,
        cluster=cluster,
        dynamic_smem_bytes=dynamic_smem_bytes,
        attributes=attributes,
        stream=stream,
    )
    return runtime.compile(
        "module {}",
        post_compile_hooks=[lambda module: attach(module, signature, provider)],
        opt_level=opt_level,
        cache_dir=cache_dir,
    )
