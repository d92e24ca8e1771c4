"""The functions in C that wrappers call: the diagnosis, and checks off the fast path.

They are a *bundle*: ``make support`` compiles them once for each machine, to ``x86_64.o`` and
``aarch64.o``. An add-on may have a bundle of its own, in a folder ``support`` of its own. A
wrapper's module only declares the functions that it calls. :func:`ffi_builder.runtime.compile` and
exports link them automatically. There are three ways to give them to another JIT:

- :func:`library`, a shared library to load with global symbols;
- :func:`object_code`, an object to link;
- ``attach(…, self_contained=True)``, which puts them into the module.

The first two take the name of an add-on, for wrappers that also call its functions.

Names of the functions end in a digest of the code of their bundle, so that wrappers of two versions
of this package can live in one process. The code of an add-on calls none of the core's by name, so
each bundle is linked without the others.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Final

from ffi_builder import addons
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


@dataclass(frozen=True, eq=False)
class Bundle:
    """Functions that are compiled together. There is one object for each bundle."""

    name: str
    """The add-on's name; empty for the core."""
    folder: Path
    digest: str
    """The eight hexadecimal digits at the end of the names."""
    functions: Mapping[str, Function]
    """The functions by name, without prefix and digest."""

    def symbol(self, name: str) -> str:
        """Return the symbol of a function."""
        return f"{SHARED}{name}_{self.digest}"

    def object_code(self, machine: str | None = None) -> bytes:
        """Return the object, as :func:`object_code` does."""
        machine = machine or platform.machine()
        if machine not in MACHINES:
            raise BuildError(
                f"support: expected one of the machines {', '.join(MACHINES)} but got {machine!r}"
            )
        return (self.folder / f"{machine}.o").read_bytes()

    def library(self) -> Path:
        """Return the path of the shared library, as :func:`library` does."""
        # A checkout may also have the library of another machine.
        paths = [self.folder / f"_library{suffix}" for suffix in EXTENSION_SUFFIXES]
        existing = [path for path in paths if path.exists()]
        if not existing:
            raise BuildError(
                "support: there is no shared library, as this installation found no C compiler to "
                f"link it; link {self.call('object_code')}, or attach(…, self_contained=True)"
            )
        return existing[0]

    def call(self, function: str) -> str:
        """Return how users call `library` or `object_code` for this bundle."""
        return f"support.{function}({f'of={self.name!r}' if self.name else ''})"


def folders() -> dict[str, Path]:
    """Return the folders of the core, whose name is empty, and of the add-ons that are here.

    What is registered as ``support`` is a package, beside whose ``__init__.py`` the files are.
    """
    added = addons.places("support")
    packages = {name: _HERE.parent.joinpath(*added[name].split(".")[1:]) for name in added}
    return {"": _HERE, **packages}


@cache
def bundles() -> tuple[Bundle, ...]:
    """Return the bundles of the core, and of the add-ons that are here."""
    return tuple(_read(name, folder) for name, folder in folders().items())


def _read(name: str, folder: Path) -> Bundle:
    digest, *lines = (folder / "functions.txt").read_text().splitlines()
    functions: dict[str, Function] = {}
    for line in lines:
        convention, result, function, *parameters = line.split()
        functions[function] = Function(convention == "rare", result, tuple(parameters))
    return Bundle(name, folder, digest, functions)


@cache
def functions() -> dict[str, Function]:
    """Return the functions of all bundles by name, without prefix and digest."""
    return {name: function for bundle in bundles() for name, function in bundle.functions.items()}


@cache
def symbol(name: str) -> str:
    """Return the symbol of a function of any bundle."""
    return next(bundle.symbol(name) for bundle in bundles() if name in bundle.functions)


def object_code(machine: str | None = None, *, of: str | None = None) -> bytes:
    r"""Return the relocatable ELF object with the functions that wrappers call.

    The object has no wrapper: ``export_object`` of a compiled module writes those. It needs libc
    and the library of tvm-ffi, and is position-independent.

    Args:
        machine: ``"x86_64"`` or ``"aarch64"``; the default is this machine.
        of: the name of an add-on, whose functions the object then has, and no others.

    Raises:
        BuildError: the package has no object for the machine, or the add-on has none.

    Examples:
        >>> from ffi_builder import support
        >>> support.object_code("aarch64")[:4]
        b'\x7fELF'
    """
    return _bundle(of).object_code(machine)


def library(*, of: str | None = None) -> Path:
    """Return the path of a shared library with the functions that wrappers call.

    The library has no wrapper: ``export_library`` of a compiled module writes those. Load it with
    ``ctypes.CDLL(path, ctypes.RTLD_GLOBAL)`` where a JIT looks symbols up in the process, or give
    it to MLIR's ``ExecutionEngine(…, shared_libs=[…])``.

    Args:
        of: the name of an add-on, whose functions the library then has, and no others.

    Raises:
        BuildError: the library is missing: the package was installed without a C compiler; or the
            add-on has none.

    Examples:
        >>> from ffi_builder import support
        >>> support.library().suffix
        '.so'
    """
    return _bundle(of).library()


def _bundle(of: str | None) -> Bundle:
    core, *added = bundles()
    if of is None:
        return core
    named = {bundle.name: bundle for bundle in added}
    if of not in named:
        known = ", ".join(map(repr, named)) or "none"
        raise BuildError(
            f"support: expected of= to be the name of an add-on with functions in C ({known}), or "
            f"nothing for those that all wrappers call, but got {of!r}"
        )
    return named[of]
