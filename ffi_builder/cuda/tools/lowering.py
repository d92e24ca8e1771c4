"""Lowers a kernel in MLIR or LLVM IR to PTX.

    gpu.module ──gpu → nvvm──► llvm.func, nvvm ops ──► LLVM IR ──llvmlite's NVPTX target──► PTX

The passes run in torch-mlir. Its LLVM has no NVPTX target; the LLVM of llvmlite has one.
"""

from __future__ import annotations

import re
from typing import Final

from ffi_builder import CompileError
from ffi_builder.cuda.tools import toolkit
from ffi_builder.cuda.tools.toolkit import Architecture, architecture
from ffi_builder.runtime.extending import device_llvm_ir, emit_ptx, is_llvm_ir, readable

PIPELINE: Final = (
    "builtin.module(gpu-kernel-outlining,gpu.module(lower-affine,convert-scf-to-cf,"
    "convert-nvgpu-to-nvvm,convert-gpu-to-nvvm,convert-nvvm-to-llvm,reconcile-unrealized-casts))"
)
"""The pipeline of `lower_to_ptx` for MLIR, unless another one is given."""

_LEVEL: Final = 3
_LEAST: Final = 80
"""PTX ISA 8.0, of CUDA 12.0, the oldest driver that is supported."""
_FIRST: Final = {
    **dict.fromkeys((50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90), _LEAST),
    **dict.fromkeys((100, 101), 86),
    **dict.fromkeys((120,), 87),
    **dict.fromkeys((103, 121), 88),
    **dict.fromkeys((88, 110), 90),
}
"""The architectures that llvmlite's LLVM 22 knows, each with its first PTX ISA, 8.0 at least."""
_SUFFIXED: Final = {
    "": _FIRST,
    "a": (90, 100, 101, 103, 110, 120, 121),
    "f": (100, 101, 103, 110, 120, 121),
}
_FIRST_FAMILY: Final = 88
_ENTRY = re.compile(r"^(?:\.visible |\.weak )?\.entry (.+?)\(", re.MULTILINE)
_NAME = re.compile(r"[a-zA-Z][\w$]*|[_$%][\w$]+", re.ASCII)
"""An identifier of PTX; LLVM writes other names unchanged."""
_VERSION = re.compile(r"(\d)\.(\d)")
_NEWEST: Final = 90
"""The last PTX ISA that llvmlite's LLVM 22 writes."""

_LIBDEVICE: Final = "nvvm/libdevice/libdevice.10.bc"
_MATHS = re.compile(r"^declare\b[^\n]*@(__nv_\w+)\(", re.MULTILINE)


