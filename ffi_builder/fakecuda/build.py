"""Compiles the fake driver, once for each version of its sources."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from types import MappingProxyType
from typing import Final

from ffi_builder.extending import install

SONAME: Final = "libcuda.so.1"
CC: Final = shlex.split(os.environ.get("CC", "cc"))
SOURCES: Final = Path(__file__).parent / "c"

_DISTRIBUTION: Final = "nvidia-cuda-runtime"


def missing() -> Exception | None:
    """Return an error that says what building the driver lacks; None if nothing."""
    if sys.platform != "linux":
        return OSError(f"FakeCuda: needs Linux, and this is {sys.platform}")
    if shutil.which(CC[0]) is None:
        return FileNotFoundError(
            f"FakeCuda: needs a C compiler to build the driver, and there is no {CC[0]!r}; install "
            f"one, such as gcc or clang, or set CC to its name"
        )
    if headers() is None:
        return ModuleNotFoundError(
            f"FakeCuda: needs cuda.h to build the driver: {install('cuda-testing', _DISTRIBUTION)}",
            name=_DISTRIBUTION,
        )
    return None


@cache
def headers() -> Path | None:
    """Return the folder of the real cuda.h; None if the package is not installed."""
    try:
        files = metadata.files(_DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return None
    paths = [Path(str(file.locate())) for file in files if file.name == "cuda.h"]
    return paths[0].parent if paths else None


@cache
def library() -> Path:
    """Return the library, in a folder of its own, which is what LD_LIBRARY_PATH takes.

    It stays in a folder of the user's cache, and is built anew if anything that it is made from
    has changed.

    Raises:
        FileNotFoundError: there is no C compiler.
        ModuleNotFoundError: there is no cuda.h.
        OSError: the system is not Linux.
        RuntimeError: the compiler fails.
    """
    if error := missing():
        raise error
    header = _include() / "cuda.h"
    return built(
        SONAME,
        SOURCES,
        ("-std=gnu11", "-O1", "-g", "-fPIC", f"-I{_include()}"),
        exports="global: cu*; fake_*; local: *;",
        ends=(f"-Wl,-soname,{SONAME}", "-ldl", "-lpthread"),
        written={"results.inc": _results(header.read_text())},
        inputs=(header,),
    )


def built(
    name: str,
    sources: Path,
    options: tuple[str, ...],
    *,
    exports: str,
    ends: tuple[str, ...],
    written: Mapping[str, str] = MappingProxyType({}),
    inputs: tuple[Path, ...] = (),
) -> Path:
    """Return a library, in a folder of its own, which is built if it is not there.

    Args:
        name: its file.
        sources: the folder of its sources in C.
        options: those of the compiler.
        exports: what is in the braces of the linker's version script.
        ends: options of the linker.
        written: files that are made for the compiler, by name.
        inputs: what else it is made from.

    Raises:
        RuntimeError: the compiler fails.
    """
    words = [platform.machine(), *CC, exports, *options, *ends, *written.values()]
    digest = hashlib.sha256("\0".join(words).encode())
    for source in (*sorted(sources.iterdir()), Path(__file__), *inputs):
        digest.update(hashlib.sha256(source.read_bytes()).digest())
    target = _cache(name, digest.hexdigest()[:16]) / name
    if not target.exists():
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
            folder = Path(scratch)
            for header, text in written.items():
                (folder / header).write_text(text)
            (folder / "exports.map").write_text(f"{{ {exports} }};\n")
            objects = _objects(folder, sources, (*options, f"-I{folder}"))
            made = folder / name
            script = f"-Wl,--version-script={folder / 'exports.map'}"
            _run("-shared", *options, *objects, "-o", str(made), script, *ends)
            made.rename(target)  # at once: another process may build it, too
    return target


def _cache(name: str, digest: str) -> Path:
    """Return a folder for a library; one that goes with the machine's temporary files if needed."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(home, "ffi_builder", f"fake-cuda-{digest}")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.access(folder, os.W_OK) or (folder / name).exists():
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="fake-cuda-"))


def _include() -> Path:
    folder = headers()
    assert folder is not None, missing()
    return folder


def _objects(folder: Path, where: Path, options: tuple[str, ...]) -> list[str]:
    """Compile each source, as many at once as there are processors."""
    from concurrent.futures import ThreadPoolExecutor

    def compiled(source: Path) -> str:
        made = str(folder / f"{source.stem}.o")
        _run(*options, "-c", str(source), "-o", made)
        return made

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [*pool.map(compiled, sorted(where.glob("*.c")))]


def _run(*arguments: str) -> None:
    """Run the compiler.

    Raises:
        RuntimeError: it fails.
    """
    done = subprocess.run(
        [*CC, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        words = f"FakeCuda: building the driver fails: {done.args}\n{done.stdout}"
        raise RuntimeError(words.rstrip())


def _results(header: str) -> str:
    """Return a line RESULT(name) for each CUresult."""
    body = re.search(r"typedef enum cudaError_enum \{(.*?)\} CUresult;", header, re.DOTALL)
    assert body is not None
    names = re.findall(r"(CUDA_\w+)\s*=", re.sub(r"/\*.*?\*/", "", body[1], flags=re.DOTALL))
    return "".join(f"RESULT({name})\n" for name in names)


def environment(library_file: Path) -> dict[str, str]:
    """Return this process's environment, for children that are to find that library."""
    before = os.environ.get("LD_LIBRARY_PATH", "")
    path = f"{library_file.parent}:{before}" if before else str(library_file.parent)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FAKE_CUDA_")}
    return {**kept, "LD_LIBRARY_PATH": path}
