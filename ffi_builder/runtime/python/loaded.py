"""Makes functions of code that is compiled already: in exported libraries, and at addresses."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ffi_builder.errors import LinkError
from ffi_builder.runtime import bindings, metadata
from ffi_builder.runtime.files.object_files import read_library
from ffi_builder.runtime.isolate.locks import fork_safe_lock
from ffi_builder.runtime.jit.link import functions_among, metadata_in
from ffi_builder.runtime.metadata import PREFIX, Info
from ffi_builder.runtime.protocols import Module, PlainModule, Signature
from ffi_builder.runtime.python.function_table import (
    FunctionTable,
    check_described,
    check_name,
    python_functions,
)

if TYPE_CHECKING:
    import tvm_ffi


_infos: Final[dict[str, dict[str, Info | None]]] = {}
"""The Info of each function, by the path from `_spelt` and the function's name. If a file is loaded
twice, its functions have the same Info, by which `frameworks.jax` recognizes them."""


class LoadedLibrary(FunctionTable):
    """The functions of a shared library. It is used like a `CompiledModule`.

    The library has their names, defaults and documentation, if `ffi_builder` exported it. The code
    stays in the process.

    Example: see :func:`load`.
    """

    _instead = "its code is in this process; load the library where it is needed"

    def __init__(self, path: str, module: tvm_ffi.Module, functions: tuple[str, ...]) -> None:
        """Made by `load`; `path` is the path with which the library was opened."""
        self._path = path
        self._name = Path(path).name
        self._module = module
        self._functions = functions
        self._kind = f"the library `{self._name}`"
        self._infos = _infos.setdefault(path, {})

    @property
    def functions(self) -> tuple[str, ...]:
        """Names of all functions, sorted: a library does not keep their order."""
        return self._functions

    def address(self, name: str) -> int:
        """Return the address of the machine code of `name`.

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

    Other libraries with functions of the TVM-FFI ABI can be loaded, too. They do not describe their
    parameters, so they have no `callable`. A file that was written again is loaded again.

    Raises:
        OSError: the file cannot be read.
        LinkError: it is not a shared library for this machine, has no functions of the TVM-FFI ABI,
            or needs a symbol that is missing.

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
    if lacking := bindings.lacking(needed):
        raise LinkError(f"Cannot load `{file}`: {lacking}")
    spelt = _spelt(file)
    try:
        module = bindings.load("tvm_ffi").load_module(spelt)
    except RuntimeError as error:
        raise LinkError(f"Cannot load `{file}`: {error}") from error
    return LoadedLibrary(spelt, module, functions)


_seen: dict[Path, list[tuple[int, int]]] = {}
_lock = fork_safe_lock()


def _spelt(file: Path) -> str:
    """Return a spelling of the path under which no other file was loaded.

    For a name that it knows, the C library returns the loaded library without reading the file. So
    each new file at the same path gets a new spelling: `/a/b.so`, `/a/./b.so`, `/a/././b.so`.
    """
    status = file.stat()
    identity = (status.st_dev, status.st_ino)
    with _lock:
        seen = _seen.setdefault(file, [])
        if identity not in seen:
            seen.append(identity)
        return str(file.parent) + "/." * seen.index(identity) + "/" + file.name


# ---- addresses

_MODULE = "the module"


def function_at(
    address: int,
    *,
    owner: object,
    module: Module | PlainModule | str | None = None,
    signature: Signature | None = None,
    name: str | None = None,
    borrows_tensors: bool = False,
) -> tvm_ffi.Function:
    """Return the TVM-FFI function whose code is at `address`, for code from any JIT.

    It is like `compiled[name]` for code that `compile` made. With `module` or `signature` the
    function knows its signature, and its arguments are read in C if possible.

    Args:
        address: the address of the code, as an int.
        owner: an object to keep alive as long as the function is: the one that frees the code when
            it is dropped, or None for code that stays.
        module: the MLIR module or the LLVM IR text that the code was made of.
        signature: the `spec.Signature` that was attached. Use it if the module is gone, or has lost
            its attributes. Nothing compares it with the code, which does all checks.
        name: the name of the function in the module; needed if the module has several functions.
            With a signature, the name to show instead of the signature's.
        borrows_tensors: whether the kernel uses tensors only during the call, as providers declare
            it (docs/custom-providers.md). Arrays are then read without making a tensor that the
            kernel could keep. Pass this only with a signature: modules contain the information.

    Raises:
        TypeError: `address` is not an int, both a module and a signature are given, an argument has
            another type, or an argument needs another one that is missing.
        ValueError: `address` cannot be an address.
        UnknownFunctionError: a KeyError; the module does not describe the function.

    Examples:
        A function of another engine; here the engine is a compiled module:

        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, providers, runtime, spec
        >>> module = ir.Module.parse("", ir.Context())
        >>> signature = spec.Signature.parse("hypot(x: float64, y: float64) -> r: float64")
        >>> attach(module, signature, providers.DirectCallProvider("hypot"))
        >>> engine = runtime.compile(module)
        >>> address = engine.address("hypot")
        >>> hypot = runtime.function_at(address, owner=engine, signature=signature)
        >>> hypot(3.0, 4.0)
        5.0
    """
    made = python_functions().made
    at = _function_at(address, owner)
    described = _described(module, signature, name, borrows_tensors)
    if described is None:
        return at
    own_name, text = described
    return made(at, own_name, metadata.read(own_name, text))


