"""Finds a CUDA toolkit: an installed one, or the parts of it that come as wheels."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_VARIABLES: Final = ("CUDA_HOME", "CUDA_PATH")
_USUAL: Final = Path("/usr/local/cuda")


def find(relative: str) -> Path | None:
    """Return a file or folder of a toolkit, such as ``bin/ptxas``, from the first that has it."""
    return next((root / relative for root in roots() if (root / relative).exists()), None)


def find_program(name: str) -> Path | None:
    """Find a program in the toolkit that the environment names, on PATH, or in any toolkit."""
    for root in _named():
        if os.access(root / "bin" / name, os.X_OK):
            return root / "bin" / name
    found = shutil.which(name)
    if found is not None:
        return Path(found)
    path = find(f"bin/{name}")
    # Wheels do not always keep the executable bit.
    return path if path is not None and os.access(path, os.X_OK) else None


def include_paths() -> list[Path]:
    """Return the folders with the headers of CUDA and of its C++ library that are found.

    The two come in separate wheels, and since CUDA 13 in separate folders.
    """
    folders = [root / each for root in roots() for each in ("include", "include/cccl")]
    found = (
        next((folder for folder in folders if (folder / header).exists()), None)
        for header in ("cuda_fp16.h", "cuda/std/cstdint")
    )
    return list(dict.fromkeys(folder for folder in found if folder is not None))


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
