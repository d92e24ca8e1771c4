"""Finds what NVIDIA's compilers need: a toolkit or its wheels, cuda-python, and architectures."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ffi_builder import CompileError
from ffi_builder.extending import dataclass, importing, install

_VARIABLES: Final = ("CUDA_HOME", "CUDA_PATH")
_USUAL: Final = Path("/usr/local/cuda")


def find(relative: str) -> Path | None:
    """Return a file or folder, such as ``bin/ptxas``, of the first toolkit that has it."""
    return next((root / relative for root in roots() if (root / relative).exists()), None)


def find_program(name: str) -> Path | None:
    """Find a program in the toolkit that the environment names, on PATH, or in any toolkit."""
    for root in _named():
        if os.access(root / "bin" / name, os.X_OK):
            return root / "bin" / name
    program = shutil.which(name)
    if program is not None:
        return Path(program)
    path = find(f"bin/{name}")
    # Wheels do not always keep the executable bit.
    return path if path is not None and os.access(path, os.X_OK) else None


def include_paths() -> list[Path]:
    """Return the folders with the headers of CUDA and of its C++ library, as far as they are found.

    The two libraries come in separate wheels, and since CUDA 13 in separate folders.
    """
    folders = [root / each for root in roots() for each in ("include", "include/cccl")]
    candidates = (
        next((folder for folder in folders if (folder / header).exists()), None)
        for header in ("cuda_fp16.h", "cuda/std/cstdint")
    )
    return list(dict.fromkeys(folder for folder in candidates if folder is not None))


def roots() -> Iterator[Path]:
    """Yield folders that may be a toolkit, or a part of one, in order of preference."""
    yield from _named()
    spec = importlib.util.find_spec("nvidia")
    for place in (spec.submodule_search_locations or ()) if spec is not None else ():
        # `nvidia/cu13` has all of CUDA 13; CUDA 12 has a folder for each part.
        yield from sorted(Path(place).glob("cu[0-9]*"), reverse=True)
        yield from sorted(Path(place).glob("cuda_*"))
    compiler = shutil.which("nvcc")
    if compiler is not None:
        yield Path(compiler).resolve().parents[1]
    yield _USUAL


def _named() -> Iterator[Path]:
    yield from (Path(os.environ[name]) for name in _VARIABLES if os.environ.get(name))


# ---- cuda-python

INSTALL: Final = f"{install('cuda')}, or [cuda12] for drivers of CUDA 12"


def bindings(name: str, what: str) -> Any:
    """Import ``cuda.bindings.<name>``; ``what`` is the function that needs it.

    Raises:
        CompileError: if it is not installed; the message says how to install it.
    """
    try:
        return importing.load(f"cuda.bindings.{name}")
    except ImportError as error:
        raise CompileError(
            f"{what} needs cuda-bindings, which cannot be imported ({error}): {INSTALL}"
        ) from error


# ---- architectures

_ARCHITECTURE = re.compile(r"sm_([1-9][0-9]{1,2})([af]?)")


@dataclass(frozen=True)
class Architecture:
    """One architecture of a GPU."""

    number: int
    """90 for compute capability 9.0."""
    suffix: str
    """``a`` for features of this architecture alone, ``f`` for those of its family, or empty."""

    def __str__(self) -> str:
        return f"sm_{self.number}{self.suffix}"


def architecture(arch: object) -> Architecture:
    """Parse the name of an architecture.

    Raises:
        TypeError: if it is not a str.
        ValueError: if it names no architecture.
    """
    if not isinstance(arch, str):
        raise TypeError(
            f"arch: expected a str such as 'sm_90a' but got {arch!r} ({type(arch).__name__})"
        )
    match = _ARCHITECTURE.fullmatch(arch)
    if match is None:
        meant = f", did you mean {_meant(arch)!r}?" if _meant(arch) is not None else ""
        raise ValueError(f"arch: expected a name such as 'sm_90a' but got {arch!r}{meant}")
    return Architecture(int(match[1]), match[2])


def _meant(arch: str) -> str | None:
    """Return ``sm_90a`` for ``compute_90a``, ``90a``, ``SM90a`` or ``9.0a``, else None."""
    match = re.fullmatch(
        r"(?:compute|sm|lto)?[_ -]?([1-9]\d?)\.?(\d)([af]?)", arch.strip(), re.IGNORECASE
    )
    return None if match is None else f"sm_{match[1]}{match[2]}{match[3].lower()}"
