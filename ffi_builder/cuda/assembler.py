"""Assembles PTX to a cubin, with nvJitLink or ptxas."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final, Literal

from ffi_builder.cuda import toolkit
from ffi_builder.cuda._optional import INSTALL
from ffi_builder.cuda.architecture import Architecture, architecture
from ffi_builder.errors import CompileError
from ffi_builder.kernel_image import read_image

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
    image = read_image(ptx)
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
