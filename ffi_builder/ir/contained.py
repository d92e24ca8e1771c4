"""Puts support functions into modules, for a JIT that cannot find them elsewhere."""

from __future__ import annotations

import hashlib
import platform
from typing import Final

from ffi_builder import support
from ffi_builder.errors import BuildError
from ffi_builder.ir.builder import Builder
from ffi_builder.ir.protocols import Module
from ffi_builder.ir.symbols import Symbols
from ffi_builder.protocol import PREFIX
from ffi_builder.support.assembly import assembly

_TRIPLE: Final = "llvm.target_triple"


def contain_support(symbols: Symbols) -> None:
    """Add the support functions that a module declares, and those that they call, as assembly.

    The code is for the machine of the module's ``llvm.target_triple``, or else for this machine. An
    uncalled function carries the assembly text, which so gets to LLVM's assembler.

    Raises:
        BuildError: there is no support code for the machine.

    Examples:
        What ``attach(…, self_contained=True)`` does at the end:

        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder import ir
        >>> from ffi_builder.ir.checking import declare_support
        >>> from ffi_builder.ir.contained import contain_support
        >>> from ffi_builder.ir.distribution import of_module
        >>> module = mlir.Module.parse("", mlir.Context())
        >>> types = ir.Types(of_module(module).ir, module.context)
        >>> symbols = ir.Symbols(types, module, mlir.Location.unknown(module.context))
        >>> _ = declare_support(symbols, "raise")
        >>> contain_support(symbols)
        >>> "llvm.inline_asm" in str(module)
        True
    """
    declared = tuple(
        symbol for name in support.functions() if (symbol := support.symbol(name)) in symbols
    )
    if not declared:
        return
    types = symbols.types
    text = assembly(_machine(symbols.module), declared)
    name = f"{PREFIX}contained_{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    if name in symbols:
        return
    b = Builder.define(symbols, name, types.void, [], "weak")
    b.location = types.ir.Location.unknown(types.context)
    # `$` begins an operand of inline assembly.
    of_assembly = {
        "asm_string": types.string(text.replace("$", "$$")),
        "constraints": types.string(""),
        "has_side_effects": types.attribute("unit"),
    }
    b.op("llvm.inline_asm", attributes=of_assembly)
    b.ret()


def _machine(module: Module) -> str:
    attributes = module.operation.attributes
    triple = attributes[_TRIPLE].value if _TRIPLE in attributes else platform.machine()
    machine = str(triple).partition("-")[0]
    if machine not in support.MACHINES:
        raise BuildError(
            f"self_contained: expected a module for {' or '.join(support.MACHINES)}, but it is for "
            f"{machine}"
        )
    return machine
