"""`load`: the functions of a shared library that was exported."""

from __future__ import annotations

import ctypes
import functools
import os
from pathlib import Path
from typing import TYPE_CHECKING

from ffi_builder.errors import LinkError
from ffi_builder.runtime import _optional
from ffi_builder.runtime.elf import read_library
from ffi_builder.runtime.jit.link import functions_among, metadata_in
from ffi_builder.runtime.metadata import PREFIX
from ffi_builder.runtime.python.table import FunctionTable
from ffi_builder.runtime.safety.locks import fork_safe_lock

if TYPE_CHECKING:
    import tvm_ffi


class LoadedLibrary(FunctionTable):
    """The functions of a shared library, as a `CompiledModule` has them.

    Their names, defaults and documentation are in the library, if `ffi_builder` exported it. The
    code stays in the process.

    Example: see :func:`load`.
    """

    def __init__(self, path: str, module: tvm_ffi.Module, functions: tuple[str, ...]) -> None:
        """Made by `load`; `path` is the one that the library was opened by."""
        self._path = path
        self._name = Path(path).name
        self._module = module
        self._functions = functions
        self._kind = f"the library `{self._name}`"

    @property
    def functions(self) -> tuple[str, ...]:
        """Names of all functions, sorted: a library does not keep their order."""
        return self._functions

    def address(self, name: str) -> int:
        """The address of the machine code of `name`.

        Raises:
            UnknownFunctionError: a KeyError; there is no such function.
        """
        self._check(name)
        address = ctypes.cast(self._library[PREFIX + name], ctypes.c_void_p).value
        assert address is not None
        return address

    def __repr__(self) -> str:
        return f"<LoadedLibrary {self._name}: {', '.join(self.functions)}>"

    def _function(self, name: str) -> tvm_ffi.Function:
        return self._module.get_function(name)

    def _metadata(self, name: str) -> str | None:
        return metadata_in(self._module, name)

    @functools.cached_property
    def _library(self) -> ctypes.CDLL:
        return ctypes.CDLL(self._path)


def load(path: str | os.PathLike[str]) -> LoadedLibrary:
    """Load the shared library at `path`, which `export_library` wrote.

    Any other library with functions of the TVM-FFI ABI can be loaded, but says nothing of their
    parameters, so they have no `callable`. A file that was written again is loaded again.

    Raises:
        OSError: the file cannot be read.
        LinkError: it is not a shared library for this machine, has no such functions, or needs
            something that is missing.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, providers, runtime, spec
        >>> module = ir.Module.parse("", ir.Context())
        >>> signature = spec.Signature.parse("hypot(x: float64, y: float64) -> r: float64")
        >>> attach(module, signature, providers.DirectCallProvider("hypot"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "hypot.so")
        ...     runtime.compile(module).export_library(path)
        ...     library = runtime.load(path)
        >>> library.functions
        ('hypot',)
        >>> library.callable("hypot")(3.0, y=4.0)
        5.0
    """
    file = Path(path).absolute()
    try:
        symbols = read_library(file.read_bytes())
    except LinkError as error:
        raise LinkError(f"Cannot load `{file}`: {error}") from None
    functions = tuple(sorted(functions_among(symbols)))
    if not functions:
        raise LinkError(
            f"Cannot load `{file}`: it exports no function `{PREFIX}*`; if kernels need it, "
            f"ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL) loads it for the JIT"
        )
    # With lazy binding, the first call of a missing symbol would end the process.
    needed = [symbol.name for symbol in symbols if not symbol.defined and not symbol.weak]
    if lacking := _optional.lacking(needed):
        raise LinkError(f"Cannot load `{file}`: {lacking}")
    spelt = _spelt(file)
    try:
        module = _optional.load("tvm_ffi").load_module(spelt)
    except RuntimeError as error:
        raise LinkError(f"Cannot load `{file}`: {error}") from error
    return LoadedLibrary(spelt, module, functions)


_seen: dict[Path, list[tuple[int, int]]] = {}
_lock = fork_safe_lock()


def _spelt(file: Path) -> str:
    """Spell the path as no other file was loaded by.

    The C library returns what it has loaded by a name without looking at the file. So each file
    that was at the same path gets another spelling: `/a/b.so`, `/a/./b.so`, `/a/././b.so`.
    """
    status = file.stat()
    identity = (status.st_dev, status.st_ino)
    with _lock:
        seen = _seen.setdefault(file, [])
        if identity not in seen:
            seen.append(identity)
        return str(file.parent) + "/." * seen.index(identity) + "/" + file.name
