"""Names of attached functions, and locations for debug information and tracebacks of errors."""

from __future__ import annotations

import re
from typing import Any, Final

from ffi_builder import abi, protocol
from ffi_builder.errors import BuildError
from ffi_builder.ir import Module, Symbols
from ffi_builder.ir.distribution import Distribution, of_module
from ffi_builder.ir.protocols import Operation
from ffi_builder.ir.symbols import function_names
from ffi_builder.suggest import did_you_mean

_RESERVED: Final = {
    **abi.RESERVED_NAMES,
    "_cuda_": "what loads and unloads the kernels of a function that launches some",
}
"""Prefixes of names that are derived from function names, and their use."""


def checked_name(name: object) -> str:
    """Return a name, after checking that linkers accept it and that it is not reserved."""
    if not isinstance(name, str) or not re.fullmatch(r"[\w.$]+", name, re.ASCII):
        raise BuildError(
            f"symbol name: expected ASCII letters, digits, '_', '.' and '$' but got {name!r}"
        )
    if name.startswith(abi.PREFIX):
        raise BuildError(f"symbol name: give {name!r} without the prefix {abi.PREFIX!r}")
    for reserved, holder in _RESERVED.items():
        if name.startswith(reserved):
            raise BuildError(
                f"symbol name: {name!r} begins with {reserved!r}, which is reserved for {holder}; "
                f"choose another name"
            )
    return name


def check_free(symbols: Symbols, name: str) -> None:
    """Check that a module does not have a wrapper's symbol yet.

    Raises:
        BuildError: if the module defines or declares the symbol.
    """
    symbol = symbols.find(name)
    if symbol is not None and is_declaration(symbol):
        raise BuildError(
            f"the module declares @{name} already, since something calls it, such as the wrapper "
            f"of a PackedCallProvider; attach the callee before its callers"
        )
    if symbol is not None:
        raise BuildError(f"the module has a symbol @{name} already; attach under another name")


def is_declaration(symbol: Operation) -> bool:
    """Return whether a symbol is a function without a body."""
    return symbol.name == "llvm.func" and not len(symbol.regions[0].blocks)


def rename_tvm_ffi_function(module: Module, old_name: str, new_name: str) -> None:
    """Rename an attached function; names are given without the ``__tvm_ffi_`` prefix.

    Calls in the module are renamed too. Errors keep the display name.

    Args:
        module: an ``ir.Module`` of any MLIR Python distribution; it is changed.
        old_name: the present exported name of the function.
        new_name: its new exported name.

    Raises:
        BuildError: if there is no such function, or if the new name is taken.

    Examples:
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, providers, rename_tvm_ffi_function, runtime, spec
        >>> module = ir.Module.parse("", ir.Context())
        >>> hypot = spec.Signature.parse("hypot(x: float64, y: float64) -> r: float64")
        >>> attach(module, hypot, providers.DirectCallProvider("hypot"))
        >>> rename_tvm_ffi_function(module, "hypot", "distance")
        >>> runtime.compile(module).functions
        ('distance',)
    """
    distribution = of_module(module)
    table = distribution.ir.SymbolTable(module.operation)
    old, new = abi.PREFIX + old_name, abi.PREFIX + checked_name(new_name)
    if old not in table:
        every = (name for name in function_names(module) if name.startswith(abi.PREFIX))
        names = [name.removeprefix(abi.PREFIX) for name in every]
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


_PLACE: Final = r'"((?:[^"\\]|\\.)+)":(\d+):(\d+)'
"""File, line and column in the text of a location."""


def location_of_wrapper(
    distribution: Distribution, symbols: Symbols, callee: str | None, given: Any
) -> Any:
    """Return ``given``, else the current location, else the callee's, else the module's."""
    if given is not None:
        if given.context != symbols.types.context:
            raise BuildError("location= is of another MLIR context than the module")
        return given
    try:
        current = distribution.ir.Location.current
    except ValueError:  # there is no current location
        current = None
    # Using a location of another context ends the process.
    if current is not None and current.context == symbols.types.context:
        return current
    symbol = None if callee is None else symbols.find(callee)
    operation = symbols.module.operation if symbol is None else symbol
    return _without_debug_information(distribution, symbols, operation.location)


def _without_debug_information(distribution: Distribution, symbols: Symbols, location: Any) -> Any:
    """Reduce a location to file, line and column: debug information belongs to one function."""
    if "#llvm.di_" not in str(location):
        return location
    at, context = distribution.ir.Location, symbols.types.context
    match = re.search(_PLACE, str(location))
    file = None if match is None else _unescaped(match[1])
    if match is None or file is None:
        return at.unknown(context)
    return at.file(file, int(match[2]), int(match[3]), context=context)


def backtrace(location: Any, name: str) -> str:
    """Format a traceback frame from the first file position in a location; else return ""."""
    for match in re.finditer(_PLACE, str(location)):
        file = _unescaped(match[1])
        # Text parsed from a string has locations in a file called "-".
        if file not in (None, "-"):
            return f'  File "{file}", line {match[2]}, in {name}\n'
    return ""


def _unescaped(text: str) -> str | None:
    """Undo MLIR's escapes in a file name; None if the result cannot stand in a traceback."""
    try:
        name = protocol.unescaped(text).decode()
    except UnicodeDecodeError:
        return None
    return name if name.isprintable() and '"' not in name else None


def record_memref_types(module: Module) -> None:
    """Note the types of each ``func.func`` that has memrefs, so that ``attach`` can compare them.

    Lowering turns a memref into pointers and integers, so that its element type, static sizes and
    layout are lost. This function keeps them in the function attribute
    ``ffi_builder.memref_types``, which does not reach LLVM IR. Call it before the passes that lower
    memrefs, and after those that make or change memrefs, such as one-shot bufferization.
    ``runtime.compile`` and ``runtime.lower`` call it themselves if they get a ``pipeline=``, also
    between its passes if functions have tensors.

    Nothing is compared

    - if the function has no record, or is only declared;
    - if a later pass changed its parameters or results, so that the recorded types no longer lower
      to the function's LLVM type;
    - if one pass, or a registered pipeline in ``pipeline=``, both bufferizes and lowers it;
    - if a type is lowered in a special way, such as a tensor or a dialect's own type.

    A pass that changes only element types (``i4`` packed into ``i8``) leaves the LLVM type equal:
    record again after it, or delete the attribute.

    Args:
        module: an ``ir.Module`` of any MLIR Python distribution; it is changed.

    Raises:
        BuildError: if ``module`` is not an ``ir.Module``.

    Examples:
        >>> from torch_mlir import ir
        >>> from torch_mlir.passmanager import PassManager
        >>> from ffi_builder import record_memref_types, signature_of
        >>> KERNEL = "func.func @relu(%x: memref<?x4xf32>) { return }"
        >>> module = ir.Module.parse(KERNEL, ir.Context())
        >>> record_memref_types(module)
        >>> passes = "builtin.module(convert-to-llvm,reconcile-unrealized-casts)"
        >>> PassManager.parse(passes, module.context).run(module.operation)
        >>> print(signature_of(module, "relu", names=["x"], device_type="cpu"))
        relu(x: Tensor([x_0, 4], float32, device_type=cpu))
    """
    protocol.record_memref_types(of_module(module).ir, module)
