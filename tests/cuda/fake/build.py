"""Compiling the fake driver, once a session."""

from __future__ import annotations

import atexit
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Final

SONAME: Final = "libcuda.so.1"
CC: Final = shlex.split(os.environ.get("CC", "cc"))
WARNINGS: Final = ("-std=gnu11", "-Wall", "-Wextra", "-Werror")
SOURCES: Final = Path(__file__).parent

_DISTRIBUTION: Final = "nvidia-cuda-runtime"


def missing() -> str | None:
    """Return what building it lacks; None if nothing."""
    if shutil.which(CC[0]) is None:
        return f"needs a C compiler: {CC[0]}"
    return None if headers() else f"needs cuda.h: pip install {_DISTRIBUTION}"


@cache
def headers() -> Path | None:
    """The folder of the real cuda.h; None if the package is not installed."""
    try:
        files = metadata.files(_DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return None
    found = [Path(str(file.locate())) for file in files if file.name == "cuda.h"]
    return found[0].parent if found else None


@cache
def scratch() -> Path:
    """A folder that goes when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="fake-cuda-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def compile_c(*arguments: str | Path) -> None:
    """Run the C compiler with cuda.h and fake_control.h at hand."""
    include = headers()
    assert include is not None, missing()
    subprocess.run(
        [*CC, *WARNINGS, f"-I{include}", f"-I{SOURCES}", *map(str, arguments)], check=True
    )


def _results(header: str) -> str:
    """A line RESULT(name) for each CUresult."""
    body = re.search(r"typedef enum cudaError_enum \{(.*?)\} CUresult;", header, re.DOTALL)
    assert body is not None
    names = re.findall(r"(CUDA_\w+)\s*=", re.sub(r"/\*.*?\*/", "", body[1], flags=re.DOTALL))
    return "".join(f"RESULT({name})\n" for name in names)


@cache
def _objects(flags: tuple[str, ...]) -> tuple[Path, ...]:
    include = headers()
    assert include is not None, missing()
    folder = Path(tempfile.mkdtemp(dir=scratch()))
    (folder / "results.inc").write_text(_results((include / "cuda.h").read_text()))
    sources = sorted(SOURCES.glob("*.c"))
    objects = tuple(folder / f"{source.stem}.o" for source in sources)
    # As many compilers at once as there are processors.
    count = max(os.cpu_count() or 1, 1)
    for start in range(0, len(sources), count):
        batch = list(zip(sources, objects, strict=True))[start : start + count]
        running = [
            subprocess.Popen(
                [
                    *(*CC, *WARNINGS, "-O1", "-g", "-fPIC", *flags, f"-I{include}", f"-I{folder}"),
                    *("-c", str(source), "-o", str(target)),
                ]
            )
            for source, target in batch
        ]
        failed = [process.args for process in running if process.wait() != 0]
        assert not failed, failed
    return objects


@cache
def library(*, without: tuple[str, ...] = (), flags: tuple[str, ...] = ()) -> Path:
    """The library, in a folder of its own: that is what LD_LIBRARY_PATH takes.

    ``without`` are symbols that it shall not have, as an older driver has them not; ``flags`` are
    more options of the compiler.
    """
    folder = Path(tempfile.mkdtemp(dir=scratch()))
    target = folder / SONAME
    hidden = "".join(f" {symbol};" for symbol in without)
    exports = folder / "exports.map"
    exports.write_text(f"{{ global: cu*; fake_*; local:{hidden} *; }};\n")
    subprocess.run(
        [
            *(*CC, "-shared", *flags, *map(str, _objects(flags)), "-o", str(target)),
            *(f"-Wl,-soname,{SONAME}", f"-Wl,--version-script={exports}", "-ldl", "-lpthread"),
        ],
        check=True,
    )
    return target


@cache
def no_driver() -> Path:
    """A file of the library's name that cannot be loaded: what LD_LIBRARY_PATH finds first."""
    target = Path(tempfile.mkdtemp(dir=scratch())) / SONAME
    target.write_text("no library\n")
    return target


def environment(library_file: Path) -> dict[str, str]:
    """This process's environment, for children that are to find that library."""
    before = os.environ.get("LD_LIBRARY_PATH", "")
    path = f"{library_file.parent}:{before}" if before else str(library_file.parent)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FAKE_CUDA_")}
    return {**kept, "LD_LIBRARY_PATH": path}
