"""The functions in C that wrappers call: the diagnosis, and checks off the fast path.

They are compiled once, for each machine: ``x86_64.o`` and ``aarch64.o`` are made by ``make
support``. A wrapper's module only declares those that it calls. :func:`ffi_builder.runtime.compile`
and exports find them without a word from the user. A JIT of one's own has three ways:

- :func:`library`, a shared library to load with global symbols;
- :func:`object_code`, an object to link;
- ``attach(…, self_contained=True)``, which puts them into the module.

Names of the functions end in a digest of their code, so that wrappers of two versions of this
package live in one process.
"""

from __future__ import annotations

import platform
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Final

from ffi_builder.errors import BuildError
from ffi_builder.protocol import SHARED
from ffi_builder.records import dataclass

__all__ = ["library", "object_code"]

MACHINES: Final = ("x86_64", "aarch64")
"""The machines that there are objects for."""
_HERE: Final = Path(__file__).parent


@dataclass(frozen=True)
class Function:
    """A function that generated code calls.

    Types are names of attributes of :class:`~ffi_builder.ir.Types`.
    """

    keeps_registers: bool
    """Whether it has LLVM's convention preserve_most, so that a rare call spills nothing."""
    result: str
    parameters: tuple[str, ...]


@cache
def functions() -> dict[str, Function]:
    """Return the functions by name, without prefix and digest."""
    _, lines = _listed()
    found: dict[str, Function] = {}
    for line in lines:
        convention, result, name, *parameters = line.split()
        found[name] = Function(convention == "rare", result, tuple(parameters))
    return found


def digest() -> str:
    """Return the eight hexadecimal digits in which the names end."""
    return _listed()[0]


def symbol(name: str) -> str:
    """Return the symbol of a function."""
    return f"{SHARED}{name}_{digest()}"


@cache
def _listed() -> tuple[str, tuple[str, ...]]:
    first, *lines = (_HERE / "functions.txt").read_text().splitlines()
    return first, tuple(lines)


@cache
def object_code(machine: str | None = None) -> bytes:
    r"""Return the relocatable ELF object with the functions that wrappers call.

    It holds no wrapper: ``export_object`` of a compiled module writes those. It needs libc and the
    library of tvm-ffi, and is position-independent.

    Args:
        machine: ``"x86_64"`` or ``"aarch64"``; the default is this one.

    Raises:
        BuildError: there is none for the machine.

    Examples:
        >>> from ffi_builder import support
        >>> support.object_code("aarch64")[:4]
        b'\x7fELF'
    """
    machine = machine or platform.machine()
    if machine not in MACHINES:
        raise BuildError(
            f"support: expected one of the machines {', '.join(MACHINES)} but got {machine!r}"
        )
    return (_HERE / f"{machine}.o").read_bytes()


def library() -> Path:
    """Return the path of a shared library with the functions that wrappers call.

    It holds no wrapper: ``export_library`` of a compiled module writes those. Load it with
    ``ctypes.CDLL(path, ctypes.RTLD_GLOBAL)`` where a JIT looks symbols up in the process, or give
    it to MLIR's ``ExecutionEngine(…, shared_libs=[…])``.

    Raises:
        BuildError: the package was installed without a C compiler, which makes it.

    Examples:
        >>> from ffi_builder import support
        >>> support.library().suffix
        '.so'
    """
    # A checkout may have that of another machine, too.
    paths = [_HERE / f"_library{suffix}" for suffix in EXTENSION_SUFFIXES]
    found = [path for path in paths if path.exists()]
    if not found:
        raise BuildError(
            "support: there is no shared library, as this installation found no C compiler to "
            "link it; link support.object_code(), or attach(…, self_contained=True)"
        )
    return found[0]
