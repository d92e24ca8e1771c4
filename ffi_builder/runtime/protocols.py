"""Protocols for the parts of MLIR's Python bindings, llvmlite and signatures that `runtime` uses.

The type annotations of the first two do not suffice. The parts of MLIR are the same in every
distribution.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, runtime_checkable


class NamedAttribute(Protocol):
    """`ir.NamedAttribute`."""

    name: str
    attr: object


class Attributes(Protocol):
    """`ir.OpAttributeMap`."""

    def __len__(self) -> int: ...
    def __getitem__(self, key: Any) -> Any: ...
    def __setitem__(self, key: str, value: object) -> None: ...
    def __contains__(self, key: str) -> bool: ...


class Block(Protocol):
    """`ir.Block`."""

    operations: Sequence[OpView]

    def append(self, operation: object) -> None: ...


class Region(Protocol):
    """`ir.Region`."""

    blocks: Sequence[Block]


class Value(Protocol):
    """`ir.Value`."""

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
    def erase(self) -> None: ...
    def verify(self) -> bool: ...
    def get_asm(self, **options: object) -> str: ...
    def write_bytecode(self, file: object) -> None: ...


class OpView(Protocol):
    """`ir.OpView`: an operation seen through its class."""

    operation: Operation
    name: str
    attributes: Attributes


class Module(Protocol):
    """`ir.Module`."""

    operation: Operation
    context: Any
    body: Block


class LlvmValue(Protocol):
    """llvmlite's `ValueRef`, of a function or a global variable."""

    name: str
    linkage: Any
    is_declaration: bool
    attributes: Iterable[bytes]


class LlvmModule(Protocol):
    """llvmlite's `ModuleRef`."""

    triple: str
    data_layout: str
    functions: Iterable[LlvmValue]
    global_variables: Iterable[LlvmValue]

    def verify(self) -> None: ...


class TargetMachine(Protocol):
    """llvmlite's `TargetMachine`."""

    triple: str
    target_data: object

    def emit_object(self, module: LlvmModule) -> bytes: ...
    def emit_assembly(self, module: LlvmModule) -> str: ...


class Signature(Protocol):
    """`spec.Signature`, or anything else that describes a function."""

    @property
    def name(self) -> str: ...

    def metadata(self, *, borrows_tensors: bool = False) -> str: ...


def named_attributes(operation: Operation) -> Iterable[NamedAttribute]:
    """Return the attributes of `operation`.

    Iterating over them yields names in new bindings and pairs in old ones. Indexing returns pairs
    in all.
    """
    attributes = operation.attributes
    return (attributes[index] for index in range(len(attributes)))


@runtime_checkable
class PlainModule(Protocol):
    """`ffi_builder.ir.PlainModule`: a module that needs no MLIR, and writes LLVM IR itself."""

    @property
    def operation(self) -> Any: ...
    def clone(self) -> PlainModule: ...
    def llvm_ir(self) -> str: ...


class Report(Protocol):
    """What was compared with the kernels of a module."""

    def shown(self, functions: Iterable[str]) -> str:
        """Return the names of functions, and what was compared of them."""
        ...

    def explain(self) -> str:
        """Return what calls check, and what each parameter of the kernels gets."""
        ...
