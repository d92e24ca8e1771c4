"""The arguments that items become in a call with C types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ffi_builder import spec
from ffi_builder.ir import Value
from ffi_builder.providers.context import CallContext
from ffi_builder.providers.items import Item, plain

_NARROW: Final = {
    **dict.fromkeys(("int8", "int16"), "llvm.signext"),
    **dict.fromkeys(("uint8", "uint16", "bool"), "llvm.zeroext"),
}
"""Attributes of integers narrower than a C int, which the caller extends."""


@dataclass(frozen=True)
class Argument:
    """One argument of a callee.

    ``extension`` is an LLVM parameter attribute, or empty. Errors name the argument by ``name``, or
    by the items ``of`` which it is made.
    """

    value: Value
    extension: str = ""
    name: str = ""
    of: tuple[Item, ...] = ()


def arguments_of_items(
    found: Sequence[Item],
    context: CallContext,
    convert: Callable[[CallContext, Item], list[Argument]],
) -> list[Argument]:
    """Convert each item; the arguments note which item they are made of."""
    arguments: list[Argument] = []
    for item in found:
        of = (item,)
        arguments += [Argument(a.value, a.extension, a.name, of) for a in convert(context, item)]
    return arguments


def scalar_arguments(context: CallContext, item: Item) -> list[Argument]:
    """Return the C argument of any item but a Tensor or Shape; two for a String or Bytes."""
    if isinstance(plain(item), (spec.String, spec.Bytes)):
        assert isinstance(item, (spec.String, spec.Bytes, spec.Optional))
        return [Argument(value) for value in context.text(item)]
    return [scalar_argument(context, item)]


def scalar_argument(context: CallContext, item: Item) -> Argument:
    """Return the C argument of a number, pointer, dtype, device, object or part."""
    match plain(item):
        case spec.Data(tensor=tensor):
            return Argument(context.data(tensor))
        case spec.Field() as part:
            return _part(context, part)
        case spec.Var() as var:
            return Argument(context.value(var), _NARROW.get(var.dtype, ""))
        case int() | spec.Expr() as value:
            return Argument(context.value(value))
        case spec.Choice(dtype=dtype) as choice:
            return Argument(context.scalar(choice), _NARROW.get(dtype, ""))
        case param:
            return Argument(context.scalar(param))


def _part(context: CallContext, part: spec.Field) -> Argument:
    if part.part == "present":
        return Argument(context.present(part.param), _NARROW["bool"])
    return Argument(getattr(context, part.part)(part.param))


def shape_arguments(context: CallContext, shape: spec.Shape) -> list[Argument]:
    """Return the entries of a Shape that are not ints; expressions are i64."""
    return [
        Argument(value, _NARROW.get(entry.dtype, "") if isinstance(entry, spec.Var) else "")
        for entry, value in zip(shape.shape, context.entries(shape), strict=True)
        if not isinstance(entry, int)
    ]
