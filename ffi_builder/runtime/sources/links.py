"""Reads ``link=``: LLVM IR, objects, archives, shared libraries and addresses."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeAlias, TypeGuard, Union, cast, get_args

from ffi_builder.errors import CompileError, LinkError
from ffi_builder.formats import elf
from ffi_builder.records import dataclass
from ffi_builder.runtime.files import archives, c_compiler
from ffi_builder.runtime.files.object_files import Symbol, read_library, read_object
from ffi_builder.runtime.sources.modules import LlvmSource, ObjectSource, code_of, kind_of

_SOURCES: Final = (".c", ".cc", ".cpp", ".cxx", ".cu", ".rs")
_LONGEST_PATH: Final = 4096
_SANITIZER: Final = re.compile(r"lib(clang_rt\.)?(hw)?(asan|lsan|msan|tsan)[^/]*?\.so")
"""Libraries of sanitizers, which replace `malloc`."""


@dataclass(frozen=True)
class ArchiveSource:
    """A static archive. Only its objects that define missing symbols are linked."""

    data: bytes
    what: str
    """Its path, for errors."""


@dataclass(frozen=True)
class LibrarySource:
    """A shared library: its path, or ``-l`` and its name, which may be that of an archive."""

    given: str
    copy: str = ""
    """The path of a copy, which is linked instead, and will lie beside an exported library."""

    def load(self) -> ctypes.CDLL:
        """Load it for good, or return it if it is loaded. Raises LinkError."""
        sanitizer = _SANITIZER.match(Path(self.given).name)
        if sanitizer is not None and not _is_loaded(self.given):
            raise LinkError(
                f"{self.given} has to be the first library that a process loads, and might end "
                f"this one: start Python with LD_PRELOAD=$(cc -print-file-name={sanitizer[0]})"
            )
        # The system then knows libtvm_ffi, which the library may need.
        import tvm_ffi  # noqa: F401  # pyright: ignore[reportUnusedImport]

        try:
            loaded = ctypes.CDLL(self.given)
        except OSError as error:
            raise LinkError(f"{self.given} cannot be loaded: {error}") from None
        if _is_replaced(self.given):
            raise LinkError(
                f"{self.given} was loaded before, and has been written anew since: the system "
                f"would go on with the old one, so give the new one another name"
            )
        return loaded

    def words(self) -> list[str]:
        """Return the linker's options, with the folder of the library as the run path."""
        if self.given.startswith("-l"):
            return [self.given]
        if self.copy:
            # `-l:` records the name of a library that has no SONAME, and not its path.
            folder, name = os.path.split(self.copy)
            linked = ["-Xlinker", "--no-as-needed", f"-l:{name}", "-Xlinker", "--as-needed"]
            return ["-Xlinker", "-rpath=$ORIGIN", f"-L{folder}", *linked]
        return ["-Xlinker", f"-rpath={Path(self.given).parent}", self.given]


@dataclass(frozen=True)
class AddressSource:
    """A function at an address of this process, which no file can contain."""

    symbol: str
    address: int
    owner: object
    """Keeps the code alive. Functions of the module keep it."""


Item: TypeAlias = Union[LlvmSource, ObjectSource, ArchiveSource, LibrarySource, AddressSource]
"""An element of ``link=``."""


def read_item(given: object, what: str) -> Item:
    """Read an element of ``link=``.

    Args:
        given: LLVM IR; the bytes of an object, an archive or bitcode; the path of a file with one
            of these, or of a shared library; or ``-l`` and the name of a shared library.
        what: the element in errors.

    Raises:
        TypeError: it is something else.
        CompileError: the file or the bytes are something else, or damaged.
        OSError: the file cannot be read.
    """
    if isinstance(given, get_args(Item)):
        return cast("Item", given)
    if is_name(given):
        return LibrarySource(given)
    if isinstance(given, str) and given.startswith("-"):
        hint = "; OpenMP is '-lgomp'" if given == "-fopenmp" else ""
        hint = "; give the path of a library, as './libname.so'" if given[:2] == "-L" else hint
        raise TypeError(f"{what}: options of linkers are not taken, only `-lname`: {given!r}{hint}")
    path = path_of(given)
    if path is not None:
        return _of_file(path)
    if isinstance(given, (bytes, bytearray)) and given.startswith((archives.MAGIC, archives.THIN)):
        return _of_bytes(bytes(given), what)
    code = code_of(given)
    if code is None:
        raise TypeError(
            f"Expected LLVM IR text, the bytes of an object or an archive, or a path for {what}, "
            f"but got {kind_of(given)}"
        )
    return code


def is_name(given: object) -> TypeGuard[str]:
    """Return whether a value is ``-l`` and the name of a library."""
    return isinstance(given, str) and re.fullmatch(r"-l[\w.+-]+", given) is not None


def libraries_among(items: Sequence[Item]) -> list[LibrarySource]:
    """Return the shared libraries that were given by paths."""
    libraries = (item for item in items if isinstance(item, LibrarySource))
    return [item for item in libraries if not is_name(item.given)]


