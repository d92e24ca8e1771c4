"""C arguments of items: what a tensor is passed as differs by provider, the others do not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from ffi_builder import spec
from ffi_builder.ir import Value
from ffi_builder.providers.context import CallContext
from ffi_builder.providers.items import Entry, Item, ResultPointer, items, plain
from ffi_builder.providers.results import result_pointer
from ffi_builder.records import dataclass

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


Convert: TypeAlias = Callable[[CallContext, Item], "list[Argument]"]
"""Returns the arguments that a provider passes for one item."""


def convert_items(
    provider: str, args: Sequence[Entry] | None, context: CallContext, convert: Convert
) -> list[Argument]:
    """Convert ``args=``, or every parameter; the arguments note which item they are made of.

    Raises:
        BuildError: if the signature does not have an entry of ``args=``.
    """
    arguments: list[Argument] = []
    for item in items(provider, args, context):
        of = (item,)
        arguments += [replace(argument, of=of) for argument in convert(context, item)]
    return arguments


def c_arguments(
    context: CallContext,
    item: Item,
    convert_tensor: Callable[[CallContext, spec.Tensor], list[Value]],
) -> list[Argument]:
    """Return the C arguments of an item; ``convert_tensor`` returns those of a Tensor."""
    match plain(item):
        case spec.Tensor() as tensor:
            return [Argument(value) for value in convert_tensor(context, tensor)]
        case spec.Shape() as shape:
            return shape_arguments(context, shape)
        case spec.TensorList() as tensors:
            return [Argument(value) for value in list_values(context, tensors)]
        case _:
            return scalar_arguments(context, item)


def scalar_arguments(context: CallContext, item: Item) -> list[Argument]:
    """Return the C argument of any item but a Tensor or Shape; two for a String or Bytes."""
    if isinstance(plain(item), (spec.String, spec.Bytes)):
        assert isinstance(item, (spec.String, spec.Bytes, spec.Optional))
        return [Argument(value) for value in context.text(item)]
    return [scalar_argument(context, item)]


def scalar_argument(context: CallContext, item: Item) -> Argument:
    """Return the C argument of a number, pointer, dtype, device, object or part."""
    match plain(item):
        case spec.Data() as data:
            return Argument(context.matched_var_binding[data])
        case spec.Field(param=param, part="present"):
            return Argument(context.present(param), _NARROW["bool"])
        case spec.Field() as field:
            return Argument(context.part(field))
        case spec.Var() as var:
            return Argument(context.value(var), _NARROW.get(var.dtype, ""))
        case int() | spec.Expr() as value:
            return Argument(context.value(value))
        case ResultPointer(result=result):
            return Argument(result_pointer(context, result))
        case spec.Choice(dtype=dtype) as choice:
            return Argument(context.scalar(choice), _NARROW.get(dtype, ""))
        case param:
            return Argument(context.scalar(param))


LIST_PARTS: Final = ("pointers", "shapes", "strides", "length")
"""The parts of a list of tensors, in the order in which a kernel gets them."""


def list_values(context: CallContext, tensors: spec.TensorList) -> list[Value]:
    """Return three pointers and the number of elements of a list of tensors."""
    return [context.list_part(tensors, part) for part in LIST_PARTS]


def shape_arguments(context: CallContext, shape: spec.Shape) -> list[Argument]:
    """Return the entries of a Shape that are not ints; expressions are i64."""
    return [
        Argument(value, _NARROW.get(entry.dtype, "") if isinstance(entry, spec.Var) else "")
        for entry, value in zip(shape.shape, context.entries(shape), strict=True)
        if not isinstance(entry, int)
    ]


def widened(context: CallContext, item: spec.Dim) -> Value:
    """Extend a symbol, expression or int to i64; the bits of a uint64 are kept."""
    b, value = context.builder, context.value(item)
    if value.type == b.types.i64:
        return value
    assert isinstance(item, spec.Var)
    extend = b.zext if item.dtype.startswith("u") else b.sext
    return extend(value, b.types.i64)
