"""Compiles CUDA C++ to a cubin with NVRTC, without nvcc, a driver or a GPU."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, Final

from ffi_builder.cuda import toolkit
from ffi_builder.cuda._optional import INSTALL, bindings
from ffi_builder.cuda.architecture import architecture
from ffi_builder.errors import CompileError

_NO_ARCHITECTURE: Final = "--nv_arch"
_NO_HEADER: Final = "open source file"
_UNSHARED: Final = 16


def compile_cuda(
    source: str,
    *,
    arch: str,
    name: str = "kernel.cu",
    options: Iterable[str] = (),
    include_paths: Iterable[str | os.PathLike[str]] = (),
) -> bytes:
    """Compile CUDA C++ to a cubin.

    Kernels keep their names if they are ``extern "C"``. The headers of a CUDA toolkit, or of the
    wheel nvidia-cuda-runtime, are found automatically. NVRTC does not use the headers of the host's
    C library: include ``<cuda/std/cstdint>`` instead of ``<stdint.h>``.

    Args:
        source: the text.
        arch: the architecture to compile for, such as ``sm_90a``.
        name: the name of the source file in errors.
        options: options for NVRTC, such as ``--std=c++20``.
        include_paths: folders with headers, searched in this order before the toolkit's.

    Returns:
        The bytes of a cubin, for a provider or `ffi_builder.cuda.kernels`.

    Raises:
        CompileError: if the source does not compile (with NVRTC's message), if this NVRTC does not
            know the architecture, or if NVRTC is not installed.
        TypeError, ValueError: if an argument has another type, or names no architecture.

    Examples:
        Needs NVRTC:

        >>> from ffi_builder import cuda
        >>> SOURCE = '''
        ... extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) {
        ...   int i = blockIdx.x * blockDim.x + threadIdx.x;
        ...   if (i < n) y[i] += a * x[i];
        ... }'''
        >>> print(cuda.kernels(cuda.compile_cuda(SOURCE, arch="sm_90")))
        cubin for sm_90
          saxpy(4 bytes, 8 bytes, 8 bytes, 4 bytes)  [registers ...]
    """
    given = architecture(arch)
    _check_text("source", source, "CUDA C++ as a str")
    _check_text("name", name, "a str")
    own_folders = _texts("include_paths", include_paths)
    own_flags = _texts("options", options)
    nvrtc = _nvrtc()
    known = supported_architectures()
    if given.number not in known:
        names = ", ".join(f"sm_{number}" for number in known)
        raise CompileError(
            f"arch: NVRTC {version()} compiles for {names} (and their variants with the suffixes a "
            f"and f), but got {arch!r}"
        )
    # The caller's folders come first, before the toolkit's.
    folders = [*own_folders, *map(str, toolkit.include_paths())]
    flags = [f"--gpu-architecture={given}", *(f"--include-path={path}" for path in folders)]
    return _compiled(nvrtc, source, name, [*flags, *own_flags])


def supported_architectures() -> tuple[int, ...]:
    """Return the numbers of the architectures that NVRTC compiles for, without suffixes.

    Raises:
        CompileError: if NVRTC is not installed.
    """
    return tuple(_called(_nvrtc(), "nvrtcGetSupportedArchs"))


def version() -> str:
    """Return the version of NVRTC, such as ``13.5``.

    Raises:
        CompileError: if NVRTC is not installed.
    """
    nvrtc = _nvrtc()
    major, minor = _called(nvrtc, "nvrtcVersion")
    return f"{major}.{minor}"


def _compiled(nvrtc: Any, source: str, name: str, flags: Sequence[str]) -> bytes:
    program = _called(nvrtc, "nvrtcCreateProgram", source.encode(), os.fsencode(name), 0, [], [])
    try:
        encoded = [os.fsencode(flag) for flag in flags]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            log = _output(nvrtc, "ProgramLog", program).rstrip(b"\0").decode(errors="replace")
            words = log.strip() or _words(nvrtc, status)
            raise CompileError(f"The CUDA source does not compile: {words}{_hint(words, flags[0])}")
        cubin = _output(nvrtc, "CUBIN", program)
        if not cubin:
            shown = " ".join(flags)
            raise CompileError(f"NVRTC made no cubin of the CUDA source with the options {shown}")
        return cubin
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _output(nvrtc: Any, kind: str, program: object) -> bytes:
    size = _called(nvrtc, f"nvrtcGet{kind}Size", program)
    # The bindings write to this object; Python shares short ones, so it must be longer.
    data = bytes(size + _UNSHARED)
    if size:
        _called(nvrtc, f"nvrtcGet{kind}", program, data)
    return data[:size]


def _nvrtc() -> Any:
    """Import the bindings, and check that the library loads."""
    nvrtc = bindings("nvrtc", "compile_cuda")
    try:
        nvrtc.nvrtcVersion()
    # Newer versions of the bindings raise a subclass of RuntimeError.
    except RuntimeError as error:
        reason = str(error).strip().splitlines()
        raise CompileError(
            f"compile_cuda needs NVRTC, which cannot be loaded "
            f"({reason[0] if reason else type(error).__name__}): {INSTALL}"
        ) from error
    return nvrtc


def _called(nvrtc: Any, name: str, *args: object) -> Any:
    """Call a function of NVRTC that no user input makes fail; return its results."""
    status, *results = getattr(nvrtc, name)(*args)
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise CompileError(f"{name} failed: {_words(nvrtc, status)}")
    return results[0] if len(results) == 1 else results


def _words(nvrtc: Any, status: object) -> str:
    return nvrtc.nvrtcGetErrorString(status)[1].decode()


def _hint(log: str, arch: str) -> str:
    if _NO_ARCHITECTURE in log:
        return f"\nNVRTC {version()} does not know {arch}"
    if _NO_HEADER not in log:
        return ""
    if toolkit.include_paths():
        return (
            "\nNVRTC has no headers of the host's C library: include <cuda/std/cstdint> instead of "
            "<stdint.h>, and pass the folders of other headers as include_paths="
        )
    return (
        "\nNo headers of CUDA were found: pip install nvidia-cuda-runtime nvidia-cuda-cccl, set "
        "CUDA_HOME, or pass their folders as include_paths="
    )


def _check_text(what: str, text: object, expected: str) -> None:
    if not isinstance(text, str):
        raise TypeError(f"{what}: expected {expected} but got {text!r} ({type(text).__name__})")
    if "\0" in text:
        # NVRTC would read only up to the NUL.
        raise ValueError(f"{what}: expected text, but it has a NUL, at {text.index(chr(0))}")


def _texts(what: str, given: Iterable[str | os.PathLike[str]]) -> list[str]:
    """Return options or paths as a list of str."""
    if isinstance(given, (str, bytes, os.PathLike)):
        raise TypeError(f"{what}: expected a list but got {given!r}: put it into one")
    texts: list[str] = []
    for index, each in enumerate(given):
        text = os.fsdecode(each) if isinstance(each, os.PathLike) else each
        _check_text(f"{what}[{index}]", text, "a str")
        texts.append(text)
    return texts