def code_among(items: Sequence[Item]) -> list[LlvmSource | ObjectSource]:
    """Return the LLVM IR and the objects, which need not be searched."""
    return [item for item in items if isinstance(item, (LlvmSource, ObjectSource))]


def path_of(given: object) -> Path | None:
    """Return the path that a value is: a PathLike, or text of one line without ``{``, ``@``, ``(``.

    Examples:
        >>> from ffi_builder.runtime.sources.links import path_of
        >>> path_of("kernel.o").name, path_of("define void @f() { ret void }")
        ('kernel.o', None)
    """
    if isinstance(given, os.PathLike):
        return Path(cast("os.PathLike[str]", given))
    if (
        not isinstance(given, str)
        or len(given) > _LONGEST_PATH
        or re.search(r"[\n\0{}@(]|^//", given)
    ):
        return None
    return Path(given) if given.strip() else None


def _of_file(path: Path) -> Item:
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        name = re.fullmatch(r"(?:lib)?([\w+-]+)(?:\.so[.\d]*)?", str(path))
        if name is not None:  # the loader finds libraries by their names, a path does not
            error.strerror = f"{error.strerror} (a library of the system is '-l{name[1]}')"
        raise
    if is_library(data):
        read_library(data)
        return LibrarySource(str(path.resolve()))
    if path.suffix == ".ll":
        return LlvmSource(data.decode(errors="replace"))
    try:
        return _of_bytes(data, str(path))
    except CompileError as error:
        hint = "; compile the source code to an object" if path.suffix in _SOURCES else ""
        raise CompileError(f"{path}: {error}{hint}") from None


def _of_bytes(data: bytes, what: str) -> Item:
    if data.startswith(archives.MAGIC):
        return ArchiveSource(data, what)
    if data.startswith(archives.THIN):
        raise CompileError("a thin archive only names its objects: make it without `T`")
    code = code_of(data)
    assert code is not None, "bytes are code, or an error"
    return code


def is_library(data: bytes) -> bool:
    """Return whether the bytes begin as those of a shared library do."""
    if not data.startswith(elf.MAGIC):
        return False
    return elf.Elf(data, "object file", CompileError).header.type == elf.ET_DYN


def path_in(loaded: ctypes.CDLL) -> str:
    """Return the path or name that a library was loaded by."""
    return loaded._name  # pyright: ignore[reportPrivateUsage]  # documented


def for_process(item: Item) -> Item:
    """Return the shared library or the archive that a name stands for; other items unchanged.

    Raises LinkError if neither the system nor the C compiler has one.
    """
    if not isinstance(item, LibrarySource) or not is_name(item.given):
        return item
    from ctypes.util import find_library  # imports much

    name = item.given.removeprefix("-l")
    shared = find_library(name)
    if shared is not None:
        return LibrarySource(shared)
    try:
        archive = c_compiler.own_file(f"lib{name}.a")
    except CompileError as error:
        raise LinkError(
            f"{item.given}: the system has no library `lib{name}`, and no C compiler says where "
            f"lib{name}.a is: {error}"
        ) from None
    if archive is None:
        raise LinkError(
            f"{item.given}: the system has no library `lib{name}`; give the path of one that is "
            f"elsewhere, as './lib{name}.so'"
        )
    return ArchiveSource(archive.read_bytes(), str(archive))


def _is_loaded(path: str) -> bool:
    try:
        ctypes.CDLL(path, os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        return False
    return True


def mappings() -> list[str]:
    """Return a line for each mapping of this process; none in a sandbox without /proc."""
    try:
        return Path("/proc/self/maps").read_text(errors="replace").splitlines()
    except OSError:
        return []


def _is_replaced(path: str) -> bool:
    """Return whether the file at a path has been replaced since it was loaded."""
    if not os.path.isabs(path):  # noqa: PTH117
        return False
    inode = str(Path(path).stat().st_ino)
    lines = (line.split(maxsplit=5) for line in mappings())
    loaded = {line[4] for line in lines if line[5:] in ([path], [f"{path} (deleted)"])}
    return bool(loaded) and inode not in loaded


def words_of(items: Sequence[Item]) -> list[str | bytes]:
    """Return what a linker gets besides objects: archives as bytes, then words for libraries."""
    words: list[str | bytes] = [item.data for item in items if isinstance(item, ArchiveSource)]
    for item in items:
        if isinstance(item, LibrarySource):
            words += item.words()
    return words


def symbols_of(item: Item) -> Sequence[Symbol] | None:
    """Return the symbols of code; None for what is not read, as a library by its name."""
    match item:
        case ObjectSource(data):
            return read_object(data).symbols
        case ArchiveSource(data, what):
            return [s for each in archives.members(data, what) for s in read_object(each).symbols]
        case LibrarySource(given) if not is_name(given):
            return read_library(Path(given).read_bytes())
        case _:
            return None
