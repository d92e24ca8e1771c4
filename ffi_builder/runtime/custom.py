"""Modules of an author's own that travel in an exported library: PTX, weights, another runtime's.

When tvm-ffi loads the library it makes each of them again, with the global function
`ffi.Module.load_from_bytes.<kind>`, and imports them into the library's module. They stand in the
symbol `__tvm_ffi__library_bin`, laid out as tvm-ffi's guide to function modules says; all numbers
are little-endian u64, strs and bytes have their length in front:

    bytes that follow
    the import tree as a sparse array: count, offsets…; count, indices of children…
    for each module, the importing one first: kind, and but for `_lib`, the library itself, bytes
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

SYMBOL: Final = "__tvm_ffi__library_bin"
_LIBRARY: Final = "_lib"
_RESERVED: Final = (_LIBRARY, "_import_tree")


@dataclass(frozen=True)
class CustomModule:
    """A module that `ffi.Module.load_from_bytes.<kind>` makes of `data`, and what it imports.

    Raises TypeError or ValueError for what cannot be one.
    """

    kind: str
    data: bytes
    imports: Sequence[CustomModule] = field(default=())

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"Expected the kind of a module as a str, but got {self.kind!r}")
        if not self.kind or self.kind in _RESERVED:
            raise ValueError(
                f"Expected the kind of a module, such as `cuda`, but got {self.kind!r}, which "
                f"tvm-ffi has a meaning for"
            )
        if not isinstance(self.data, (bytes, bytearray, memoryview)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(
                f"Expected the bytes of module `{self.kind}`, but got {type(self.data).__name__}"
            )
        object.__setattr__(self, "data", bytes(self.data))
        object.__setattr__(self, "imports", tuple(map(as_module, self.imports)))


def as_module(given: object) -> CustomModule:
    """A CustomModule, or one from a pair `(kind, bytes)`. Raises TypeError or ValueError."""
    if isinstance(given, CustomModule):
        return given
    if isinstance(given, (tuple, list)) and len(given) == 2:  # pyright: ignore[reportUnknownArgumentType]
        return CustomModule(*given)  # pyright: ignore[reportUnknownArgumentType]
    raise TypeError(f"Expected a CustomModule or a pair (kind, bytes), but got {given!r}")


def library_bin(modules: Iterable[CustomModule]) -> bytes:
    """What the symbol holds, for a library that imports these."""
    kinds = bytearray(_sized(_LIBRARY.encode()))
    children: list[list[int]] = [[]]

    def place(module: CustomModule, parent: int) -> None:
        index = len(children)
        children[parent].append(index)
        children.append([])
        kinds.extend(_sized(module.kind.encode()) + _sized(module.data))
        for imported in module.imports:
            place(imported, index)

    for module in modules:
        place(module, 0)
    offsets = [0]
    for own in children:
        offsets.append(offsets[-1] + len(own))
    flat = [index for own in children for index in own]
    content = _numbers(offsets) + _numbers(flat) + bytes(kinds)
    return struct.pack("<Q", len(content)) + content


def as_llvm_ir(data: bytes) -> Iterator[str]:
    """Lines that define the symbol."""
    text = "".join(f"\\{byte:02x}" for byte in data)
    yield f'@{SYMBOL} = constant [{len(data)} x i8] c"{text}", align 8'


def _sized(data: bytes) -> bytes:
    return struct.pack("<Q", len(data)) + data


def _numbers(numbers: list[int]) -> bytes:
    return struct.pack(f"<{len(numbers) + 1}Q", len(numbers), *numbers)
