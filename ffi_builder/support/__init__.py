"""The functions in C that wrappers call: the diagnosis, and checks off the fast path.

``make support`` compiles them once for each machine, to ``x86_64.o`` and ``aarch64.o``. A wrapper's
module only declares the functions that it calls. :func:`ffi_builder.runtime.compile` and exports
link them automatically. There are three ways to give them to another JIT:

- :func:`library`, a shared library to load with global symbols;
- :func:`object_code`, an object to link;
- ``attach(…, self_contained=True)``, which puts them into the module.

Names of the functions end in a digest of their code, so that wrappers of two versions of this
package can live in one process.
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
"""The machines for which the package has an object."""
_HERE: Final = Path(__file__).parent


@dataclass(frozen=True)
class Function:
    """A function that generated code calls.

    Types are names of attributes of :class:`~ffi_builder.ir.Types`.
    """

    keeps_registers: bool
    """Whether it has LLVM's convention preserve_most, so that callers spill no registers for it."""
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
    """Return the eight hexadecimal digits at the end of the names."""
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

    The object has no wrapper: ``export_object`` of a compiled module writes those. It needs libc
    and the library of tvm-ffi, and is position-independent.

    Args:
        machine: ``"x86_64"`` or ``"aarch64"``; the default is this machine.

    Raises:
        BuildError: the package has no object for the machine.

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

    The library has no wrapper: ``export_library`` of a compiled module writes those. Load it with
    ``ctypes.CDLL(path, ctypes.RTLD_GLOBAL)`` where a JIT looks symbols up in the process, or give
    it to MLIR's ``ExecutionEngine(…, shared_libs=[…])``.

    Raises:
        BuildError: the library is missing: the package was installed without a C compiler.

    Examples:
        >>> from ffi_builder import support
        >>> support.library().suffix
        '.so'
    """
    # A checkout may also have the library of another machine.
    paths = [_HERE / f"_library{suffix}" for suffix in EXTENSION_SUFFIXES]
    found = [path for path in paths if path.exists()]
    if not found:
        raise BuildError(
            "support: there is no shared library, as this installation found no C compiler to "
            "link it; link support.object_code(), or attach(…, self_contained=True)"
        )
    return found[0]
