"""Fills structs and arrays with values.

For ``!llvm.struct<(ptr<1>, struct<(i32, array<2 x i64>)>)>`` and four values::

    %inner = llvm.mlir.undef : !llvm.struct<(i32, array<2 x i64>)>
    …                                                  // insertvalue, innermost aggregates first
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ffi_builder.errors import BuildError
from ffi_builder.ir import Builder, Type, Value, aggregate_members

_POINTER: Final = re.compile(r"!llvm\.ptr(?:<(\d+)>)?")


def filled(what: str, b: Builder, struct: Type, values: Sequence[Value]) -> Value:
    """Return a struct with the values in its leaves, in order.

    A pointer is converted to the address space of its leaf.

    Args:
        what: the beginning of errors.
        b: emits the operations.
        struct: the type of the struct.
        values: a value for each leaf.

    Raises:
        BuildError: ``struct`` is not the type of a struct, or its leaves are not of the types of
            the values.
    """
    if not str(struct).startswith("!llvm.struct<"):
        raise BuildError(f"{what}: expected the type of an LLVM struct but got {struct}")
    leaves = list(_leaves(str(struct)))
    given = [str(value.type) for value in values]
    if list(map(_without_space, leaves)) != list(map(_without_space, given)):
        raise BuildError(
            f"{what}: {struct} has the members {', '.join(leaves) or 'none'}, but the values are "
            f"{', '.join(given) or 'none'}"
        )
    return _filled(b, str(struct), iter(values))


def _leaves(type_: str) -> Iterator[str]:
    members = aggregate_members(type_)
    if members is None:
        yield type_
    else:
        for member in members:
            yield from _leaves(member)


def _without_space(type_: str) -> str:
    return _POINTER.sub("!llvm.ptr", type_)


def _filled(b: Builder, type_: str, values: Iterator[Value]) -> Value:
    """Return a value of the type, made of the next values."""
    members = aggregate_members(type_)
    if members is not None:
        aggregate = b.undef(b.types.parse(type_))
        for index, member in enumerate(members):
            aggregate = b.insert(aggregate, _filled(b, member, values), index)
        return aggregate
    value, pointer = next(values), _POINTER.fullmatch(type_)
    if pointer is None or str(value.type) == type_:
        return value
    # No addrspacecast: not every backend has one between these.
    return b.to_pointer(b.to_int(value), int(pointer[1] or 0))