def callable_at(
    address: int,
    *,
    owner: object,
    module: Module | PlainModule | str | None = None,
    signature: Signature | None = None,
    name: str | None = None,
    borrows_tensors: bool = False,
) -> Callable[..., Any]:
    """Return the same function as one that converts its arguments, like `compiled.callable(name)`.

    The arguments are those of `function_at`.

    Raises:
        TypeError: neither a module nor a signature is given, the module does not describe the
            parameters, or a default cannot travel with code. Also as for `function_at`.
        ValueError: `address` cannot be an address.
        UnknownFunctionError: a KeyError; the module does not describe the function.

    Examples:
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, providers, runtime, spec
        >>> module = ir.Module.parse("", ir.Context())
        >>> signature = spec.Signature.parse("hypot(x: float64, y: float64) -> r: float64")
        >>> attach(module, signature, providers.DirectCallProvider("hypot"))
        >>> engine = runtime.compile(module)
        >>> hypot = runtime.callable_at(engine.address("hypot"), owner=engine, module=module)
        >>> hypot(3.0, y=4.0)
        5.0
    """
    made_callable = python_functions().made_callable
    at = _function_at(address, owner)
    described = _described(module, signature, name, borrows_tensors)
    if described is None:
        raise TypeError(
            "A callable needs the names of its parameters: pass signature= or module=, or make a "
            "function that is called by position with runtime.function_at"
        )
    own_name, text = described
    info = check_described(own_name, metadata.read(own_name, text), text, _MODULE)
    return made_callable(at, own_name, info)


def _function_at(address: int, owner: object) -> tvm_ffi.Function:
    _check_address(address)
    make = bindings.load("tvm_ffi").core.Function.__from_extern_c__
    return make(address, keep_alive_object=owner)


def _described(
    module: Module | PlainModule | str | None,
    signature: Signature | None,
    name: str | None,
    borrows_tensors: bool,
) -> tuple[str, str] | None:
    """Return the function's name and metadata from the module or the signature, if given."""
    if signature is not None:
        if module is not None:
            raise TypeError("Pass module= or signature=, not both: each describes the function")
        _check_signature(signature)
        return name or signature.name, signature.metadata(borrows_tensors=borrows_tensors)
    if borrows_tensors:
        raise TypeError("borrows_tensors= goes with signature=: a module says it itself")
    if module is None:
        return None
    if isinstance(module, PlainModule):
        module = module.llvm_ir()
    texts = metadata.of_llvm_ir(module) if isinstance(module, str) else metadata.of_module(module)
    if name is None and len(texts) == 1:
        (name,) = texts
    if name is None and texts:
        raise TypeError(f"The module has several functions: pass name=, one of {', '.join(texts)}")
    check_name(name, texts, _MODULE)
    assert name is not None
    return name, texts[name]


def _check_signature(signature: object) -> None:
    if isinstance(signature, str):
        raise TypeError(
            "signature: expected a spec.Signature but got a str: "
            "spec.Signature.parse makes one of a text"
        )
    if not hasattr(signature, "metadata"):
        raise TypeError(f"signature: expected a spec.Signature but got {type(signature).__name__}")


def _check_address(address: object) -> None:
    if not isinstance(address, int) or isinstance(address, bool):
        raise TypeError(
            f"Expected the code address as an int, but got {type(address).__name__}: "
            "for a ctypes function pass ctypes.cast(f, ctypes.c_void_p).value"
        )
    if not 0 < address < 1 << 64:
        raise ValueError(f"Expected a code address, but got {address:#x}: was the symbol found?")