def lower_to_ptx(
    module: object, *, arch: str, pipeline: str | None = None, ptx_version: str | None = None
) -> str:
    """Lower a kernel to PTX; no driver, GPU or CUDA toolkit is needed.

    Args:
        module: MLIR, as text or as a module of any distribution. It has one ``gpu.module`` (or a
            ``gpu.launch``, whose body becomes one), is a ``gpu.module`` itself, or has
            ``llvm.func``s with ``nvvm.kernel``. Or LLVM IR text, whose kernels have the calling
            convention ``ptx_kernel``. The module is not changed.
        arch: the architecture to lower for, such as ``sm_90a``.
        pipeline: an MLIR pass pipeline for torch-mlir, instead of `PIPELINE`.
        ptx_version: the PTX ISA, such as ``8.6``. New instructions need a new version, which an
            older driver or assembler cannot read. The default is 8.0, or the first version that
            has `arch`.

    Returns:
        PTX. A memref of a ``gpu.func`` becomes several parameters (MLIR's descriptor), which
        ``kernels`` shows.

    Raises:
        CompileError: if the module does not parse, lower or verify, if it has no kernel or several
            ``gpu.module``s, if LLVM cannot select instructions for `arch`, or if torch-mlir or
            llvmlite is not installed. Also if the module calls a function such as ``__nv_expf``,
            and no toolkit with libdevice is found.
        TypeError, ValueError: if an argument has another type, or names no architecture.

    Examples:
        >>> from ffi_builder import cuda
        >>> KERNEL = '''
        ... gpu.module @kernels {
        ...   gpu.func @scale(%x: !llvm.ptr, %factor: f32) kernel {
        ...     %thread = gpu.global_id x
        ...     %i = arith.index_cast %thread : index to i64
        ...     %at = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        ...     %old = llvm.load %at : !llvm.ptr -> f32
        ...     %new = arith.mulf %old, %factor : f32
        ...     llvm.store %new, %at : f32, !llvm.ptr
        ...     gpu.return
        ...   }
        ... }'''
        >>> ptx = cuda.lower_to_ptx(KERNEL, arch="sm_90")
        >>> print(cuda.kernels(ptx))
        ptx for compute_90
          scale(u64, f32)
    """
    given = architecture(arch)
    isa = _isa(given, ptx_version)
    if pipeline is not None and not isinstance(pipeline, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"pipeline: expected a str but got {pipeline!r}")
    if isinstance(module, str) and is_llvm_ir(module):
        if pipeline is not None:
            raise TypeError("pipeline= needs MLIR, but got LLVM IR text")
        text = readable(module)
    else:
        text = device_llvm_ir(module, PIPELINE if pipeline is None else pipeline)
    ptx = emit_ptx(text, str(given), f"+ptx{isa}", _LEVEL, _libraries(text))
    # LLVM ignores a version that it does not know, with a warning on stderr.
    if f".version {isa / 10}\n" not in ptx:
        raise CompileError(f"ptx_version: the LLVM of llvmlite knows no PTX ISA {isa / 10}")
    _check_kernels(ptx)
    return ptx


def _check_kernels(ptx: str) -> None:
    """Check that the PTX has kernels, and that their names are valid.

    Raises:
        CompileError: it has none, or a name is not valid.
    """
    names = _ENTRY.findall(ptx)
    if not names:
        raise CompileError(
            "The module has no kernel: expected a `gpu.func` with `kernel`, an `llvm.func` with "
            "`nvvm.kernel`, or in LLVM IR `define ptx_kernel void`"
        )
    for name in names:
        if _NAME.fullmatch(name) is None:
            raise CompileError(
                f"The kernel's name {name!r} is not valid in PTX: expected letters, digits, '_' "
                f"and '$'"
            )


def _isa(arch: Architecture, given: str | None) -> int:
    """Return the PTX ISA, 80 for 8.0, after checking that LLVM knows it and the architecture."""
    if arch.number not in _SUFFIXED[arch.suffix]:
        every = sorted(
            (number, suffix) for suffix, numbers in _SUFFIXED.items() for number in numbers
        )
        known = ", ".join(f"sm_{number}{suffix}" for number, suffix in every)
        raise CompileError(f"arch: the LLVM of llvmlite knows {known}, but got '{arch}'")
    if given is None:
        return max(_FIRST[arch.number], _FIRST_FAMILY if arch.suffix == "f" else 0)
    if not isinstance(given, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(
            f"ptx_version: expected a str such as '8.6' but got {given!r} ({type(given).__name__})"
        )
    match = _VERSION.fullmatch(given)
    version = int(match[1] + match[2]) if match is not None else 0
    if not 60 <= version <= _NEWEST:
        raise ValueError(
            f"ptx_version: expected one of '6.0' to '{_NEWEST / 10}' but got {given!r}"
        )
    return version


def _libraries(text: str) -> list[bytes]:
    """Return the bitcode of libdevice, if the module calls its functions."""
    called = sorted(set(_MATHS.findall(text)))
    if not called:
        return []
    path = toolkit.find(_LIBDEVICE)
    if path is None:
        raise CompileError(
            f"The module calls {', '.join(called)} of NVIDIA's libdevice, which was not found: "
            "pip install nvidia-nvvm (for CUDA 12 nvidia-cuda-nvcc-cu12), or install a CUDA "
            "toolkit and set CUDA_HOME"
        )
    return [path.read_bytes()]
