"""The little of MLIR's Python objects that this package and its users rely on, as types.

Every distribution has classes of its own; these Protocols fit them all, so that a provider can be
written, and checked by pyright, against none in particular.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class Type(Protocol):
    """An ``ir.Type``."""

    @property
    def context(self) -> Any: ...


class Attribute(Protocol):
    """An ``ir.Attribute``."""

    @property
    def context(self) -> Any: ...


class Value(Protocol):
    """An ``ir.Value``: the result of an operation, or a block's argument."""

    @property
    def type(self) -> Type: ...


class Block(Protocol):
    """An ``ir.Block``."""

    @property
    def arguments(self) -> Sequence[Value]: ...

    @property
    def region(self) -> Any: ...


class Operation(Protocol):
    """An ``ir.Operation``."""

    @property
    def attributes(self) -> Any: ...

    @property
    def regions(self) -> Sequence[Any]: ...

    @property
    def result(self) -> Value: ...

    @property
    def results(self) -> Sequence[Value]: ...

    @property
    def name(self) -> str: ...

    @property
    def location(self) -> Any: ...

    def verify(self) -> bool: ...

    def erase(self) -> None: ...


class Module(Protocol):
    """An ``ir.Module``."""

    @property
    def context(self) -> Any: ...

    @property
    def body(self) -> Any: ...

    @property
    def operation(self) -> Any: ...
