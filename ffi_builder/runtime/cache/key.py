"""What a compiled module depends on, as bytes: the key of its entry in the compile cache.

A key is JSON that people can read. Long contents stand in it as their SHA-256. Nothing here
imports MLIR, LLVM or the JIT, so that a hit needs none of the first two.
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
"""What `compile_cached` takes."""

_PACKAGES: Final = ("llvmlite", "apache-tvm-ffi", "apache-tvm-ffi-orcjit")

_DEEPEST: Final = 32
"""How deep the tuples of a key may be in one another."""

_LIBRARIES: Final = (".so", ".dylib", ".pyd", ".dll")

_CPUINFO: Final = Path("/proc/cpuinfo")

# What /proc/cpuinfo says of a CPU and not of its moment, on x86-64, AArch64 and RISC-V.
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

    An entry of the cache says it, whatever its key is.
    """
    return [_content(each) for each in (source, *items)]


def of_source(source: Source, level: int, contents: list[list[str]]) -> bytes:
    """The key of the objects that `source` becomes; `contents` is what `made_of` says."""
    own, *linked = contents
    parts: list[object] = ["source", own]
    if isinstance(source, MlirSource):
        parts += [source.share_helpers, distributions(mlir.roots_for(source.module))]
    return _key(*parts, level, linked)


def of_name(
    key: object, pipeline: str | None, level: int, items: Sequence[LlvmSource | ObjectSource]
) -> bytes:
    """The key of what an author calls `key`.

    Raises TypeError if that is neither str nor bytes, nor a tuple of these, ints and tuples, and
    ValueError if tuples are more than 32 deep in one another.
    """
    if isinstance(key, int):
        raise _unfit(key)
    return _key("name", _plain(key), pipeline, level, [_content(item) for item in items])


def distributions(roots: Iterable[str]) -> dict[str, str]:
    """Which builds of the MLIR distributions `roots` are installed, without importing them."""
    return {root: distribution(root) for root in roots}


def _key(*parts: object) -> bytes:
    return f"{environment()}\n{json.dumps(parts)}".encode()


def _plain(key: object, depth: int = 0) -> object:
    """`key` as JSON can say it, so that different keys differ. Raises TypeError or ValueError."""
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
                    f"Expected tuples that are at most {_DEEPEST} deep in one another as the key, "
                    f"but got deeper ones: write the key as one tuple, or as a str"
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


# ---- where it runs


@functools.cache
def environment() -> str:
    """What every key has in it: this package, what it compiles with, and the CPU."""
    known = {
        "ffi_builder": _own_sources(),
        **{package: _version(package) for package in _PACKAGES},
        # A build of llvmlite may have another LLVM than the one of the same version on PyPI.
        "libllvmlite": [size for _, size, _ in _libraries("llvmlite", "binding")],
        "cpu": cpu(),
    }
    return json.dumps(known, indent=1)


def _own_sources() -> str:
    """Of a clone that is being worked on, a version says too little."""
    root = Path(__file__).parents[1]
    total = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        total.update(f"{path.relative_to(root)}\0".encode())
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return f"{_version('ffi_builder')} {total.hexdigest()}"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"


@functools.cache
def distribution(root: str) -> str:
    """Of an MLIR that is being worked on, a version says too little: sizes and times of files."""
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
    """The CPU by what Linux says of it, which takes microseconds; else by LLVM's word."""
    lines = [line.partition(":") for line in _first_processor().splitlines()]
    fields = {name.strip(): value.strip() for name, _, value in lines}
    known = [f"{name}: {fields[name]}" for name in sorted(_CPU_FIELDS & fields.keys())]
    if not _FEATURE_FIELDS & fields.keys():
        known = [llvm.host_cpu(), llvm.host_features()]
    return [platform.machine(), *known]


def _first_processor() -> str:
    """Its part of /proc/cpuinfo: to read all of it takes milliseconds on a large machine."""
    data = b""
    try:
        with _CPUINFO.open("rb", buffering=0) as file:
            while b"\n\n" not in data and (more := os.read(file.fileno(), 1 << 13)):
                data += more
    except OSError:
        return ""
    return data.partition(b"\n\n")[0].decode(errors="replace")
