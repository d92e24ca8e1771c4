"""Loads objects as a library, with apache-tvm-ffi-orcjit (LLVM's ORC JIT).

All libraries share one session, and each has its own namespace. Before loading, objects are checked
for everything that would make the JIT write to stderr, or hang.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import platform
import tempfile
from collections.abc import Callable, Collection, Generator, Iterable, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ffi_builder import protocol
from ffi_builder.abi import PREFIX
from ffi_builder.errors import LinkError
from ffi_builder.records import dataclass
from ffi_builder.runtime import bindings
from ffi_builder.runtime.codegen import llvm
from ffi_builder.runtime.embedded_modules import with_one_library_bin
from ffi_builder.runtime.jit import supplied
from ffi_builder.runtime.jit.announce import announcement
from ffi_builder.runtime.jit.supplied import outline_atomics
from ffi_builder.runtime.object_files import (
    ObjectFile,
    Reach,
    Relocation,
    Symbol,
    read_object,
    relocated,
    rename_symbols,
    source_file,
    with_empty_initialiser,
)
from ffi_builder.suggest import did_you_mean

if TYPE_CHECKING:
    import tvm_ffi


# `__tvm_ffi__metadata_f` and `__tvm_ffi__doc_f` describe `f`, `__tvm_ffi__library_*` the library.
RESERVED = ("_metadata_", "_doc_", "_library_")

# GCC adds this symbol to objects compiled with `-flto` and without `-ffat-lto-objects`.
_LTO_ONLY = "__gnu_lto_slim"

_GETTER = f"{protocol.PREFIX}address_of_"

# Symbols that the JIT itself provides.
_FROM_JIT = frozenset({"_GLOBAL_OFFSET_TABLE_", "__dso_handle", "atexit"})

# Libraries with compilers' own helpers (`__extendhfsf2`, `__divti3`, `exp10f`), which the process
# may not have loaded.
_COMPILER_LIBRARIES = ("libm.so.6", "libgcc_s.so.1")

# Prefixes of C++ symbols. The C++ compiler is asked for its runtime library, which takes 5 ms once,
# only if one of them is undefined.
CXX_PREFIXES = ("_Z", "__cxa_", "__gxx_")
_LIBRARIES: Final = {
    "gomp": ("GOMP_", "omp_"),
    "omp": ("__kmpc_",),
    "stdc++": (*CXX_PREFIXES[1:], "_ZS", "std::", "operator new", "operator delete"),
}
"""Libraries of compilers, and how the names of their functions begin."""
_HALIDE: Final = (
    "they are Halide's runtime: pass the object that hl.compile_standalone_runtime writes with "
    "link=, or compile without no_runtime"
)


class UnsupportedError(LinkError):
    """The JIT cannot load an object that the system's linker may know."""

    def __init__(self, words: str, data: bytes) -> None:
        super().__init__(words)
        self.data = data
        """The object."""


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
    files = [read_object(data) for data in with_one_library_bin(objects)]
    support = supplied.support_object(undefined(files))
    if support is not None:
        files.append(read_object(support))
    atomics = outline_atomics(undefined(files))
    if atomics is not None:
        files.append(read_object(atomics))
    _check_code(files)
    _check_duplicates(files)
    _check_undefined(files, callers)
    _check_supported(files)
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
    stays = any(file.thread_local for file in files)
    # With a compiler that cannot run, the session does not look for C++ libraries.
    cxx = None if any(name.startswith(CXX_PREFIXES) for name in undefined(files)) else os.devnull
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
        with_empty_initialiser(file.data)
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


def _check_code(files: Sequence[ObjectFile]) -> None:
    """Raise UnsupportedError for an object that GCC made only for link-time optimisation."""
    for file in files:
        if any(symbol.name == _LTO_ONLY for symbol in file.symbols):
            words = (
                f"{_the_object(file)} has no code, only what GCC needs for link-time "
                f"optimisation: compile it without -flto, or with -ffat-lto-objects"
            )
            raise UnsupportedError(words, file.data)


def _check_duplicates(files: Sequence[ObjectFile]) -> None:
    seen: set[str] = set()
    twice: dict[str, None] = {}
    for file in files:
        strong = {symbol.name for symbol in file.symbols if symbol.defined and not symbol.weak}
        twice.update(dict.fromkeys(sorted(seen & strong)))
        seen |= strong
    if twice:
        raise LinkError(f"Defined in more than one of the linked objects: {_listed(twice)}")


def hint_for(missing: Collection[str]) -> str:
    """Say how to supply functions that nothing defines."""
    found = [
        f'"-l{library}"'
        for library, beginnings in _LIBRARIES.items()
        if any(name.startswith(beginnings) for name in missing)
    ]
    return (
        bindings.lacking(missing)
        or supplied.missing_support(missing)
        or (f"pass the library that defines them: link=[{', '.join(found)}]" if found else "")
        or (_HALIDE if any(name.startswith("halide_") for name in missing) else "")
        or "pass what defines them with link=: LLVM IR, an object, an archive or a library"
    )


