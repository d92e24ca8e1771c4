"""A kernel in MLIR or LLVM IR to PTX.

    gpu.module ──gpu → nvvm──► llvm.func, nvvm ops ──► LLVM IR ──llvmlite's NVPTX target──► PTX

MLIR's passes are torch-mlir's, which has all of them but no NVPTX target; llvmlite has that.
"""

from __future__ import annotations

import re
from typing import Any, Final

from ffi_builder.cuda import toolkit
from ffi_builder.cuda.architecture import Architecture, architecture
from ffi_builder.errors import CompileError
from ffi_builder.runtime import mlir
from ffi_builder.runtime.codegen.floats import readable
from ffi_builder.runtime.inputs import is_llvm_ir
from ffi_builder.runtime.safety import worker

PIPELINE: Final = (
    "builtin.module(gpu-kernel-outlining,gpu.module(lower-affine,convert-scf-to-cf,"
    "convert-nvgpu-to-nvvm,convert-gpu-to-nvvm,convert-nvvm-to-llvm,reconcile-unrealized-casts))"
)
"""What `lower_to_ptx` runs on MLIR, if it is given no other pipeline."""

_LEVEL: Final = 3
_LEAST: Final = 80
"""PTX ISA 8.0, of CUDA 12.0: what every driver of today reads."""
_FIRST: Final = {
    **dict.fromkeys((50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90), _LEAST),
    **dict.fromkeys((100, 101), 86),
    **dict.fromkeys((120,), 87),
    **dict.fromkeys((103, 121), 88),
    **dict.fromkeys((88, 110), 90),
}
"""The architectures that llvmlite's LLVM 22 knows, and the first PTX ISA from 8.0 on with them."""
_SUFFIXED: Final = {
    "": _FIRST,
    "a": (90, 100, 101, 103, 110, 120, 121),
    "f": (100, 101, 103, 110, 120, 121),
}
_FIRST_FAMILY: Final = 88
_ENTRY = re.compile(r"^(?:\.visible |\.weak )?\.entry (.+?)\(", re.MULTILINE)
_NAME = re.compile(r"[a-zA-Z][\w$]*|[_$%][\w$]+", re.ASCII)
"""An identifier of PTX; LLVM writes any name."""
_VERSION = re.compile(r"(\d)\.(\d)")
_NEWEST: Final = 90
"""The last PTX ISA that llvmlite's LLVM 22 writes."""

_LIBDEVICE: Final = "nvvm/libdevice/libdevice.10.bc"
_MATHS = re.compile(r"^declare\b[^\n]*@(__nv_\w+)\(", re.MULTILINE)


def lower_to_ptx(
    module: object, *, arch: str, pipeline: str | None = None, ptx_version: str | None = None
) -> str:
    """Lower a kernel to PTX; no driver, no GPU and no CUDA toolkit is needed.

    Args:
        module: MLIR, as text or as a module of any distribution: with one ``gpu.module`` (or
            ``gpu.launch``, whose body becomes one), with ``llvm.func``s that have ``nvvm.kernel``,
            or the ``gpu.module`` itself. Or LLVM IR text, whose kernels have the calling convention
            ``ptx_kernel``. It is not changed.
        arch: what it is for, such as ``sm_90a``.
        pipeline: an MLIR pass pipeline for torch-mlir, instead of `PIPELINE`.
        ptx_version: the PTX ISA, such as ``8.6``: instructions need one, and an older driver or
            assembler reads none that is newer than itself. Left out, 8.0, or the first with `arch`.

    Returns:
        PTX with its kernels. Of a ``gpu.func`` a memref is several parameters (MLIR's descriptor);
        ``kernels`` shows them.

    Raises:
        CompileError: it does not parse, lower or verify, LLVM cannot select it for `arch`, it has
            no kernel or several ``gpu.module``s, or torch-mlir or llvmlite is not installed. Also
            where it calls ``__nv_expf`` or the like, and no toolkit with libdevice is there.
        TypeError, ValueError: an argument of another type; no name of an architecture.
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
        text = _llvm_ir(module, PIPELINE if pipeline is None else pipeline)
    ptx = worker.emit_ptx(text, str(given), f"+ptx{isa}", _LEVEL, _libraries(text))
    # LLVM goes on with what it does not know, and says so on stderr.
    if f".version {isa / 10}\n" not in ptx:
        raise CompileError(f"ptx_version: the LLVM of llvmlite knows no PTX ISA {isa / 10}")
    _check_kernels(ptx)
    return ptx


def _check_kernels(ptx: str) -> None:
    """That there are some, whose names LLVM has taken over as they are."""
    names = _ENTRY.findall(ptx)
    if not names:
        raise CompileError(
            "The module has no kernel: expected a `gpu.func` with `kernel`, an `llvm.func` with "
            "`nvvm.kernel`, or in LLVM IR `define ptx_kernel void`"
        )
    for name in names:
        if _NAME.fullmatch(name) is None:
            raise CompileError(
                f"The kernel's name {name!r} is none in PTX: expected letters, digits, '_' and '$'"
            )


def _isa(arch: Architecture, given: str | None) -> int:
    """``80`` for PTX ISA 8.0."""
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
    found = _VERSION.fullmatch(given)
    version = int(found[1] + found[2]) if found is not None else 0
    if not 60 <= version <= _NEWEST:
        raise ValueError(
            f"ptx_version: expected one of '6.0' to '{_NEWEST / 10}' but got {given!r}"
        )
    return version


def _llvm_ir(module: object, pipeline: str) -> str:
    """LLVM IR of the device code in MLIR."""
    lowered = _parsed(module)
    mlir.lower(lowered, pipeline, ())
    device = [op.operation for op in lowered.body.operations if op.operation.name == "gpu.module"]
    if len(device) > 1:
        names = ", ".join(f"@{str(op.attributes['sym_name'])[1:-1]}" for op in device)
        raise CompileError(
            f"The module has several `gpu.module`s ({names}): give one of them, or a module each"
        )
    if device:
        lowered = _unwrapped(lowered, device[0])
    mlir.verify(lowered)
    return mlir.to_llvm_ir(lowered)


def _parsed(module: object) -> Any:
    """A module of torch-mlir that nothing else refers to."""
    if isinstance(module, str):
        if not module.strip():
            raise CompileError("Expected MLIR or LLVM IR, but the text is empty")
        return mlir.parse(module)
    if not mlir.is_module(module):
        raise TypeError(
            "Expected a module or `gpu.module` of an MLIR Python distribution, MLIR or LLVM IR "
            f"text, but got {module!r} ({type(module).__name__})"
        )
    operation = module.operation
    if operation.name not in ("builtin.module", "gpu.module"):
        raise CompileError(
            f"Expected a `builtin.module` or a `gpu.module`, but got a `{operation.name}`"
        )
    # As text, since the passes are torch-mlir's. What is parsed is in a context of its own.
    return mlir.parse(operation.get_asm(print_generic_op_form=True, enable_debug_info=True))


def _unwrapped(module: Any, device: Any) -> Any:
    """A module of what is in a ``gpu.module``."""
    result = mlir.empty_like(module.operation)
    for operation in device.regions[0].blocks[0].operations:
        result.body.append(operation.operation.clone())
    return result


def _libraries(text: str) -> list[bytes]:
    """libdevice, if something of it is called."""
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
