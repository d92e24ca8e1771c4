"""The compile cache: keys, entries, and the folder that has a file for each entry.

A key is everything that a compiled module depends on, as readable JSON, in which long contents are
replaced by their SHA-256. Looking up a key imports neither MLIR nor LLVM. The file of an entry:

    magic, version, length of the file, SHA-256 of what follows
    number of parts, their lengths
    parts: the key, an index in JSON, the source, the address getter, objects …

Reading runs no code from the file, and trusts only what the checksum covers.

A failing folder is never an error. An entry that cannot be read is built again, and one that cannot
be written is a warning. There are no locks. A file is written under another name and then renamed,
so every reader sees the whole file. If two processes write the same file, the later one stays.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import platform
import re
import stat
import struct
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from ffi_builder.records import dataclass
from ffi_builder.runtime.codegen import llvm, mlir
from ffi_builder.runtime.sources.links import AddressSource, ArchiveSource, Item, LibrarySource
from ffi_builder.runtime.sources.modules import (
    CachedSource,
    Code,
    LlvmSource,
    MlirSource,
    ObjectSource,
    Source,
)

_SUFFIX: Final = ".ffib"
_UNFINISHED: Final = ".unfinished-"

_TOUCH_SECONDS: Final = 3600.0
_UNFINISHED_SECONDS: Final = 600.0
"""The age from which an unfinished file counts as left by a killed process. Writing takes
milliseconds."""

_ADDRESS: Final = re.compile(" at 0x[0-9a-fA-F]+>")
"""The end of the repr of a function, or of an object without one of its own."""

# Looking through a full folder takes some 40 ms, so it is done about once for every 64th of the
# size limit that is written. Chance decides when, so that processes need not share a count.
_LOOKS_PER_SIZE: Final = 64

# The part of the limit to which removing entries reduces the folder.
_KEPT: Final = 7 / 8

SIZE_VARIABLE: Final = "FFI_BUILDER_CACHE_SIZE"

DEFAULT_SIZE: Final = 512 << 20

_warned: set[Path] = set()


def open_folder(cache_dir: str | os.PathLike[str]) -> Cache:
    """Open the cache in a folder. Raises TypeError or ValueError."""
    return Cache(_folder(cache_dir), _size_limit())


def _folder(given: object) -> Path:
    path = os.fspath(given) if isinstance(given, os.PathLike) else given  # pyright: ignore
    if not isinstance(path, str):
        raise TypeError(f"Expected the path of a folder in cache_dir=, but got {given!r}")
    if not path:
        raise ValueError("Expected the path of a folder in cache_dir=, but it is empty")
    return Path(path).expanduser()


def _size_limit() -> int:
    text = os.environ.get(SIZE_VARIABLE, "").strip()
    if not text:
        return DEFAULT_SIZE
    match = re.fullmatch(r"(\d+)\s*([KMGT]?)(?:i?B)?", text, re.IGNORECASE)
    if match is None:
        raise ValueError(f"Expected a size such as 512M in {SIZE_VARIABLE}, but it is `{text}`")
    return int(match[1]) << 10 * " KMGT".index(match[2].upper() or " ")


@dataclass(frozen=True)
class Cache:
    """A folder, which need not exist, and the limit for the size of all files in it, in bytes."""

    folder: Path
    limit: int

    def read(self, key: bytes) -> Entry | None:
        """Read the entry for `key`; None if it is missing, or another user can write its file."""
        try:
            data = _read_own(self.path(key), self.limit)
        except OSError:
            return None
        return None if data is None else decode(key, data)

    def write(self, key: bytes, entry: Entry) -> None:
        """Store `entry` unless it exceeds the limit alone; warn once if storing fails.

        The warning points at the caller of `compile`.
        """
        data = encode(key, entry)
        if len(data) > self.limit:
            return
        try:
            self._store(self.path(key), data)
            if self._is_time_to_look(len(data)):
                self._trim(self.path(key).name)
        except OSError as error:
            if self.folder not in _warned:
                _warned.add(self.folder)
                warnings.warn(
                    f"The compile cache in {self.folder} cannot be written, and is not: {error}",
                    RuntimeWarning,
                    stacklevel=4,
                )

    def path(self, key: bytes) -> Path:
        """Return the path of the entry for `key`, whether or not it exists."""
        return self.folder / f"{hashlib.sha256(key).hexdigest()}{_SUFFIX}"

    def _store(self, path: Path, data: bytes) -> None:
        try:
            file, temporary = tempfile.mkstemp(prefix=_UNFINISHED, dir=self.folder)
        except FileNotFoundError:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            file, temporary = tempfile.mkstemp(prefix=_UNFINISHED, dir=self.folder)
        try:
            with open(file, "wb", buffering=0) as unfinished:  # noqa: PTH123  (a descriptor)
                _write_all(unfinished.fileno(), data)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    def _is_time_to_look(self, written: int) -> bool:
        # Not `random`: processes that seed it alike would all draw the same number.
        drawn = int.from_bytes(os.urandom(4), "little") / 2**32
        return drawn * self.limit < written * _LOOKS_PER_SIZE

    def _trim(self, newest: str) -> None:
        """Remove the least recently used entries if the folder exceeds the limit; keep `newest`.

        Other processes may do so at the same time. If they need a removed entry, they build it
        again.
        """
        entries = sorted(self.entries(), key=lambda entry: entry[0])
        total = sum(size for _, size, _ in entries)
        if total <= self.limit:
            return
        for _, size, path in entries:
            if total <= self.limit * _KEPT:
                break
            if path.name != newest:
                with contextlib.suppress(OSError):
                    path.unlink()
                total -= size

    def entries(self) -> Iterator[tuple[float, int, Path]]:
        """Yield the last use, size and path of each entry; remove files of killed processes."""
        now = time.time()
        for file in os.scandir(self.folder):
            with contextlib.suppress(OSError):
                status = file.stat(follow_symlinks=False)
                if not stat.S_ISREG(status.st_mode):
                    continue
                if file.name.endswith(_SUFFIX):
                    yield status.st_mtime, status.st_size, Path(file.path)
                elif (
                    file.name.startswith(_UNFINISHED)
                    and now - status.st_mtime > _UNFINISHED_SECONDS
                ):
                    Path(file.path).unlink()


def _read_own(path: Path, limit: int) -> bytes | None:
    """Read a file; None if it has more than `limit` bytes, or another user can write it."""
    # O_NONBLOCK: a FIFO of that name would keep `open` waiting.
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        status = os.fstat(file)
        # The code in an entry will be run.
        if status.st_size > limit or not stat.S_ISREG(status.st_mode) or not _is_ours(status):
            return None
        with open(file, "rb", closefd=False) as opened:
            data = opened.read(status.st_size)
        if time.time() - status.st_mtime > _TOUCH_SECONDS:
            with contextlib.suppress(OSError):
                os.utime(file)
        return data
    finally:
        os.close(file)


def _is_ours(status: os.stat_result) -> bool:
    return status.st_uid in (os.geteuid(), 0) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _write_all(file: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]


# ---- entries

StoredSource = CachedSource | LlvmSource | ObjectSource

_MAGIC: Final = b"ffi_bldr"
_VERSION: Final = 2
_HEADER: Final = struct.Struct("<8sIQ32s")
_COUNT: Final = struct.Struct("<Q")


@dataclass(frozen=True)
class Entry:
    """A compiled module, as the cache stores it."""

    code: Code
    getter: bytes
    """The template of address getters, which only LLVM can make."""
    source: StoredSource | None
    """The source of the code; None if the caller of the lookup has it."""
    distributions: dict[str, str]
    """The builds of MLIR that made the entry, unless they are in the key."""
    made_of: list[list[str]]
    """The contents that the objects were made of: the result of :func:`made_of`."""


def encode(key: bytes, entry: Entry) -> bytes:
    """Encode an entry as the bytes of a file."""
    form, text, root, metadata = _described(entry.source)
    index = {
        "form": form,
        "root": root,
        "metadata": metadata,
        "distributions": entry.distributions,
        "own": len(entry.code.own),
        "made_of": entry.made_of,
    }
    parts = [key, json.dumps(index).encode(), text, entry.getter]
    body = _joined([*parts, *entry.code.own, *entry.code.linked])
    digest = hashlib.sha256(body).digest()
    return _HEADER.pack(_MAGIC, _VERSION, _HEADER.size + len(body), digest) + body


def decode(key: bytes, data: bytes) -> Entry | None:
    """Decode the bytes of a file; None if they are not an entry for `key`."""
    if len(data) < _HEADER.size:
        return None
    body = memoryview(data)[_HEADER.size :]
    expected = (_MAGIC, _VERSION, len(data), hashlib.sha256(body).digest())
    if _HEADER.unpack_from(data) != expected:
        return None
    try:
        own_key, index, text, getter, *objects = _split(body)
        return _entry(json.loads(index), text, getter, objects) if own_key == key else None
    except (ValueError, KeyError, TypeError, IndexError, struct.error):
        return None  # the checksum is right, but `encode` did not write this


def _entry(index: dict[str, Any], text: bytes, getter: bytes, objects: list[bytes]) -> Entry:
    own: int = index["own"]
    code = Code(tuple(objects[:own]), tuple(objects[own:]))
    source: StoredSource | None
    match index["form"]:
        case "mlir":
            source = CachedSource(text, index["root"], index["metadata"])
        case "llvm":
            source = LlvmSource(text.decode())
        case "object":
            source = ObjectSource(code.own[0])
        case None:
            source = None
        case form:
            raise ValueError(f"No source has the form {form}")
    return Entry(code, getter, source, index["distributions"], index["made_of"])


def _described(source: StoredSource | None) -> tuple[str | None, bytes, str, dict[str, str]]:
    match source:
        case CachedSource(data, root, metadata):
            return "mlir", data, root, metadata
        case LlvmSource(text):
            return "llvm", text.encode(), "", {}
        case ObjectSource():
            return "object", b"", "", {}  # it is its own object
        case None:
            return None, b"", "", {}


def _joined(parts: Sequence[bytes]) -> bytes:
    lengths = b"".join(_COUNT.pack(len(part)) for part in parts)
    return b"".join([_COUNT.pack(len(parts)), lengths, *parts])


def _split(body: memoryview) -> list[bytes]:
    (count,) = _COUNT.unpack_from(body)
    lengths = [length for (length,) in _COUNT.iter_unpack(body[8 : 8 + 8 * count])]
    parts: list[bytes] = []
    at = 8 + 8 * count
    for length in lengths:
        parts.append(bytes(body[at : at + length]))
        at += length
    if len(lengths) != count or at != len(body):
        raise ValueError("The lengths of the parts do not add up to the length of the file")
    return parts


# ---- keys

Key: TypeAlias = "str | bytes | tuple[str | bytes | int | Key, ...]"
"""The key that `compile_cached` takes."""

_PACKAGES: Final = ("llvmlite", "apache-tvm-ffi", "apache-tvm-ffi-orcjit")

_DEEPEST: Final = 32
"""The most levels of tuples in a key."""

_LIBRARIES: Final = (".so", ".dylib", ".pyd", ".dll")

_CPUINFO: Final = Path("/proc/cpuinfo")

# Fields of /proc/cpuinfo that describe the CPU, not its state, on x86-64, AArch64 and RISC-V.
_CPU_FIELDS: Final = frozenset(
    {
        *("vendor_id", "cpu family", "model", "model name", "stepping", "flags"),
        *("CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision"),
        *("Features", "isa", "uarch"),
    }
)
_FEATURE_FIELDS: Final = frozenset({"flags", "Features", "isa"})


def made_of(source: Source, items: Sequence[Item]) -> list[list[str]]:
    """Return the kinds and current SHA-256s of `source` and of everything that is linked to it.

    Every entry of the cache contains them, whatever its key is.
    """
    return [_content(each) for each in (source, *items)]


def of_source(source: Source, level: int, contents: list[list[str]]) -> bytes:
    """Return the key of the objects made of `source`; `contents` is the result of `made_of`."""
    own, *linked = contents
    parts: list[object] = ["source", own]
    if isinstance(source, MlirSource):
        parts.append(distributions(mlir.roots_for(source.module)))
    return _with_environment(*parts, level, linked)


def of_name(key: object, pipeline: str | None, level: int, items: Sequence[Item]) -> bytes:
    """Return the key of a module for which the author gave `key`.

    Raises TypeError if `key` is not a str, bytes, or a tuple of strs, bytes, ints and tuples, and
    ValueError if tuples are nested more than 32 deep, or a str has the address of an object.
    """
    if isinstance(key, int):
        raise _unfit(key)
    return _with_environment(
        "name", _plain(key), pipeline, level, [_content(item) for item in items]
    )


def distributions(roots: Iterable[str]) -> dict[str, str]:
    """Return the installed build of each MLIR distribution in `roots`, without importing them."""
    return {root: distribution(root) for root in roots}


def _with_environment(*parts: object) -> bytes:
    return f"{environment()}\n{json.dumps(parts)}".encode()


def _plain(key: object, depth: int = 0) -> object:
    """Convert `key` to JSON values, which differ for different keys.

    Raises TypeError or ValueError.
    """
    match key:
        case str():
            address = _ADDRESS.search(key)
            if address:
                shown = key[max(address.start() - 40, 0) : address.end()]
                raise ValueError(
                    f"Expected a key that is equal in each process, but it has {shown!r}, an "
                    f"object's address: write what the object stands for"
                )
            return str.__str__(key)
        case bytes():
            return {"bytes": key.hex()}
        case bool():
            return key
        case int():
            return {"int": hex(key)}  # of any length, and of an enumerator its number
        case tuple():
            if depth == _DEEPEST:
                raise ValueError(
                    f"Expected tuples that are nested at most {_DEEPEST} deep as the key, but got "
                    f"deeper ones: write the key as one tuple, or as a str"
                )
            return [_plain(part, depth + 1) for part in cast("tuple[object, ...]", key)]
        case _:
            raise _unfit(key)


def _unfit(key: object) -> TypeError:
    return TypeError(
        f"Expected a str, bytes, or a tuple of strs, bytes, ints and such tuples as the key, "
        f"but got {key!r}"
    )


def _content(source: Source | Item) -> list[str]:
    match source:
        case MlirSource(module):
            return ["mlir", _sha256(mlir.content(module))]
        case CachedSource(data):
            return ["mlir", _sha256(data)]
        case LlvmSource(text):
            return ["llvm", _sha256(text.encode("utf-8", "surrogatepass"))]
        case ObjectSource(data):
            return ["object", _sha256(data)]
        case ArchiveSource(data):
            return ["archive", _sha256(data)]
        case LibrarySource(given):  # what is in it is looked up each time
            return ["library", given]
        case AddressSource(symbol):
            return ["address", symbol]


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# ---- the environment


@functools.cache
def environment() -> str:
    """Return the part that all keys share: this package, its compilers, and the CPU."""
    known = {
        "ffi_builder": _own_sources(),
        **{package: _version(package) for package in _PACKAGES},
        # Builds of one version of llvmlite may contain different LLVMs.
        "libllvmlite": [size for _, size, _ in _libraries("llvmlite", "binding")],
        "cpu": cpu(),
    }
    return json.dumps(known, indent=1)


def _own_sources() -> str:
    """Return this package's version and a digest of its sources, which may change in a clone."""
    root = str(Path(__file__).parents[2])
    total = hashlib.sha256()
    # os.walk and open take a third of the time of Path.rglob and read_bytes.
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".py"):
                path = os.path.join(folder, name)  # noqa: PTH118
                with open(path, "rb", buffering=0) as file:  # noqa: PTH123
                    content = file.read()
                total.update(f"{path.removeprefix(root)} {len(content)}\0".encode())
                total.update(content)
    return f"{_version('ffi_builder')} {total.hexdigest()}"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"


