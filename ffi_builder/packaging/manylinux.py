"""Lists the libraries, and versions of symbols, of the Linux systems that a wheel is for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_EVERYWHERE: Final = re.compile(
    r"lib(tvm_ffi|c|m|mvec|dl|pthread|rt|util|resolv|anl|gcc_s|stdc\+\+)\.so(\.\d+)?"
    r"|ld-linux.*\.so\.\d+"
)
"""Libraries that manylinux has, and libtvm_ffi, which apache-tvm-ffi has."""
_OLDEST: Final = 17
"""manylinux_2_17 is the oldest that pip and PyPI take from new wheels."""
_NEWEST: Final = {
    17: {"GLIBCXX": (3, 4, 19), "CXXABI": (1, 3, 7), "GCC": (4, 8, 0)},
    24: {"GLIBCXX": (3, 4, 22), "CXXABI": (1, 3, 10), "GCC": (4, 8, 0)},
    27: {"GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)},
    31: {"GLIBCXX": (3, 4, 28), "CXXABI": (1, 3, 12), "GCC": (7, 0, 0)},
    34: {"GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13), "GCC": (7, 0, 0)},
    35: {"GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)},
    39: {"GLIBCXX": (3, 4, 33), "CXXABI": (1, 3, 15), "GCC": (14, 0, 0)},
}
"""The newest symbols of GCC's libraries by the minor version of manylinux, as auditwheel lists."""


def is_everywhere(name: str) -> bool:
    """Return whether each Linux that has apache-tvm-ffi has a library of this name."""
    return _EVERYWHERE.fullmatch(name) is not None


def platform(needs: Iterable[str], versions: Iterable[str], machine: str) -> str:
    """Return the platform of a wheel, as `manylinux_2_17_x86_64`.

    It is `linux_…` for libraries that manylinux lacks, and for symbols that no manylinux has.
    """
    minors = [_OLDEST, *map(_minor, versions)]
    if None in minors or not all(map(is_everywhere, needs)):
        return f"linux_{machine}"
    return f"manylinux_2_{max(filter(None, minors))}_{machine}"


def _minor(version: str) -> int | None:
    """Return the least version of manylinux that has a version of symbols; None if none has."""
    name, _, number = version.partition("_")
    if number == "ABI_DT_RELR":
        return 36
    wanted = tuple(map(int, number.split(".")))
    if name == "GLIBC":
        return wanted[1]
    return next((minor for minor, newest in _NEWEST.items() if wanted <= newest[name]), None)
