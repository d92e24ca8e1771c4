"""Decodes Variants on the fast path: finds out which of their parameters came.

For ``scale: Variant(float64, Tensor([n], float32))``::

    %tensor = llvm.select (%type == 70 or %type == 7), %two, %zero
    %number = llvm.select (%type - 1 <u 3), %one, %tensor
    llvm.cond_br (%number != 0), ^ready(%number), ^moved
  ^ready(%number):
    …                                               // a branch for each parameter, as an Optional's

A moved object is looked into out of line.
"""

from __future__ import annotations

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from ffi_builder.builder.fast_path import objects
from ffi_builder.builder.fast_path.context import FastPath
from ffi_builder.builder.fast_path.scalars import accepted_index
from ffi_builder.builder.fast_path.state import VariantValues
from ffi_builder.ir import Value
from ffi_builder.plan import steps as s


def decode(fast: FastPath, step: s.DecodeVariant) -> None:
    """Require that one of the parameters came, and note which."""
    b, place = fast.b, step.place
    index, _ = objects.look(fast, place)
    number = _number(fast, index, [each.types for each in step.alternatives])
    movable = [each.movable for each in step.alternatives]
    if any(movable):

        def moved() -> Value:
            kinds = tuple(kind for kinds in movable for kind in kinds)
            inner = objects.moved_object(fast, place, kinds)
            return _number(fast, b.field(b.types.i32, inner, abi.OBJECT_TYPE_INDEX), movable)

        number = fast.usually(b.ne(number, b.i32(0)), number, moved)
    else:
        fast.require(b.ne(number, b.i32(0)))
    fast.state.records[place.position] = VariantValues(number=number)


def _number(fast: FastPath, index: Value, types: list[tuple[TypeIndex, ...]]) -> Value:
    """Return the number, from 1 on, of the parameter that a type index chooses; 0 for none."""
    b = fast.b
    chosen = b.i32(0)
    for number, accepts in reversed([*enumerate(types, 1)]):
        if accepts:
            chosen = b.select(accepted_index(fast, index, accepts), b.i32(number), chosen)
    return chosen
