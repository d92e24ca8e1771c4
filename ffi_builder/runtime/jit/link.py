"""Loads objects as a library, with apache-tvm-ffi-orcjit (LLVM's ORC JIT).

All libraries share one session, and each has its own namespace. Before loading, objects are checked
for everything that would make the JIT write to stderr, or hang.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import tempfile
from collections.abc import Callable, Generator, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ffi_builder import protocol, support
from ffi_builder.abi import PREFIX
from ffi_builder.errors import LinkError
from ffi_builder.records import dataclass
from ffi_builder.runtime import bindings
from ffi_builder.runtime.codegen import llvm
from ffi_builder.runtime.files import object_files
from ffi_builder.runtime.files.embedded_modules import with_one_library_bin
from ffi_builder.runtime.files.object_files import ObjectFile, Symbol
from ffi_builder.runtime.jit import supplied
from ffi_builder.runtime.jit.announce import announcement
from ffi_builder.runtime.jit.origins import hint_for, listed
from ffi_builder.runtime.jit.unsupported import (
    check_code,
    check_refused,
    check_supported,
    is_of_linker,
)
from ffi_builder.suggest import did_you_mean

if TYPE_CHECKING:
    import tvm_ffi


# `__tvm_ffi__metadata_f` and `__tvm_ffi__doc_f` describe `f`, `__tvm_ffi__library_*` the library.
RESERVED = ("_metadata_", "_doc_", "_library_")

_GETTER = f"{protocol.PREFIX}address_of_"

# Symbols that the JIT itself provides.
_FROM_JIT = frozenset({"_GLOBAL_OFFSET_TABLE_", "__dso_handle"})

# Libraries with compilers' own helpers (`__extendhfsf2`, `__divti3`, `exp10f`, `_ZGVbN2v_exp`),
# which the process may not have loaded. Linkers look into all of them, too.
_COMPILER_LIBRARIES = ("libm.so.6", "libmvec.so.1", "libgcc_s.so.1")

# Prefixes of C++ symbols. The C++ compiler is asked for its runtime library, which takes 5 ms once,
# only if one of them is undefined.
CXX_PREFIXES = ("_Z", "__cxa_", "__gxx_")


@dataclass(frozen=True)
class Library:
    """Code that is loaded and ready to run."""

    module: tvm_ffi.Module
    functions: tuple[str, ...]
    """Names without the prefix, in the order of the objects."""
    owners: tuple[object, ...] = ()
    """What keeps other code alive that the library calls."""

    def function(self, name: str) -> tvm_ffi.Function:
        """Return the function `name`, one of `functions`."""
        if not self.owners:
            return self.module.get_function(name)
        tvm_ffi = bindings.load("tvm_ffi")
        owned = (self.module, *self.owners)
        return tvm_ffi.core.Function.__from_extern_c__(self.address(name), keep_alive_object=owned)

    def metadata(self, name: str) -> str | None:
        """Return a function's metadata from the library, if it was exported with metadata."""
        return metadata_in(self.module, name)

    def address(self, name: str) -> int:
        """Return the address of the code of `name`."""
        return int(self.module.get_function(_GETTER + name)())


def metadata_in(module: tvm_ffi.Module, name: str) -> str | None:
    """Ask a library for the JSON of a function; None if it was exported without metadata."""
    try:
        return str(module.get_function(f"_metadata_{name}")())
    except (AttributeError, RuntimeError):
        return None


