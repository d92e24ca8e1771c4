"""Groups of symbols that many modules get: built once a process, from bytecode afterwards.

Reading bytecode takes a third of the time that building operation by operation does.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Final

from ffi_builder.ir.symbols import Symbols


@dataclass(frozen=True)
class _Group:
    """Symbols that refer to each other, and the declarations that they need."""

    names: tuple[str, ...]
    bytecode: bytes


_GROUPS: Final[dict[tuple[str, Hashable], _Group]] = {}
"""By the name of the distribution's ``ir`` module, and the key of the group."""


def define_kept(symbols: Symbols, key: Hashable, define: Callable[[Symbols], None]) -> None:
    """Add what ``define`` adds to an empty module, but for what is there; ``key`` stands for it."""
    place = (symbols.types.ir.__name__, key)
    if place not in _GROUPS:
        _GROUPS[place] = _group(symbols, define)
    group = _GROUPS[place]
    # All of them: a clean-up may have taken out those that nothing used.
    if not all(name in symbols for name in group.names):
        symbols.adopt(group.bytecode)


def _group(symbols: Symbols, define: Callable[[Symbols], None]) -> _Group:
    """Build the group, alone in a module of its own."""
    ir, context = symbols.types.ir, symbols.types.context
    unknown = ir.Location.unknown(context)
    module = ir.Module.create(unknown)
    define(Symbols(symbols.types, module, unknown))
    names = (op.operation.attributes["sym_name"].value for op in module.body.operations)
    return _Group(tuple(names), bytecode(module))


def bytecode(module: Any) -> bytes:
    """A module as bytecode. It has to verify: writing another one ends the process."""
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()
