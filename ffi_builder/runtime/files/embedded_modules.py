"""Custom modules in an exported library: PTX, weights, modules of another runtime.

When tvm-ffi loads the library, it makes each module with the global function
`ffi.Module.load_from_bytes.<kind>`, and imports the modules into the library's module. The bytes
are in the symbol `__tvm_ffi__library_bin`, whose layout is in tvm-ffi's guide to function modules.
All numbers are little-endian u64; strs and bytes have their length in front:

    the number of bytes that follow
    the import tree as a sparse array: count, offsets…; count, indices of children…
    for each module, importers first: kind, then bytes (not for `_lib`, the library itself)
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Final

from ffi_builder import abi
from ffi_builder.errors import LinkError
from ffi_builder.records import dataclass
from ffi_builder.runtime.files import object_files
from ffi_builder.runtime.files.object_files import Constant

SYMBOL: Final = "__tvm_ffi__library_bin"
SYMBOLS: Final = (SYMBOL, abi.LIBRARY_CONTEXT)
"""Symbols that tvm-ffi looks up in a library when it loads it. A library exports both or none."""
_LIBRARY: Final = "_lib"
_RESERVED: Final = (_LIBRARY, "_import_tree")
_MERGED: Final = "__ffi_builder_merged_library_bin_"
"""The start of the symbol's new name in an object whose modules were moved to another object."""


