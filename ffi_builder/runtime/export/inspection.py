"""Reads libraries and objects without loading them: functions, target, compilers, what they need.

The file may be for another machine, and its code is not run.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ffi_builder import elf
from ffi_builder.elf import MAGIC, Elf, View, machine_name
from ffi_builder.errors import LinkError
from ffi_builder.records import dataclass
from ffi_builder.runtime.jit.link import functions_among
from ffi_builder.runtime.object_files import symbols_of

_DT_NEEDED: Final = 1
_DYN: Final = struct.Struct("<qQ")
"""``Elf64_Dyn``: a tag and its value."""


@dataclass(frozen=True)
class Inspected:
    """What a library or an object says of itself."""

    path: Path
    machine: str
    """`x86_64` or `aarch64`."""
    functions: dict[str, str | None]
    """The metadata of each function by its name, as JSON; None if the file has none."""
    compilers: tuple[str, ...]
    """The compilers of its parts, from the section `.comment`."""
    needs: tuple[str, ...]
    """The libraries that it needs."""
    versions: tuple[str, ...]
    """The versions of symbols of the C and C++ runtimes that it needs, such as `GLIBC_2.17`."""


def inspected(path: Path) -> Inspected:
    """Read the library or object at `path`.

    Raises:
        LinkError: it is no 64-bit little-endian ELF library or object, or is damaged.
        OSError: it cannot be read.
    """
    data = path.read_bytes()
    if not data.startswith(MAGIC):
        raise LinkError(f"{path}: expected an ELF file, but it starts with {data[:8]!r}")
    file = Elf(View(data, "file", LinkError))
    if not file.header.is_64_little or file.header.type not in (elf.ET_DYN, elf.ET_REL):
        raise LinkError(f"{path}: expected a shared library or an object for a 64-bit CPU")
    table = elf.SHT_DYNSYM if file.header.type == elf.ET_DYN else elf.SHT_SYMTAB
    names = sorted(functions_among(symbols_of(file, table)))
    described = dict(_described(data))
    return Inspected(
        path,
        machine_name(file.header.machine),
        {name: described.get(name) for name in names},
        tuple(_texts(_content(file, ".comment"))),
        tuple(_needed(file)),
        # Other strings of this table are symbols and libraries.
        tuple(sorted(filter(_VERSION.fullmatch, set(_texts(_content(file, ".dynstr")))))),
    )


_VERSION: Final = re.compile(r"(GLIBC|GLIBCXX|CXXABI|GCC)_[\d.]+")


def _content(file: Elf, name: str) -> bytes:
    section = file.by_name.get(name)
    return b"" if section is None else file.content(section)


def _texts(content: bytes) -> list[str]:
    return [each.decode(errors="replace") for each in content.split(b"\0") if each]


def _described(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield the name and the metadata of each function, which are JSON among the constants."""
    decoder, start = json.JSONDecoder(), b'{"type_schema":'
    at = data.find(start)
    while at >= 0:
        after = data.find(start, at + 1)
        text = data[at : after if after >= 0 else None].decode(errors="replace")
        at = after
        try:
            found, end = decoder.raw_decode(text)
            name: Any = found["ffi_builder"]["name"]
        except (ValueError, LookupError, TypeError, RecursionError):
            continue
        yield name, text[:end]


def _needed(file: Elf) -> Iterator[str]:
    strings, content = _content(file, ".dynstr"), _content(file, ".dynamic")
    for tag, value in _DYN.iter_unpack(content[: len(content) // _DYN.size * _DYN.size]):
        if tag == _DT_NEEDED:
            yield file.text(strings, value)