@functools.cache
def distribution(root: str) -> str:
    """Return a digest of sizes and times of libraries, since builds may share a version."""
    return _sha256(json.dumps(_libraries(root, "_mlir_libs")).encode())


def _libraries(package: str, folder: str) -> list[tuple[str, int, int]]:
    """Name, size and time of each shared library in `folder` of a package."""
    top, *inner = package.split(".")
    try:
        spec = find_spec(top)  # of `a.b` it would import `a`
    except (ImportError, ValueError):
        spec = None
    libraries: list[tuple[str, int, int]] = []
    for location in (spec.submodule_search_locations or ()) if spec else ():
        directory = Path(location, *inner, folder)
        if directory.is_dir():
            files = [path for path in directory.iterdir() if path.suffix in _LIBRARIES]
            stats = [(path.name, path.stat()) for path in files]
            libraries += [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats]
    return sorted(libraries)


def cpu() -> list[str]:
    """Describe the CPU as Linux does, which takes microseconds, or else as LLVM does."""
    lines = [line.partition(":") for line in _first_processor().splitlines()]
    fields = {name.strip(): value.strip() for name, _, value in lines}
    known = [f"{name}: {fields[name]}" for name in sorted(_CPU_FIELDS & fields.keys())]
    if not _FEATURE_FIELDS & fields.keys():
        known = [llvm.host_cpu(), llvm.host_features()]
    return [platform.machine(), *known]


def _first_processor() -> str:
    """Read the first part of /proc/cpuinfo: reading all takes milliseconds on a large machine."""
    data = b""
    try:
        with _CPUINFO.open("rb", buffering=0) as file:
            while b"\n\n" not in data and (more := os.read(file.fileno(), 1 << 13)):
                data += more
    except OSError:
        return ""
    return data.partition(b"\n\n")[0].decode(errors="replace")
