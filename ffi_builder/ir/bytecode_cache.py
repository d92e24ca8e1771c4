"""Groups of symbols that many modules need, built once per process and then read from bytecode.

Reading bytecode takes a third of the time of building the operations one by one.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Final

from ffi_builder.ir.symbols import Symbols


@dataclass(frozen=True)
class _Group:
    """Symbols that refer to each other, with the declarations that they need."""

    names: tuple[str, ...]
    bytecode: bytes


_GROUPS: Final[dict[tuple[str, Hashable], _Group]] = {}
"""The groups, by the name of the distribution's ``ir`` module and the key of the group."""


def define_cached(symbols: Symbols, key: Hashable, define: Callable[[Symbols], None]) -> None:
    """Add those symbols that ``define`` adds to an empty module and that are not here yet.

    Args:
        symbols: the symbols of the module to change.
        key: identifies the group; ``define`` is called once per process, key and distribution.
        define: adds the group to the module that it is given.
    """
    place = (symbols.types.ir.__name__, key)
    if place not in _GROUPS:
        _GROUPS[place] = _group(symbols, define)
    group = _GROUPS[place]
    # Check every name: a pass may have removed unused ones.
    if not all(name in symbols for name in group.names):
        symbols.adopt(group.bytecode)


def _group(symbols: Symbols, define: Callable[[Symbols], None]) -> _Group:
    """Build a group in a module of its own."""
    ir, context = symbols.types.ir, symbols.types.context
    unknown = ir.Location.unknown(context)
    module = ir.Module.create(unknown)
    define(Symbols(symbols.types, module, unknown))
    names = (op.operation.attributes["sym_name"].value for op in module.body.operations)
    return _Group(tuple(names), bytecode(module))


def bytecode(module: Any) -> bytes:
    """Return a module as bytecode. It must verify: MLIR ends the process on an invalid one."""
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()
