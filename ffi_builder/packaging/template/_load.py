"""Finds the library of this package for this CPU. Copied from ffi_builder, and does not need it.

`lib` has a library for every CPU, or `lib/glibc-hwcaps/x86-64-v3` and the like have some for levels
of x86-64. The C library's loader looks there, too.
"""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

NAME = __package__ or ""
FOLDER = Path(__file__).parent
CPU = "/proc/cpuinfo"
LEVELS = {
    "x86-64-v4": "avx512bw avx512cd avx512dq avx512f avx512vl",
    "x86-64-v3": "abm avx avx2 bmi1 bmi2 f16c fma movbe xsave",
    "x86-64-v2": "cx16 lahf_lm pni popcnt sse4_1 sse4_2 ssse3",
}
"""The features of each level beyond the next, as Linux names them; the best level comes first.

They are those of the x86-64 psABI. `abm` is LZCNT, and `pni` is SSE3.
"""
CHECKED = ("apache-tvm-ffi", "ffi_builder")
"""The distributions whose versions are checked."""


def check_versions(distribution: str) -> None:
    """Raise ImportError if something that `distribution` requires has another version.

    pip sees to that, unless it is told not to.
    """
    try:
        required = metadata.requires(distribution) or []
    except metadata.PackageNotFoundError:  # the folder was copied, so nothing is known
        return
    for requirement in required:
        match = re.fullmatch(r"([\w.-]+)\s*\(?([^;()]*)\)?", requirement)
        if match and match[1] in CHECKED:
            _check_version(match[1], match[2])


def _check_version(name: str, wanted: str) -> None:
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        version = None
    if version is None or not all(_fits(version, each) for each in wanted.split(",")):
        given = "it is not installed" if version is None else f"{version} is installed"
        raise ImportError(f"{NAME} needs {name}{wanted}, but {given}: pip install '{name}{wanted}'")


def _fits(version: str, wanted: str) -> bool:
    match = re.search(r"(<|>=)\s*([\d.]+)$", wanted)  # what was added; an author may write others
    if match is None:
        return True
    given, limit = _numbers(version), _numbers(match[2])
    return given < limit if match[1] == "<" else given >= limit


def _numbers(version: str) -> list[int]:
    return list(map(int, re.findall(r"\d+", version)))


def library() -> Path:
    """Return the path of the best library for this CPU.

    Raises ImportError if each library needs instructions that the CPU lacks.
    """
    name = f"lib{FOLDER.name}.so"
    for level in LEVELS:
        path = _folder(level) / name
        if path.exists() and not missing(level):
            return path
    path = FOLDER / "lib" / name
    if path.exists():
        return path
    levels = [level for level in LEVELS if _folder(level).exists()]
    if not levels:
        raise ImportError(f"{NAME} has no library in {FOLDER / 'lib'}: install it with pip")
    least = levels[-1]
    raise ImportError(
        f"{NAME} needs a CPU of level {least}, and this one has no {', '.join(missing(least))}: "
        f"install a wheel for this CPU, or ask {NAME}'s authors for one (--cpu baseline)"
    )


def _folder(level: str) -> Path:
    return FOLDER / "lib" / "glibc-hwcaps" / level


def missing(level: str) -> list[str]:
    """Return the features of a level, and of those below it, that this CPU lacks."""
    levels = list(LEVELS)
    needed = " ".join(LEVELS[each] for each in levels[levels.index(level) :])
    return sorted(set(needed.split()) - _features())


def _features() -> set[str]:
    try:
        with open(CPU) as file:  # noqa: PTH123
            for line in file:
                name, _, value = line.partition(":")
                if name.strip() == "flags":
                    return set(value.split())
    except OSError:  # a sandbox without /proc
        pass
    return set()
