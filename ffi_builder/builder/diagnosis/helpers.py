"""What wrappers of a module share, added to it as it is needed.

Each group of helpers is built operation by operation once a process and distribution; other modules
get it from bytecode, in a third of the time.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Final

from ffi_builder.builder.diagnosis.functions import shared_name
from ffi_builder.builder.diagnosis.machine import define_machine
from ffi_builder.builder.diagnosis.numbers import define_number_helpers
from ffi_builder.builder.diagnosis.tensors import define_tensor_helpers
from ffi_builder.ir import Symbols

_BYTECODE: Final[dict[tuple[str, str], bytes]] = {}
"""By the name of the distribution's ``ir`` module, and of the group's first helper."""


def define_helpers(symbols: Symbols, *, tensors: bool, numbers: bool) -> None:
    """Add the diagnosis, and the helpers of wrappers with tensors, or BigInts and 16-bit floats."""
    _define(symbols, "diagnose", define_machine)
    if tensors:
        _define(symbols, "tensor_object", define_tensor_helpers)
    if numbers:
        _define(symbols, "big_uint64", define_number_helpers)


def _define(symbols: Symbols, first: str, define: Callable[[Symbols], None]) -> None:
    if shared_name(first) in symbols:
        return
    key = (symbols.types.ir.__name__, first)
    if key not in _BYTECODE:
        _BYTECODE[key] = _bytecode(symbols, define)
    symbols.adopt(_BYTECODE[key])


def _bytecode(symbols: Symbols, define: Callable[[Symbols], None]) -> bytes:
    """The group alone, in a module of its own."""
    ir, context = symbols.types.ir, symbols.types.context
    unknown = ir.Location.unknown(context)
    module = ir.Module.create(unknown)
    define(Symbols(symbols.types, module, unknown))
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()
