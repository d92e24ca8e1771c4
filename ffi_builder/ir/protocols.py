"""Protocols with the few members of MLIR's Python objects that this package and providers use.

Every distribution has its own classes. The Protocols match all of them, so that pyright can check a
provider that works with any distribution.
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
    """An ``ir.Value``: a result of an operation, or an argument of a block.

    Example: see :class:`~ffi_builder.providers.CallProvider`.
    """

    @property
    def type(self) -> Type: ...


class Block(Protocol):
    """An ``ir.Block``.

    Example: see :class:`~ffi_builder.providers.CallProvider`.
    """

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
