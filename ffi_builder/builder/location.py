"""Locations of wrappers, for debug information and for the tracebacks of errors."""

from __future__ import annotations

import re
from typing import Any, Final

from ffi_builder.errors import BuildError
from ffi_builder.ir import Distribution, Symbols

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
    found = None if callee is None else symbols.find(callee)
    operation = symbols.module.operation if found is None else found
    return _without_debug_information(distribution, symbols, operation.location)


def _without_debug_information(distribution: Distribution, symbols: Symbols, location: Any) -> Any:
    """Reduce a location to file, line and column: debug information belongs to one function."""
    if "#llvm.di_" not in str(location):
        return location
    at, context = distribution.ir.Location, symbols.types.context
    found = re.search(_PLACE, str(location))
    file = None if found is None else _unescaped(found[1])
    if found is None or file is None:
        return at.unknown(context)
    return at.file(file, int(found[2]), int(found[3]), context=context)


def backtrace(location: Any, name: str) -> str:
    """Format a traceback frame from the first file position in a location; else return ""."""
    for found in re.finditer(_PLACE, str(location)):
        file = _unescaped(found[1])
        # Text parsed from a string has locations in a file called "-".
        if file not in (None, "-"):
            return f'  File "{file}", line {found[2]}, in {name}\n'
    return ""


def _unescaped(text: str) -> str | None:
    """Undo MLIR's escapes in a file name; None if the result cannot stand in a traceback."""
    data = re.sub(
        rb"\\(\\|[0-9A-Fa-f]{2})",
        lambda found: b"\\" if found[1] == b"\\" else bytes([int(found[1], 16)]),
        text.encode(),
    )
    try:
        name = data.decode()
    except UnicodeDecodeError:
        return None
    return name if name.isprintable() and '"' not in name else None
