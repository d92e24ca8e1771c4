"""Protocols with the few members of MLIR's Python objects that this package and providers use.

Every distribution has its own classes. The Protocols match all of them, so that pyright can check a
provider that works with any distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class Type(Protocol):
    """An ``ir.Type``.

    Examples:
        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder import ir
        >>> from ffi_builder.ir.protocols import Type
        >>> type_: Type = ir.Types(mlir, mlir.Context()).pointer(1)
        >>> print(type_)
        !llvm.ptr<1>
    """

    @property
    def context(self) -> Any: ...


class Attribute(Protocol):
    """An ``ir.Attribute``.

    Examples:
        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder import ir
        >>> from ffi_builder.ir.protocols import Attribute
        >>> types = ir.Types(mlir, mlir.Context())
        >>> linkage: Attribute = types.attribute("#llvm.linkage<internal>")
    """

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
    """An ``ir.Operation``.

    Examples:
        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder.ir.protocols import Operation
        >>> module = mlir.Module.parse("llvm.func @relu(!llvm.ptr)", mlir.Context())
        >>> operation: Operation = module.body.operations[0].operation
        >>> operation.name, operation.verify()
        ('llvm.func', True)
    """

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
    """An ``ir.Module``.

    Examples:
        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder import ir
        >>> from ffi_builder.ir.distribution import of_module
        >>> module: ir.Module = mlir.Module.parse("", mlir.Context())
        >>> of_module(module).root
        'torch_mlir'
    """

    @property
    def context(self) -> Any: ...

    @property
    def body(self) -> Any: ...

    @property
    def operation(self) -> Any: ...
