"""Renaming attached functions."""

from __future__ import annotations

from ffi_builder import abi
from ffi_builder.builder.wrapper import checked_name
from ffi_builder.errors import BuildError
from ffi_builder.ir import Module, of_module
from ffi_builder.suggest import did_you_mean


def rename_tvm_ffi_function(module: Module, old_name: str, new_name: str) -> None:
    """Rename an attached function; names are given without the ``__tvm_ffi_`` prefix.

    Calls in the module are renamed too. Errors keep the display name.

    Raises:
        BuildError: if there is no such function, or if the new name is taken.
    """
    distribution = of_module(module)
    table = distribution.ir.SymbolTable(module.operation)
    old, new = abi.PREFIX + old_name, abi.PREFIX + checked_name(new_name)
    if old not in table:
        names = _attached_names(module)
        raise BuildError(
            f"the module has no function {old_name!r}; it has {', '.join(names) or 'none'}"
            f"{did_you_mean(old_name, names)}"
        )
    if old == new:
        return
    if new in table:
        raise BuildError(f"the module has a function {new_name!r} already")
    distribution.ir.SymbolTable.replace_all_symbol_uses(old, new, module.operation)
    table[old].operation.attributes["sym_name"] = distribution.ir.StringAttr.get(
        new, module.context
    )


def _attached_names(module: Module) -> list[str]:
    names = (
        operation.operation.attributes["sym_name"].value
        for operation in module.body.operations
        if "sym_name" in operation.operation.attributes
    )
    return [name.removeprefix(abi.PREFIX) for name in names if name.startswith(abi.PREFIX)]
