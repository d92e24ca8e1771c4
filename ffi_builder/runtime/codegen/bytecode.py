"""Reads MLIR bytecode: https://mlir.llvm.org/docs/BytecodeFormat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

STRINGS: Final = 0
DIALECTS: Final = 1
TYPES: Final = 2
RESOURCES: Final = 5
RESOURCE_OFFSETS: Final = 6
_ALIGNED: Final = 0x80


def sections(data: bytes | memoryview) -> Iterator[tuple[int, int, int]]:
    """Yield the number, the start and the end of each section of a module."""
    # The producer follows the magic and a version.
    at = bytes(data[:1000]).index(b"\0", number(data, 4)[1]) + 1
    while at < len(data):
        kind = data[at]
        size, at = number(data, at + 1)
        if kind & _ALIGNED:
            alignment, at = number(data, at)
            at += -at % alignment
        yield kind & ~_ALIGNED, at, at + size
        at += size


def number(data: bytes | memoryview, at: int) -> tuple[int, int]:
    """Return a number and its end. The low zero bits of its first byte count the bytes after it."""
    first = data[at]
    if not first:
        return int.from_bytes(data[at + 1 : at + 9], "little"), at + 9
    size = (first & -first).bit_length()
    return int.from_bytes(data[at : at + size], "little") >> size, at + size


def strings(data: bytes) -> list[str]:
    """Return the strings of a string section."""
    sizes: list[int] = []
    count, at = number(data, 0)
    for _ in range(count):
        size, at = number(data, at)
        sizes.append(size)
    texts: list[str] = []
    for size in reversed(sizes):
        texts.append(data[at : at + size - 1].decode(errors="replace"))
        at += size
    return texts


def operations(data: bytes, strings: list[str]) -> Iterator[str]:
    """Yield the names of all operations, from the section of dialects."""
    dialects: list[str] = []
    count, at = number(data, 0)
    for _ in range(count):
        name, at = number(data, at)
        dialects.append(strings[name >> 1])
        if name & 1:  # the dialect's version follows, in a section
            size, at = number(data, at + 1)
            at += size
    _, at = number(data, at)
    while at < len(data):
        dialect, at = number(data, at)
        count, at = number(data, at)
        for _ in range(count):
            name, at = number(data, at)
            yield f"{dialects[dialect]}.{strings[name >> 1]}"