def link(
    objects: Sequence[bytes],
    getter: bytes | None = None,
    callers: Callable[[str], Sequence[str]] = lambda name: (),
    owners: tuple[object, ...] = (),
) -> Library:
    """Load `objects` as one library, whose functions keep `owners` alive.

    `getter` is the result of `getter_template`, perhaps from another process, as making it needs
    LLVM. `callers` returns the functions that call a missing symbol. Raises LinkError that names
    all symbols that are missing or defined twice, CompileError for objects of other machines, and
    the errors of announcing code to `perf` and gdb.
    """
    files = [object_files.read_object(data) for data in with_one_library_bin(objects)]
    files += map(object_files.read_object, supplied.support_objects(undefined(files)))
    missing = undefined(files)
    for supply in (supplied.outline_atomics, supplied.endings):
        data = supply(missing)
        if data is not None:
            files.append(object_files.read_object(data))
            missing = undefined(files)
    for file in files:
        check_refused(file)
        check_code(file)
    _check_duplicates(files)
    _check_missing(files, missing, callers)
    check_supported(files)
    functions = tuple(functions_among(symbol for file in files for symbol in file.symbols))
    announced = announcement(files)
    getters = [_address_getter(name, getter) for name in (*functions, *announced.functions)]
    module = _load(announced.files, getters)
    library = Library(module, functions, owners)
    try:
        for name in functions:
            module.get_function(name)
        announced.make(library.address)
    except RuntimeError as error:
        raise LinkError(f"The JIT cannot link the module: {error}") from error
    return library


def _load(files: Sequence[ObjectFile], getters: Sequence[bytes]) -> tvm_ffi.Module:
    session = bindings.load("tvm_ffi_orcjit").default_session()
    # When a thread that used a thread-local variable ends, however late, it calls into the library.
    # The JIT's runtime also never forgets where the variables were. So the library has to stay.
    missing = undefined(files)
    stays = any(file.thread_local for file in files) or supplied.may_run_later(missing)
    # With a compiler that cannot run, the session does not look for C++ libraries.
    cxx = None if any(name.startswith(CXX_PREFIXES) for name in missing) else os.devnull
    try:
        with _loadable(files) as objects:
            return session.load_module([*objects, *getters], keep_module_alive=stays, cxx=cxx)
    except RuntimeError as error:
        raise LinkError(f"The JIT cannot load the module: {error}") from error


@contextlib.contextmanager
def _loadable(files: Sequence[ObjectFile]) -> Generator[list[bytes | str]]:
    """Prepare the objects so that all of their constructors and destructors run.

    The JIT runs the destructors of an object only if the object has something to initialise. To
    each of these objects it adds a symbol with the name of the file, so they must be files: objects
    given as bytes would clash.
    """
    objects = [
        object_files.with_empty_initialiser(file.data)
        if file.destructors and not file.constructors
        else file.data
        for file in files
    ]
    if sum(file.constructors or file.destructors for file in files) < 2:
        yield [*objects]
        return
    with tempfile.TemporaryDirectory(prefix="ffi_builder-") as folder:
        paths = [Path(folder, f"{index}.o") for index in range(len(objects))]
        for path, data in zip(paths, objects, strict=True):
            path.write_bytes(data)
        yield [str(path) for path in paths]


def functions_among(symbols: Iterable[Symbol]) -> Iterable[str]:
    """Yield the names of functions that can be called, without the prefix, in order."""
    for symbol in symbols:
        name = symbol.name.removeprefix(PREFIX)
        if symbol.exported and name != symbol.name and not name.startswith(RESERVED):
            yield name


def undefined(files: Sequence[ObjectFile]) -> list[str]:
    """Return the names that some object needs and no object defines, in order."""
    defined = {symbol.name for file in files for symbol in file.symbols if symbol.defined}
    needed = (s.name for file in files for s in file.symbols if not s.defined and not s.weak)
    return list(dict.fromkeys(name for name in needed if name not in defined))


def missing_in(objects: Iterable[bytes], machine: str | None = None) -> list[str]:
    """Return what :func:`undefined` does, for the bytes of objects."""
    return undefined([object_files.read_object(data, machine) for data in objects])


def _check_duplicates(files: Sequence[ObjectFile]) -> None:
    seen: set[str] = set()
    twice: dict[str, None] = {}
    for file in files:
        strong = {symbol.name for symbol in file.symbols if symbol.defined and not symbol.weak}
        twice.update(dict.fromkeys(sorted(seen & strong)))
        seen |= strong
    if twice:
        raise LinkError(f"Defined in more than one of the linked objects: {listed(twice)}")


