"""Build an sdist and wheels that are the same, byte for byte, wherever they are built.

The sources are those that git has, in a folder of their own. Times are ``SOURCE_DATE_EPOCH``, or
that of the last commit. Extensions name no folder of this machine, setup.py sees to that. What is
left is the C compiler and the Python: with others, the extensions differ.
"""

from __future__ import annotations

import gzip
import os
import platform
import re
import shutil
import sys
import tarfile
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

from tools.release.pythons import Python
from tools.release.report import ROOT, Failed, run

GLIBC = (2, 17)
"""The oldest glibc that wheels are tagged for."""


@cache
def epoch() -> str:
    """Return the time that files in archives get, in seconds: one, whatever is committed later."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given or not (ROOT / ".git").exists():
        return given or "315532800"  # 1980, where the times of zip files begin
    return run("git", "log", "-1", "--format=%ct").strip()


def sdist(folder: Path) -> Path:
    """Build an sdist in a folder, which is emptied."""
    shutil.rmtree(folder, ignore_errors=True)
    tree = folder / "tree"
    _copy_sources(tree)
    run(sys.executable, "-m", "build", "--sdist", "--outdir", folder, tree)
    (made,) = folder.glob("*.tar.gz")
    _sort(made)
    shutil.rmtree(tree)
    return made


def _copy_sources(tree: Path) -> None:
    """Copy what git has; in an unpacked sdist, everything."""
    if not (ROOT / ".git").exists():
        skipped = shutil.ignore_patterns(".venv*", "build", "dist", "__pycache__", "*.so")
        shutil.copytree(ROOT, tree, ignore=skipped)
        return
    for name in run("git", "ls-files", "-z").split("\0"):
        if name and (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tree / name)


def _sort(path: Path) -> None:
    """Write an sdist anew: in order, with one time, and nobody's files."""
    time = int(epoch())
    with tarfile.open(path) as old:
        members = sorted(old.getmembers(), key=lambda member: member.name)
        contents = [(member, old.extractfile(member)) for member in members]
        with (
            path.with_suffix(".new").open("wb") as raw,
            gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=time) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new,
        ):
            for member, content in contents:
                member.mtime, member.pax_headers = time, {}
                member.uid = member.gid = 0
                member.uname = member.gname = ""
                member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
                new.addfile(member, content)
    path.with_suffix(".new").replace(path)


ALLOWED: Final = {
    *("libc.so.6", "libpthread.so.0"),
    # Thread-local variables on x86-64, and the canary of the stack on AArch64.
    *("ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"),
}
"""Libraries of each Linux, that extensions may need."""
CROSS: Final = {"aarch64": "aarch64-linux-gnu-gcc", "x86_64": "x86_64-linux-gnu-gcc"}
"""The C compilers that Debian has for other machines."""


def machines() -> list[str]:
    """Return the machines that wheels can be built for here, this one first."""
    here = platform.machine()
    return [here, *(each for each, cc in CROSS.items() if each != here and shutil.which(cc))]


def wheel(
    python: Python,
    source: Path,
    folder: Path,
    *,
    compiler: str = "cc",
    machine: str = platform.machine(),
) -> Path:
    """Build a wheel from an sdist in a folder, which is emptied.

    For another machine, the headers are those of this Python: CPython's are the same on both.

    Raises:
        Failed: it cannot be built; or its extensions need a glibc later than `GLIBC`.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environment = {
        "SOURCE_DATE_EPOCH": epoch(),
        "CC": compiler,
        # A Python may have been built to link what it builds with a folder of this machine.
        "LDSHARED": f"{compiler} -shared",
    }
    if machine != platform.machine():
        suffix = run(
            python.executable, "-c", "import sysconfig as s; print(s.get_config_var('EXT_SUFFIX'))"
        )
        environment |= {
            "CC": CROSS[machine],
            "LDSHARED": f"{CROSS[machine]} -shared",
            "_PYTHON_HOST_PLATFORM": f"linux-{machine}",
            "SETUPTOOLS_EXT_SUFFIX": suffix.strip().replace(platform.machine(), machine),
        }
    os.umask(0o022)  # archives have the modes of files
    with tempfile.TemporaryDirectory() as made_for:
        # Debian's Python has pip in environments alone.
        run(python.executable, "-m", "venv", made_for)
        pip = [Path(made_for, "bin", "python"), "-m", "pip", "--disable-pip-version-check"]
        run(*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, source, env=environment)
    (made,) = folder.glob("*.whl")
    if "-none-any" in made.name:
        return made
    _check_glibc(made)
    tag = f"manylinux_{GLIBC[0]}_{GLIBC[1]}_{machine}"
    tags = [sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", tag, made]
    run(*tags, env=environment)
    (tagged,) = folder.glob("*.whl")
    return tagged


def _check_glibc(path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        shutil.unpack_archive(path, folder, "zip")
        for library in Path(folder).rglob("*.so"):
            shown = run("readelf", "--wide", "--dynamic", "--version-info", library)
            needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", shown))
            if not needed <= ALLOWED:
                raise Failed(f"{library.name} needs {', '.join(sorted(needed))}")
            versions = re.findall(r"GLIBC_(\d+)\.(\d+)", shown)
            if max([(0, 0), *((int(a), int(b)) for a, b in versions)]) > GLIBC:
                raise Failed(f"{library.name} needs a glibc later than {GLIBC}: {versions}")


def wheels(
    pythons: list[Python], source: Path, folder: Path, machine: str = platform.machine()
) -> dict[Path, list[Python]]:
    """Build a wheel for each Python that has none yet, and return which are for which.

    One wheel is for 3.12 and all later ones: they share a limited API.
    """
    made: dict[Path, list[Python]] = {}
    for python in pythons:
        fitting = next((path for path in made if _fits(path, python)), None)
        if fitting is None:
            fitting = wheel(python, source, folder / python.tag, machine=machine)
        made.setdefault(fitting, []).append(python)
    return made


def _fits(path: Path, python: Python) -> bool:
    built_for, abi = path.name.split("-")[2:4]
    return abi == "abi3" and int(python.tag[3:]) >= int(built_for[3:])
