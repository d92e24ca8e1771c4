"""What wrappers of a module share, added to it as it is needed.

Each group of helpers is built operation by operation once a process and distribution; other modules
get it from bytecode, in a third of the time.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ffi_builder.builder.diagnosis.machine import define_machine
from ffi_builder.builder.diagnosis.numbers import define_number_helpers
from ffi_builder.builder.diagnosis.objects import define_object_helpers
from ffi_builder.builder.diagnosis.tensors import define_tensor_helpers
from ffi_builder.ir import Symbols


@dataclass(frozen=True)
class _Group:
    """Helpers that call each other, and the declarations that they need."""

    names: tuple[str, ...]
    bytecode: bytes


_GROUPS: Final[dict[tuple[str, str], _Group]] = {}
"""By the name of the distribution's ``ir`` module, and of the group's first helper."""


@dataclass(frozen=True)
class Helpers:
    """What a wrapper needs besides the diagnosis.

    ``numbers``: BigInts and 16-bit floats; ``objects``: moved objects, strs, bytes, type keys.
    """

    tensors: bool
    numbers: bool
    objects: bool


def define_helpers(symbols: Symbols, helpers: Helpers) -> None:
    """Add the diagnosis, and the helpers of wrappers that have what they are for."""
    _define(symbols, "diagnose", define_machine)
    if helpers.tensors:
        _define(symbols, "tensor_object", define_tensor_helpers)
    if helpers.numbers:
        _define(symbols, "big_uint64", define_number_helpers)
    if helpers.objects:
        _define(symbols, "moved_object", define_object_helpers)


def _define(symbols: Symbols, first: str, define: Callable[[Symbols], None]) -> None:
    key = (symbols.types.ir.__name__, first)
    if key not in _GROUPS:
        _GROUPS[key] = _group(symbols, define)
    group = _GROUPS[key]
    # All of them: a clean-up may have taken out those that nothing used.
    if not all(name in symbols for name in group.names):
        symbols.adopt(group.bytecode)


def _group(symbols: Symbols, define: Callable[[Symbols], None]) -> _Group:
    """Build the group, alone in a module of its own."""
    ir, context = symbols.types.ir, symbols.types.context
    unknown = ir.Location.unknown(context)
    module = ir.Module.create(unknown)
    define(Symbols(symbols.types, module, unknown))
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    names = (op.operation.attributes["sym_name"].value for op in module.body.operations)
    return _Group(tuple(names), buffer.getvalue())