def _check_undefined(files: Sequence[ObjectFile], callers: Callable[[str], Sequence[str]]) -> None:
    missing = [name for name in undefined(files) if not in_process(name)]
    if not missing:
        return
    text = f"Neither the linked objects nor this process define: {_listed(missing)}"
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
        called = f"`{name}` is what the call provider of {_listed(wrappers)} calls"
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


def _check_supported(files: Sequence[ObjectFile]) -> None:
    for file in files:
        refusal = unsupported_relocation(file.relocations)
        if refusal is not None:
            names = relocated(file.data, refusal.types)
            words = f"{_the_object(file)} uses, for {_listed(names)}, {refusal.words}"
            raise UnsupportedError(words, file.data)
        indirect = [symbol.name for symbol in file.symbols if symbol.indirect]
        if indirect:
            words = f"The JIT does not know indirect functions (`ifunc`): {_listed(indirect)}"
            raise UnsupportedError(words, file.data)


def _the_object(file: ObjectFile) -> str:
    name = source_file(file.data)
    return "An object" if name is None else f"The object of `{name}`"


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
    found: list[ctypes.CDLL] = []
    for name in _COMPILER_LIBRARIES:
        with contextlib.suppress(OSError):
            found.append(ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL))
    return tuple(found)


def _address_getter(name: str, template: bytes | None) -> bytes:
    """Make an object with a function that returns the address of `name`.

    The JIT returns callables, not addresses. One object is compiled, and its symbols are renamed.
    """
    symbol, target = f"{PREFIX}{_GETTER}{name}", f"{PREFIX}{name}"
    names = {"getter": symbol, "target": target}
    return rename_symbols(template or getter_template(), names)


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


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(f"`{name}`" for name in names)


# ---- relocations

_TLS_MODEL: Final = "a thread-local model that the JIT does not know: "
_PIC: Final = "compile it with -fPIC"


_TLS_EXPORT: Final = "; or write a shared library with export_library, whose linker knows them"


@dataclass(frozen=True)
class _Refusal:
    """Relocations that are refused."""

    types: frozenset[int]
    words: str
    """Text after "The object uses"."""
    reach: Reach = Reach.SECTION
    """The nearest symbols that are refused. Those farther away are refused, too."""


# ABS64, PREL64, PREL32, MOVW_UABS_G0_NC to G3, LD_PREL_LO19, ADR_PREL_LO21, ADR_PREL_PG_HI21,
# ADD_ABS_LO12_NC, LDST…_ABS_LO12_NC, TSTBR14, CONDBR19, JUMP26, CALL26, ADR_GOT_PAGE,
# LD64_GOT_LO12_NC, LD64_GOTPAGE_LO15, TLSDESC_ADR_PAGE21 to TLSDESC_ADD_LO12, TLSDESC_CALL
_AARCH64_KNOWN: Final = frozenset(
    {
        *(257, 260, 261, 264, 266, 268, 269, 273, 274, 275, 277, 278, 279, 280, 282, 283),
        *(284, 285, 286, 299, 311, 312, 313, 562, 563, 564, 569),
    }
)

_REFUSALS: Final = {
    "x86_64": (
        _Refusal(
            # TLSLD, DTPOFF32, GOTTPOFF, TPOFF32, GOTPC32_TLSDESC and what goes with it
            frozenset({20, 21, 22, 23, 34, 35, 36}),
            f"{_TLS_MODEL}thread-local variables must be neither static nor hidden, and compiled "
            f"with -fPIC and no other -ftls-model{_TLS_EXPORT}",
        ),
        _Refusal(frozenset({10, 11}), f"absolute 32-bit addresses: {_PIC}"),  # 32, 32S
    ),
    "aarch64": (
        _Refusal(
            # TLSGD, TLSLD, TLSIE, TLSLE, and TLSDESC of the tiny and the large code model
            frozenset({*range(512, 562), *range(565, 569)}),
            f"{_TLS_MODEL}{_PIC} and no other -ftls-model, -mtls-dialect or -mcmodel{_TLS_EXPORT}",
        ),
        _Refusal(
            # LD_PREL_LO19, ADR_PREL_LO21, TSTBR14, CONDBR19: within 1 MiB
            frozenset({273, 274, 279, 280}),
            "addresses near its own that the JIT may put far away: compile it without "
            "-mcmodel=tiny; in assembly, use adrp and b for other sections",
            Reach.OBJECT,
        ),
        _Refusal(
            # PREL32, ADR_PREL_PG_HI21: within 2 and 4 GiB
            frozenset({261, 275}),
            f"the distance to what another object or the process defines: {_PIC}",
            Reach.ELSEWHERE,
        ),
        _Refusal(
            frozenset(range(257, 1024)) - _AARCH64_KNOWN,
            f"relocations that the JIT does not know: {_PIC} and no -mcmodel",
        ),
    ),
}


def unsupported_relocation(found: Set[Relocation], machine: str | None = None) -> _Refusal | None:
    """Return what an object with these relocations uses that the JIT cannot link, if anything.

    `machine` is `x86_64` or `aarch64`, by default this one's.
    """
    for refusal in _REFUSALS.get(machine or platform.machine(), ()):
        if any(each.type in refusal.types and each.reach >= refusal.reach for each in found):
            return refusal
    return None
