"""Errors for operands that the bindings refuse, where they only list their own signatures."""

from __future__ import annotations

from typing import Any, cast

from ffi_builder.errors import BuildError


def wrong_operation(
    ir: Any,
    name: object,
    operands: Any,
    results: Any,
    attributes: Any,
    successors: Any,
    error: Exception,
) -> BuildError:
    """Return the error for arguments that ``Operation.create`` refused.

    ``error`` is the exception that it raised, which does not say which argument was wrong.
    """
    if not isinstance(name, str):
        return BuildError(f"operation: expected a name, such as 'llvm.add', but got {name!r}")
    lists = {"operands": operands, "results": results, "successors": successors or ()}
    for what, given in lists.items():
        if not isinstance(given, (list, tuple)):
            return BuildError(f"{name}: {what}: expected a list but got {given!r}")
    if attributes is not None and not isinstance(attributes, dict):
        return BuildError(f"{name}: attributes: expected a dict of them but got {attributes!r}")
    for index, operand in enumerate(operands):
        if not isinstance(operand, ir.Value):
            return not_a_value(f"{name}: operand {index}", operand)
    for result in results:
        if not isinstance(result, ir.Type):
            return _not_a_type(name, result)
    for successor in successors or ():
        if not isinstance(successor, ir.Block):
            return BuildError(
                f"{name}: expected a block to go to, such as builder.new_block() makes, but got "
                f"{successor!r}"
            )
    for key, attribute in cast("dict[object, object]", attributes or {}).items():
        if not isinstance(attribute, ir.Attribute):
            return BuildError(
                f"{name}: attribute {key!r}: expected an ir.Attribute, such as "
                f"builder.types.attribute(text) makes, but got {attribute!r}"
            )
    return BuildError(f"{name}: {error}")


def not_a_value(where: str, given: object) -> BuildError:
    """Return the error for something else than an ``ir.Value``."""
    if isinstance(given, bool):
        hint = f"; builder.i1({given}) makes one of a bool"
    elif isinstance(given, int):
        hint = f"; builder.i64({given}) makes one of an int"
    elif isinstance(given, (str, bytes)):
        hint = "; builder.text_constant(bytes) makes an address of bytes"
    else:
        hint = "; a call provider asks its context for the values of symbols and parameters"
    return BuildError(f"{where}: expected a value (an ir.Value) but got {given!r}{hint}")


def not_values(where: str, given: object) -> BuildError:
    """Return the error for something else than a list of values."""
    return BuildError(f"{where}: expected a list of values but got {given!r}")


def _not_a_type(name: str, given: object) -> BuildError:
    hint = f"; builder.types.parse({given!r}) makes one of a text" if isinstance(given, str) else ""
    if given is None:
        hint = "; builder.types.void is the type of no result"
    return BuildError(f"{name}: result: expected a type (an ir.Type) but got {given!r}{hint}")


def not_text(what: str, given: object) -> BuildError:
    """Return the error for something else than a str."""
    return BuildError(f"{what}: expected a str but got {given!r}")


def not_an_int(what: str, given: object, hint: str = "") -> BuildError:
    """Return the error for something else than a Python int."""
    return BuildError(f"{what}: expected an int but got {given!r}{hint}")
