"""Keys of the compile cache: everything that a compiled module depends on, as bytes.

A key is JSON that people can read, with long contents as their SHA-256. Nothing here imports MLIR
or LLVM, so that a hit needs neither.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
from collections.abc import Iterable, Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Final, TypeAlias, cast

from ffi_builder.runtime import mlir
from ffi_builder.runtime.codegen import llvm
from ffi_builder.runtime.inputs import CachedSource, LlvmSource, MlirSource, ObjectSource, Source

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


def made_of(source: Source, items: Sequence[LlvmSource | ObjectSource]) -> list[list[str]]:
    """Return the kinds and SHA-256s of `source`, and of what is linked to it, as they are now.

    An entry of the cache contains it, whatever its key is.
    """
    return [_content(each) for each in (source, *items)]


def of_source(source: Source, level: int, contents: list[list[str]]) -> bytes:
    """The key of the objects that `source` becomes; `contents` is the result of `made_of`."""
    own, *linked = contents
    parts: list[object] = ["source", own]
    if isinstance(source, MlirSource):
        parts.append(distributions(mlir.roots_for(source.module)))
    return _key(*parts, level, linked)


def of_name(
    key: object, pipeline: str | None, level: int, items: Sequence[LlvmSource | ObjectSource]
) -> bytes:
    """The key of a module that an author names `key`.

    Raises TypeError if that is neither str nor bytes, nor a tuple of these, ints and tuples, and
    ValueError if tuples are nested more than 32 deep.
    """
    if isinstance(key, int):
        raise _unfit(key)
    return _key("name", _plain(key), pipeline, level, [_content(item) for item in items])


def distributions(roots: Iterable[str]) -> dict[str, str]:
    """Return the installed build of each MLIR distribution in `roots`, without importing them."""
    return {root: distribution(root) for root in roots}


def _key(*parts: object) -> bytes:
    return f"{environment()}\n{json.dumps(parts)}".encode()


def _plain(key: object, depth: int = 0) -> object:
    """Convert `key` to JSON values; different keys differ. Raises TypeError or ValueError."""
    match key:
        case str():
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


def _content(source: Source) -> list[str]:
    match source:
        case MlirSource(module):
            return ["mlir", _sha256(mlir.content(module))]
        case CachedSource(data):
            return ["mlir", _sha256(data)]
        case LlvmSource(text):
            return ["llvm", _sha256(text.encode("utf-8", "surrogatepass"))]
        case ObjectSource(data):
            return ["object", _sha256(data)]


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# ---- the environment


@functools.cache
def environment() -> str:
    """The part that all keys share: this package, the compilers that it uses, and the CPU."""
    known = {
        "ffi_builder": _own_sources(),
        **{package: _version(package) for package in _PACKAGES},
        # Builds of one version of llvmlite may contain different LLVMs.
        "libllvmlite": [size for _, size, _ in _libraries("llvmlite", "binding")],
        "cpu": cpu(),
    }
    return json.dumps(known, indent=1)


def _own_sources() -> str:
    """The version of this package, and a digest of all its sources: a clone changes without it."""
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
    """A digest of the sizes and times of libraries: an MLIR under work keeps its version."""
    return _sha256(json.dumps(_libraries(root, "_mlir_libs")).encode())


def _libraries(package: str, folder: str) -> list[tuple[str, int, int]]:
    """Name, size and time of each shared library in `folder` of a package."""
    top, *inner = package.split(".")
    try:
        spec = find_spec(top)  # of `a.b` it would import `a`
    except (ImportError, ValueError):
        spec = None
    found: list[tuple[str, int, int]] = []
    for location in (spec.submodule_search_locations or ()) if spec else ():
        directory = Path(location, *inner, folder)
        if directory.is_dir():
            files = [path for path in directory.iterdir() if path.suffix in _LIBRARIES]
            stats = [(path.name, path.stat()) for path in files]
            found += [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats]
    return sorted(found)


def cpu() -> list[str]:
    """The CPU as Linux describes it, which takes microseconds, or else as LLVM does."""
    lines = [line.partition(":") for line in _first_processor().splitlines()]
    fields = {name.strip(): value.strip() for name, _, value in lines}
    known = [f"{name}: {fields[name]}" for name in sorted(_CPU_FIELDS & fields.keys())]
    if not _FEATURE_FIELDS & fields.keys():
        known = [llvm.host_cpu(), llvm.host_features()]
    return [platform.machine(), *known]


def _first_processor() -> str:
    """The first part of /proc/cpuinfo: reading all takes milliseconds on a large machine."""
    data = b""
    try:
        with _CPUINFO.open("rb", buffering=0) as file:
            while b"\n\n" not in data and (more := os.read(file.fileno(), 1 << 13)):
                data += more
    except OSError:
        return ""
    return data.partition(b"\n\n")[0].decode(errors="replace")