def _check_missing(
    files: Sequence[ObjectFile], undefined: Iterable[str], callers: Callable[[str], Sequence[str]]
) -> None:
    missing = [name for name in undefined if not (is_of_linker(name) or in_process(name))]
    if not missing:
        return
    text = f"Neither the linked objects nor this process define: {listed(missing)}"
    if any(name.startswith("llvm.") for name in missing):
        text += "; LLVM has no intrinsic of that name"
    else:
        text += f"; {hint_for(missing)}"
        text += _remarks(missing, files, callers)
        if "memrefCopy" in missing:
            text += "; torch-mlir's pass refback-munge-memref-copy makes loops of memref.copy"
    raise LinkError(text)


def _remarks(
    missing: Sequence[str], files: Sequence[ObjectFile], callers: Callable[[str], Sequence[str]]
) -> str:
    """Name the callers of missing symbols, and what may be meant: a similar name, or C++."""
    defined = [symbol.name for file in files for symbol in file.symbols if symbol.defined]
    remarks: list[str] = []
    for name in missing:
        wrappers = callers(name)
        called = f"`{name}` is what the call provider of {listed(wrappers)} calls"
        remark = called if wrappers else ""
        mangled = [other for other in defined if other.startswith(f"_Z{len(name)}{name}")]
        if mangled:
            remarks += [remark] if remark else []
            remarks.append(f'`{mangled[0]}` is C++: declare it extern "C"')
            continue
        # Kernels often have the names of their wrappers, so do not suggest those.
        own = {PREFIX + wrapper for wrapper in wrappers}
        internal = name.startswith("__")
        alike = [n for n in defined if n.startswith("__") == internal and n not in own]
        meant = did_you_mean(name, alike, "`{}`")
        remark += meant if remark or not meant else f"`{name}`{meant}"
        remarks += [remark] if remark else []
    return f" ({'; '.join(remarks)})" if remarks else ""


def in_process(name: str) -> bool:
    """Return whether the JIT finds a symbol in this process."""
    if name in _FROM_JIT or hasattr(_process(), name):
        return True
    return any(hasattr(library, name) for library in _compiler_libraries())


@functools.cache
def _process() -> ctypes.CDLL:
    bindings.load("tvm_ffi")  # loads its library with global symbols

    return ctypes.CDLL(None)


@functools.cache
def _compiler_libraries() -> tuple[ctypes.CDLL, ...]:
    libraries: list[ctypes.CDLL] = []
    for name in _COMPILER_LIBRARIES:
        with contextlib.suppress(OSError):
            libraries.append(ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL))
    return tuple(libraries)


def _address_getter(name: str, template: bytes | None) -> bytes:
    """Make an object with a function that returns the address of `name`.

    The JIT returns callables, not addresses. One object is compiled, and its symbols are renamed.
    """
    symbol, target = f"{PREFIX}{_GETTER}{name}", f"{PREFIX}{name}"
    names = {"getter": symbol, "target": target}
    return object_files.rename_symbols(template or getter_template(), names)


_kept: Final[list[Library]] = []
"""Objects with support functions whose addresses other code may keep."""


@functools.cache
def support_address(name: str) -> int:
    """Return the address of a support function, whose code stays loaded.

    It is in the shared library, or in an object if the package was installed without a C compiler.

    Raises:
        CompileError: there is no library, and what links the object is not installed.
    """
    symbol = support.symbol(name)
    if not supplied.support_objects([symbol]):
        return ctypes.cast(_process()[symbol], ctypes.c_void_p).value or 0
    names = {"getter": f"{PREFIX}{name}", "target": symbol}
    _kept.append(link([object_files.rename_symbols(getter_template(), names)]))
    return int(_kept[-1].function(name)())


@functools.cache
def getter_template() -> bytes:
    """Make an object with a `getter` that returns the address of `target`."""
    return llvm.emit_object(_GETTER_IR, "host", 1, passes=False)


_GETTER_IR = """
declare void @target()
define i32 @getter(ptr %handle, ptr %args, i32 %num_args, ptr %result) nounwind {
  store i64 1, ptr %result
  %payload = getelementptr i8, ptr %result, i64 8
  store ptr @target, ptr %payload
  ret i32 0
}
"""
