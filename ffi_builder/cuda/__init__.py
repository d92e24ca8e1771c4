"""Tools for CUDA kernels: compile, lower, assemble and read kernel images.

    cubin = compile_cuda(source, arch="sm_90a")                             CUDA C++, with NVRTC
    cubin = assemble(lower_to_ptx(module, arch="sm_90"), arch="sm_90")      MLIR or LLVM IR
    print(kernels(cubin))                                                   list the kernels

No function needs a driver or a GPU. Each imports NVIDIA's compilers when it is called.
"""

from ffi_builder.cuda.compilers import assemble, compile_cuda
from ffi_builder.cuda.lowering import lower_to_ptx
from ffi_builder.cuda.tilelang import tilelang_signature
from ffi_builder.cuda.triton import triton_signature
from ffi_builder.kernel_image import read_image as kernels
from ffi_builder.lazy import lazy

__all__ = [
    "assemble",
    "compile_cuda",
    "kernels",
    "lower_to_ptx",
    "tilelang_signature",
    "triton_signature",
]

__getattr__, __dir__ = lazy(__name__, {}, __all__)
