"""Groups of symbols that many modules need, built once per process and then read from bytecode.

Reading bytecode takes a third of the time of building the operations one by one.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Hashable
from functools import cache
from types import ModuleType
from typing import Any, Final

from ffi_builder.ir.symbols import Symbols
from ffi_builder.kept import kept
from ffi_builder.records import dataclass


@dataclass(frozen=True)
class _Group:
    """Symbols that refer to each other, with the declarations that they need."""

    names: tuple[str, ...]
    bytecode: bytes


_BEHIND_NAMES: Final = b"\0"

_GROUPS: Final[dict[tuple[str, Hashable], _Group]] = {}
"""The groups, by the name of the distribution's ``ir`` module and the key of the group."""


def define_cached(
    symbols: Symbols,
    key: Hashable,
    define: Callable[[Symbols], None],
    made_of: Callable[[], tuple[str, ...]] | None = None,
) -> None:
    """Add those symbols that ``define`` adds to an empty module and that are not here yet.

    Args:
        symbols: the symbols of the module to change.
        key: identifies the group; ``define`` is called once per process, key and distribution.
        define: adds the group to the module that it is given.
        made_of: returns what identifies the group to other processes and versions of the package,
            for which it is kept then.

    Examples:
        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder import ir
        >>> module = mlir.Module.parse("", mlir.Context())
        >>> types = ir.Types(ir.of_module(module).ir, module.context)
        >>> symbols = ir.Symbols(types, module, mlir.Location.unknown(module.context))
        >>> def define(symbols):
        ...     types = symbols.types
        ...     symbols.declare("my_lock", types.void, [types.ptr])
        ...     symbols.declare("my_unlock", types.void, [types.ptr])
        >>> ir.define_cached(symbols, "locks", define)
        >>> "my_lock" in symbols, "my_unlock" in symbols
        (True, True)
    """
    ir = symbols.types.ir
    place = (ir.__name__, key)
    if place not in _GROUPS:
        build = None if made_of is None else _build(ir)
        if made_of is None or not build:
            made = _group(symbols, define)
        else:
            identity = ("bytecode", *made_of(), ir.__name__, *build)
            made = kept(identity, lambda: _group(symbols, define))
        names, _, data = made.partition(_BEHIND_NAMES)
        _GROUPS[place] = _Group(tuple(names.decode().split("\n")), data)
    group = _GROUPS[place]
    # Check every name: a pass may have removed unused ones.
    if not all(name in symbols for name in group.names):
        symbols.adopt(group.bytecode)


def _group(symbols: Symbols, define: Callable[[Symbols], None]) -> bytes:
    """Build a group in a module of its own. Return its names, by line, and the bytecode."""
    ir, context = symbols.types.ir, symbols.types.context
    unknown = ir.Location.unknown(context)
    module = ir.Module.create(unknown)
    define(Symbols(symbols.types, module, unknown))
    names = [op.operation.attributes["sym_name"].value for op in module.body.operations]
    return "\n".join(names).encode() + _BEHIND_NAMES + bytecode(module)


@cache
def _build(ir: ModuleType) -> tuple[str, ...]:
    """Identify a build of a distribution, since an MLIR under work keeps its version.

    Empty for bindings whose libraries are elsewhere.
    """
    libraries = sys.modules.get(f"{ir.__name__.rpartition('.')[0]}._mlir_libs")
    found: list[str] = []
    for folder in getattr(libraries, "__path__", ()):
        for file in os.scandir(folder):
            if ".so" in file.name:
                status = file.stat()
                found.append(f"{file.name} {status.st_size} {status.st_mtime_ns}")
    return tuple(sorted(found))


def bytecode(module: Any) -> bytes:
    """Return a module as bytecode. It must verify: MLIR ends the process on an invalid one.

    Examples:
        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder import ir
        >>> data = ir.bytecode(mlir.Module.parse("llvm.func @relu(!llvm.ptr)", mlir.Context()))
        >>> print(mlir.Module.parse(data, mlir.Context()))
        module {
          llvm.func @relu(!llvm.ptr)
        }
    """
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()
