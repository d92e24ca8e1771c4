"""Tools for CUDA kernels: compile, lower, assemble and read kernel images.

    cubin = compile_cuda(source, arch="sm_90a")                             CUDA C++, with NVRTC
    cubin = assemble(lower_to_ptx(module, arch="sm_90"), arch="sm_90")      MLIR or LLVM IR
    print(kernels(cubin))                                                   list the kernels
    launch_blocking(True), launch_hook(f)                                   watch launches
    load_hook(f), device_global(library, name)                              see loaded images

No function needs a driver or a GPU. Each imports NVIDIA's compilers when it is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ffi_builder.extending import lazy

if TYPE_CHECKING:
    from ffi_builder.cuda.images import kernels
    from ffi_builder.cuda.launch.globals import device_global
    from ffi_builder.cuda.launch.watching import launch_blocking, launch_hook, load_hook
    from ffi_builder.cuda.tools.compilers import assemble, compile_cuda
    from ffi_builder.cuda.tools.cutile import cutile_signature
    from ffi_builder.cuda.tools.lowering import lower_to_ptx
    from ffi_builder.cuda.tools.tilelang import tilelang_signature
    from ffi_builder.cuda.tools.tilelang_launch import tilelang_launch
    from ffi_builder.cuda.tools.triton import triton_signature
    from ffi_builder.cuda.triton_variant import triton_variant

__all__ = [
    "assemble",
    "compile_cuda",
    "cutile_signature",
    "device_global",
    "kernels",
    "launch_blocking",
    "launch_hook",
    "load_hook",
    "lower_to_ptx",
    "tilelang_launch",
    "tilelang_signature",
    "triton_signature",
    "triton_variant",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        **dict.fromkeys(("assemble", "compile_cuda"), "tools.compilers"),
        "cutile_signature": "tools.cutile",
        "device_global": "launch.globals",
        "kernels": "images.read",
        **dict.fromkeys(("launch_blocking", "launch_hook", "load_hook"), "launch.watching"),
        "lower_to_ptx": "tools.lowering",
        "tilelang_launch": "tools.tilelang_launch",
        "tilelang_signature": "tools.tilelang",
        "triton_signature": "tools.triton",
        "triton_variant": "triton_variant",
    },
    __all__,
)