@dataclass(frozen=True)
class CustomModule:
    """A module that `ffi.Module.load_from_bytes.<kind>` makes from `data`, and its imports.

    Args:
        kind: the end of the global function's name.
        data: the bytes that the function gets; at least one byte.
        imports: the modules that this one imports, each as a CustomModule or `(kind, bytes)`.

    Raises:
        TypeError: an argument has another type.
        ValueError: the kind is empty or reserved by tvm-ffi, or there is no data.

    Examples:
        A library that contains a table. tvm-ffi makes the table with the global function
        ``ffi.Module.load_from_bytes.example.table`` when it loads the library:

        >>> import tempfile
        >>> from pathlib import Path
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, providers, runtime, spec
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, spec.Signature("check", []), providers.NopCallProvider())
        >>> table = runtime.CustomModule("example.table", b"1 2 3")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     runtime.lower(module).export_library(Path(folder, "check.so"), modules=[table])
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
                f"tvm-ffi reserves"
            )
        if not isinstance(self.data, (bytes, bytearray, memoryview)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(
                f"Expected the bytes of module `{self.kind}`, but got {type(self.data).__name__}"
            )
        object.__setattr__(self, "data", bytes(self.data))
        if not self.data:
            raise ValueError(
                f"Expected the bytes of module `{self.kind}`, but there are none, and tvm-ffi "
                f"cannot load a library with such a module: give it at least one byte"
            )
        object.__setattr__(self, "imports", tuple(map(as_module, self.imports)))


def as_module(given: object) -> CustomModule:
    """Make a CustomModule of a pair `(kind, bytes)`. Raises TypeError or ValueError."""
    if isinstance(given, CustomModule):
        return given
    if isinstance(given, (tuple, list)) and len(given) == 2:  # pyright: ignore[reportUnknownArgumentType]
        return CustomModule(*given)  # pyright: ignore[reportUnknownArgumentType]
    raise TypeError(f"Expected a CustomModule or a pair (kind, bytes), but got {given!r}")


def library_bin(modules: Iterable[CustomModule]) -> bytes:
    """Return the content of the symbol for a library that imports `modules`."""
    tree = _Tree()
    # Modules that have no place yet, the next one last.
    waiting = [(module, 0) for module in modules][::-1]
    while waiting:
        module, parent = waiting.pop()
        index = tree.add(_sized(module.kind.encode()) + _sized(module.data))
        tree.imports[parent].append(index)
        waiting += [(imported, index) for imported in module.imports][::-1]
    return tree.encoded()


def constants(modules: Sequence[CustomModule]) -> dict[str, Constant]:
    """Return the symbol for a library that imports `modules`, or nothing if there are none."""
    return {SYMBOL: Constant(library_bin(modules))} if modules else {}


def with_one_library_bin(objects: Sequence[bytes], machine: str | None = None) -> list[bytes]:
    """Move the custom modules of all objects into the first that has some.

    So several objects that were exported with modules can be linked together. Raises LinkError for
    modules that the library itself does not import.
    """
    result = list(objects)
    if sum(SYMBOL.encode() in data for data in objects) < 2:
        return result  # the usual case, which has to be fast
    contents = [object_files.content_of(data, SYMBOL, machine) for data in objects]
    holders = [at for at, held in enumerate(contents) if held is not None]
    if len(holders) < 2:
        return result
    first, *others = holders
    together = _together([held for held in contents if held is not None])
    result[first] = object_files.with_constants(
        objects[first], {SYMBOL: Constant(together)}, machine
    )
    for at in others:
        result[at] = object_files.rename_symbols(objects[at], {SYMBOL: f"{_MERGED}{at}"}, machine)
    return result


@dataclass
class _Tree:
    """The modules of a library, the library itself first, and the imports of each."""

    modules: list[bytes] = field(default_factory=lambda: [_sized(_LIBRARY.encode())])
    """The kind and bytes of each module, as stored."""
    imports: list[list[int]] = field(default_factory=lambda: [[]])

    def add(self, module: bytes) -> int:
        """Add a module that nothing imports yet, and return its index."""
        self.modules.append(module)
        self.imports.append([])
        return len(self.modules) - 1

    def encoded(self) -> bytes:
        """Return the bytes that the symbol holds."""
        offsets = [0]
        for own in self.imports:
            offsets.append(offsets[-1] + len(own))
        flat = [index for own in self.imports for index in own]
        content = _numbers(offsets) + _numbers(flat) + b"".join(self.modules)
        return struct.pack("<Q", len(content)) + content


def _together(held: Iterable[bytes]) -> bytes:
    """Merge the contents of several symbols: return the bytes for a library with all modules."""
    tree = _Tree()
    for data in held:
        try:
            other = _read(data)
        except (struct.error, IndexError) as error:
            raise LinkError(f"`{SYMBOL}` of a linked object cannot be read: {error}") from error
        library = tree.modules[0]
        if other.modules[:1] != [library]:
            raise LinkError(
                f"Several linked objects have modules of their own (`{SYMBOL}`), and in one of "
                f"them they are not imported by the library itself: link one object with modules"
            )
        numbers = [0 if module == library else tree.add(module) for module in other.modules]
        for number, own in zip(numbers, other.imports, strict=True):
            tree.imports[number] += [numbers[index] for index in own]
    return tree.encoded()


def _read(data: bytes) -> _Tree:
    """Undo `_Tree.encoded`. Raises struct.error or IndexError for other bytes."""
    at = 8

    def number() -> int:
        nonlocal at
        at += 8
        return int(struct.unpack_from("<Q", data, at - 8)[0])

    def sized() -> bytes:
        nonlocal at
        length = number()
        at += length
        if at > len(data):
            raise IndexError("it ends early")
        return _sized(data[at - length : at])

    offsets = [number() for _ in range(number())]
    flat = [number() for _ in range(number())]
    modules: list[bytes] = []
    for _ in offsets[1:]:
        kind = sized()
        modules.append(kind if kind == _sized(_LIBRARY.encode()) else kind + sized())
    imports = [flat[start:end] for start, end in itertools.pairwise(offsets)]
    return _Tree(modules, imports)


def _sized(data: bytes) -> bytes:
    return struct.pack("<Q", len(data)) + data


def _numbers(numbers: list[int]) -> bytes:
    return struct.pack(f"<{len(numbers) + 1}Q", len(numbers), *numbers)
