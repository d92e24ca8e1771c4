"""The peers, and a Python environment for each that needs other packages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).parents[1]


class MissingPeer(Exception):
    """A peer cannot be measured; the message says why."""


@dataclass(frozen=True)
class PeerInfo:
    """`module` is in peers/. A peer without packages runs in this interpreter."""

    module: str
    title: str
    packages: tuple[str, ...] = ()


def same(*names: str) -> tuple[str, ...]:
    """Return packages, pinned to the versions that ffi_builder is measured with."""
    return tuple(f"{name}=={metadata.version(name)}" for name in names)


def peers() -> list[PeerInfo]:
    """Return the peers; the first three run in one process."""
    basis = same("apache-tvm-ffi", "numpy")
    jit = same("llvmlite", "apache-tvm-ffi-orcjit")
    return [
        PeerInfo("ours", "ffi_builder"),
        PeerInfo("by_hand", "C by hand"),
        PeerInfo("unchecked", "unchecked C"),
        PeerInfo("nvidia", "NVIDIA", ("nvidia-cutlass-dsl==4.8.1", *basis, *jit)),
        PeerInfo("tvm_packed", "TVM", ("apache-tvm>=0.27,<0.28", *basis)),
        PeerInfo("cpp", "C++", ("ninja>=1.11,<2", *basis)),
    ]


def torch_packages() -> tuple[str, ...]:
    """Return torch, pinned so that pip takes a CPU build where it finds one."""
    return ("torch==2.13.0", *same("numpy"))


def environment(folder: Path, packages: tuple[str, ...], install: bool) -> Path:
    """Return the interpreter of an environment with these packages, and make it if need be.

    Raises MissingPeer if it cannot be made, with the installer's error, or if it is not there and
    `install` is false.
    """
    python, stamp = folder / "bin" / "python", folder / "packages"
    wanted = "\n".join(packages)
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    if not install:
        raise MissingPeer("not installed, and --no-install was given")
    print(f"installing {', '.join(packages)}", file=sys.stderr)
    if folder.exists():
        shutil.rmtree(folder)
    venv.create(folder, with_pip=False, symlinks=True)
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    done = subprocess.run(
        [*command, "--disable-pip-version-check", *packages],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    if done.returncode:
        raise MissingPeer(f"pip: {error_of(done.stderr)}")
    stamp.write_text(wanted)
    return python


def error_of(output: str) -> str:
    """Return pip's error: the last line that begins with ERROR, otherwise the last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines or ["it failed without a word"])[-1]


def site_packages(python: Path) -> Path:
    """Return the folder of an environment's packages."""
    (found,) = (python.parents[1] / "lib").glob("python*/site-packages")
    return found


def variables(python: Path, own: bool, torch: Path | None) -> dict[str, str]:
    """Return the variables of a worker; with `own`, it imports ffi_builder from here."""
    kept = {name: value for name, value in os.environ.items() if name != "FFI_BUILDER_CACHE_DIR"}
    kept.pop("PYTHONPATH", None)
    kept.pop("PYTHONDONTWRITEBYTECODE", None)  # the others' packages are installed with bytecode
    kept["PATH"] = f"{python.parent}{os.pathsep}{kept.get('PATH', '')}"  # its ninja
    if own:
        kept["PYTHONPATH"] = str(HERE.parent)
    if torch is not None:
        kept["BENCHMARK_TORCH"] = str(torch)
    return kept
