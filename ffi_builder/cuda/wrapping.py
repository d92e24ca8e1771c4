"""Compiles a wrapper for a kernel of an image. The caller needs no MLIR."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ffi_builder import runtime, spec
from ffi_builder.builder.wrapper import attach
from ffi_builder.plan import check_signature
from ffi_builder.providers import CudaLaunchCallProvider

if TYPE_CHECKING:
    from ffi_builder.providers.cuda.dimensions import Size
    from ffi_builder.providers.cuda.entries import LaunchEntry
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

    Compiling needs neither a GPU nor a driver; the first call does. The module contains the image:
    ``export_library`` writes a library that needs no other file.

    Args:
        image: a cubin, a fatbin or PTX.
        kernel: the kernel's name in the image; ``ffi_builder.cuda.kernels(image)`` lists all.
        signature: the parameters and the name of the function.
        grid: blocks in x, y and z: up to three ints or expressions over the signature's Vars. This
            and the next six arguments are those of `ffi_builder.providers.CudaLaunchCallProvider`.
        block: threads of a block, as for ``grid``.
        args: the values of the kernel's parameters, in order.
        cluster: blocks of a cluster, as for ``grid``.
        dynamic_smem_bytes: dynamic shared memory of a block in bytes: an int or an expression.
        attributes: flags of the launch.
        stream: the stream to launch on.
        opt_level: 0 to 3, for the wrapper; the kernel is compiled already.
        cache_dir: a folder for compiled code, as for `ffi_builder.runtime.compile`.

    Raises:
        SpecError: if the image cannot be read or has no such kernel, if the kernel cannot be
            launched like this, or if ``signature`` is not a Signature.
        BuildError: if the signature does not fit the kernel's parameters; the message shows both.
        CompileError: if torch-mlir or llvmlite is not installed.
        TypeError: if the image is neither bytes nor str, or the kernel's name is not a str.
        ValueError: if ``opt_level`` is out of range.

    Examples:
        >>> from ffi_builder import cuda, spec
        >>> KERNEL = '''
        ... gpu.module @kernels {
        ...   gpu.func @scale(%x: !llvm.ptr, %n: i32, %factor: f32) kernel {
        ...     %thread = gpu.global_id x
        ...     %i = arith.index_cast %thread : index to i32
        ...     %inside = arith.cmpi slt, %i, %n : i32
        ...     scf.if %inside {
        ...       %at = llvm.getelementptr %x[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        ...       %old = llvm.load %at : !llvm.ptr -> f32
        ...       %new = arith.mulf %old, %factor : f32
        ...       llvm.store %new, %at : f32, !llvm.ptr
        ...     }
        ...     gpu.return
        ...   }
        ... }'''
        >>> ptx = cuda.lower_to_ptx(KERNEL, arch="sm_90")
        >>> n, factor = spec.Var("n", "int32"), spec.Var("factor", "float32")
        >>> x = spec.Tensor("x", [n], "float32", device_type="cuda")
        >>> scale = spec.Signature("scale", [x, factor])
        >>> compiled = cuda.wrap_cubin(
        ...     ptx, "scale", scale, grid=spec.ceildiv(n, 128), block=128, args=[x, n, factor]
        ... )

        Needs PyTorch and a GPU of sm_90 or later:

        >>> import torch
        >>> y = torch.ones(1000, device="cuda")
        >>> compiled["scale"](y, 2.0)
        >>> y.sum().item()
        2000.0
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
