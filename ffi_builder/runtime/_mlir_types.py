"""The part of MLIR's Python bindings that `runtime` uses, the same in every distribution."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol


class NamedAttribute(Protocol):
    name: str
    attr: object


class Attributes(Protocol):
    def __len__(self) -> int: ...
    def __getitem__(self, key: Any) -> Any: ...
    def __setitem__(self, key: str, value: object) -> None: ...
    def __contains__(self, key: str) -> bool: ...


class Block(Protocol):
    operations: Sequence[OpView]

    def append(self, operation: object) -> None: ...


class Region(Protocol):
    blocks: Sequence[Block]


class Value(Protocol):
    type: object
    owner: Any


class Operation(Protocol):
    """`ir.Operation`."""

    name: str
    context: Any
    location: object
    attributes: Attributes
    regions: Sequence[Region]
    operands: Sequence[Value]
    results: Sequence[Value]
    successors: Sequence[Block]

    def clone(self) -> Any: ...
    def verify(self) -> bool: ...
    def walk(self, callback: Callable[[Operation], object]) -> None: ...
    def get_asm(self, **options: object) -> str: ...


class OpView(Protocol):
    operation: Operation


class Module(Protocol):
    """`ir.Module`."""

    operation: Operation
    context: Any
    body: Block


def named_attributes(operation: Operation) -> Iterable[NamedAttribute]:
    """The attributes of `operation`. (Iterating gives names in new bindings and pairs in old ones; indexing is stable.)"""
    attributes = operation.attributes
    return (attributes[index] for index in range(len(attributes)))
