"""NVIDIA's compilers: CUDA C++ to a cubin with NVRTC, PTX to a cubin with nvJitLink or ptxas."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from ffi_builder import CompileError
from ffi_builder.cuda.images import kernels
from ffi_builder.cuda.tools import toolkit
from ffi_builder.cuda.tools.toolkit import INSTALL, Architecture, architecture, bindings

_NO_ARCHITECTURE: Final = "--nv_arch"
_NO_HEADER: Final = "open source file"
_UNSHARED: Final = 16
_ERROR: Final = r"(?m)^\S.*\berror\b"


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
    major, minor = _called(_nvrtc(), "nvrtcVersion")
    return f"{major}.{minor}"


def _compiled(nvrtc: Any, source: str, name: str, flags: Sequence[str]) -> bytes:
    program = _called(nvrtc, "nvrtcCreateProgram", source.encode(), os.fsencode(name), 0, [], [])
    try:
        encoded = [os.fsencode(flag) for flag in flags]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            log = _output(nvrtc, "ProgramLog", program).rstrip(b"\0").decode(errors="replace")
            words = errors_first(log) or _words(nvrtc, status)
            raise CompileError(f"The CUDA source does not compile: {words}{_hint(words, flags[0])}")
        cubin = _output(nvrtc, "CUBIN", program)
        if not cubin:
            shown = " ".join(flags)
            raise CompileError(f"NVRTC made no cubin of the CUDA source with the options {shown}")
        return cubin
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def errors_first(log: str) -> str:
    r"""Return the messages of NVRTC, which an empty line ends, with errors before warnings.

    Examples:
        >>> from ffi_builder.cuda.tools.compilers import errors_first
        >>> print(errors_first("f.cu(1): warning #177-D: …\n\nf.cu(9): error: …"))
        f.cu(9): error: …
        <BLANKLINE>
        f.cu(1): warning #177-D: …
    """
    messages = log.strip().split("\n\n")
    return "\n\n".join(sorted(messages, key=lambda each: re.search(_ERROR, each) is None))


def _output(nvrtc: Any, kind: str, program: object) -> bytes:
    size = _called(nvrtc, f"nvrtcGet{kind}Size", program)
    # The bindings write into this object. Python shares short bytes objects, so it must be longer.
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
    """Call a function of NVRTC that fails for no user input; return its results."""
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


# ---- PTX

Tool = Literal["nvjitlink", "ptxas"]
_TOOLS: Final = ("nvjitlink", "ptxas")


def assemble(ptx: str | bytes, *, arch: str, tool: Tool | None = None) -> bytes:
    """Assemble PTX to a cubin; no driver and no GPU is needed.

    Args:
        ptx: the text. PTX for ``sm_90`` can be assembled for sm_90 and any newer architecture, PTX
            for ``sm_90a`` only for sm_90a.
        arch: the architecture to assemble for, such as ``sm_90a``.
        tool: ``nvjitlink``, a library that comes with cuda-python, or ``ptxas``, a program of the
            toolkit in CUDA_HOME or on PATH. If left out, the first of them that is found.

    Returns:
        The bytes of a cubin.

    Raises:
        CompileError: if the PTX does not assemble (with the tool's message), or if no tool is found
            (with what to install).
        SpecError: if the text is not PTX; the message says what it looks like.
        TypeError, ValueError: if an argument has another type, or names no architecture or tool.

    Examples:
        Needs nvJitLink:

        >>> from ffi_builder import cuda
        >>> KERNEL = "gpu.module @k { gpu.func @fill(%x: !llvm.ptr) kernel { gpu.return } }"
        >>> ptx = cuda.lower_to_ptx(KERNEL, arch="sm_90")
        >>> cubin = cuda.assemble(ptx, arch="sm_90")
        >>> print(cuda.kernels(cubin))
        cubin for sm_90
          fill(8 bytes)  [registers ...]
    """
    given = architecture(arch)
    if tool is not None and tool not in _TOOLS:
        raise ValueError(f"tool: expected one of {', '.join(_TOOLS)} but got {tool!r}")
    image = kernels(ptx)
    if image.format != "ptx":
        raise ValueError(f"ptx: expected PTX but got a {image.format}, which needs no assembling")
    text = ptx.encode() if isinstance(ptx, str) else bytes(ptx)
    text = text.rstrip(b"\0")
    library = nvjitlink() if tool != "ptxas" else None
    if library is not None:
        return _linked(library, text, given)
    program = toolkit.find_program("ptxas") if tool != "nvjitlink" else None
    if program is not None:
        return _by_ptxas(program, text, given)
    wanted = {None: "nvJitLink or ptxas", "nvjitlink": "nvJitLink", "ptxas": "ptxas"}[tool]
    raise CompileError(
        f"assemble needs {wanted}, and found none. For nvJitLink: {INSTALL}. For ptxas: install a "
        "CUDA toolkit, and set CUDA_HOME or PATH"
    )


def nvjitlink() -> Any | None:
    """Return the bindings of nvJitLink, or None if they or the library are missing."""
    try:
        from cuda.bindings import nvjitlink as library  # pyright: ignore

        library.version()  # pyright: ignore
    # Without the library the bindings raise a RuntimeError, in newer versions a subclass of it.
    except (ImportError, RuntimeError):
        return None
    return library  # pyright: ignore


def _linked(library: Any, text: bytes, arch: Architecture) -> bytes:
    version = ".".join(str(part) for part in library.version())
    try:
        handle = library.create(1, [f"-arch={arch}"])
    except library.nvJitLinkError as error:
        raise CompileError(f"arch: nvJitLink {version} refuses '{arch}': {error}") from error
    try:
        library.add_data(handle, library.InputType.PTX, text + b"\0", len(text) + 1, "kernel.ptx")
        library.complete(handle)
        data = bytearray(library.get_linked_cubin_size(handle))
        library.get_linked_cubin(handle, data)
        return bytes(data)
    except library.nvJitLinkError as error:
        log = bytearray(library.get_error_log_size(handle))
        library.get_error_log(handle, log)
        words = log.rstrip(b"\0 \n").decode(errors="replace") or str(error)
        raise CompileError(f"nvJitLink {version} refuses the PTX for {arch}: {words}") from error
    finally:
        library.destroy(handle)


def _by_ptxas(program: Path, text: bytes, arch: Architecture) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_bytes(text)
        done = subprocess.run(
            [program, f"-arch={arch}", source.name, "-o", output.name],
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode:
            words = (done.stdout + done.stderr).strip() or f"status {done.returncode}"
            raise CompileError(f"{program} refuses the PTX for {arch}: {words}")
        return output.read_bytes()
