"""The symbols of one module: what is declared, defined, and free to use as a name."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from ffi_builder.errors import BuildError
from ffi_builder.ir.protocols import Attribute, Module, Operation, Type
from ffi_builder.ir.types import Types
from ffi_builder.protocol import TEXT


class Symbols:
    """Adds declarations, globals and functions to a module, and can take back all it added."""

    def __init__(self, types: Types, module: Module, location: Any) -> None:
        self.types = types
        self.module = module
        self.location = location
        self._before = types.ir.SymbolTable(module.operation)
        self._table = self._before
        operations = module.body.operations
        self._size = len(operations)
        self._last = operations[self._size - 1].operation if self._size else None
        self._end = types.ir.InsertionPoint(module.body)
        self.added: list[Operation] = []
        self._added_names: dict[str, Operation] = {}
        self._texts: dict[bytes, str] = {}
        self.renamed = False
        """Whether a name was taken, so that something got another one."""
        self.wanted: set[str] = set()
        """What is referred to already and has to be defined yet."""

    def __contains__(self, name: str) -> bool:
        return name in self._added_names or name in self._table

    def find(self, name: str) -> Operation | None:
        """The operation that defines or declares a symbol."""
        if name in self._added_names:
            return self._added_names[name]
        return self._table[name].operation if name in self._table else None

    @property
    def only_ours(self) -> bool:
        """Whether nothing was added to the module in other ways than through this object."""
        return len(self.module.body.operations) == self._size + len(self.added)

    def refresh(self) -> None:
        """See what was added to the module in other ways than through this object."""
        self._table = self.types.ir.SymbolTable(self.module.operation)

    def unique(self, base: str) -> str:
        """``base``, or with a number behind it if a symbol has that name."""
        name, number = base, 0
        while name in self:
            number += 1
            name = f"{base}_{number}"
        self.renamed |= number > 0
        return name

    def function(
        self,
        name: str,
        result: Type,
        parameters: Sequence[Type],
        attributes: dict[str, Attribute] | None = None,
        *,
        body: bool = False,
    ) -> Operation:
        """Add an ``llvm.func``: a declaration, or with ``body`` a function with an entry block.

        Raises:
            BuildError: if the module has a symbol of that name.
        """
        found = self.find(name)
        if found is not None:
            raise BuildError(f"the module has a symbol @{name} already: {describe(found)}")
        operation = self._function(name, self.types.function(result, parameters), attributes or {})
        if body:
            locations = [self.location] * len(parameters)
            operation.regions[0].blocks.append(*parameters, arg_locs=locations)
        return operation

    def _function(self, name: str, type_: Type, attributes: dict[str, Attribute]) -> Operation:
        types = self.types
        every = {
            "sym_name": types.string(name),
            "function_type": types.type_attribute(str(type_)),
            "linkage": types.attribute("#llvm.linkage<external>"),
            **attributes,
        }
        operation = types.ir.Operation.create(
            "llvm.func", attributes=every, regions=1, loc=self.location, ip=self._end
        )
        return self._add(name, operation)

    def declare(
        self,
        name: str,
        result: Type,
        parameters: Sequence[Type],
        attributes: dict[str, Attribute] | None = None,
    ) -> Operation:
        """The function of that name: the one that is there, or a declaration.

        Raises:
            BuildError: if the symbol is there with another type.
        """
        return self.declare_as(name, self.types.function(result, parameters), attributes)

    def declare_as(
        self, name: str, type_: Type, attributes: dict[str, Attribute] | None = None
    ) -> Operation:
        """:meth:`declare`, with the function type as a whole (for variadic functions)."""
        found = self.find(name)
        if found is None:
            return self._function(name, type_, attributes or {})
        if found.name != "llvm.func" or found.attributes["function_type"].value != type_:
            raise BuildError(
                f"symbol @{name} is needed as {type_} but the module has {describe(found)}"
            )
        return found

    def text(self, data: bytes, *, align: int | None = None) -> str:
        """The name of a private constant with these bytes, added if it is new."""
        if data not in self._texts:
            # Named by what it holds, so that the next wrapper finds it.
            base = f"{TEXT}{hashlib.sha256(data).hexdigest()[:8]}"
            if self.has_constant(base, data):
                self._texts[data] = base
            else:
                self._texts[data] = self.constant(base, data, align=align)
        return self._texts[data]

    def named(self, base: str, data: bytes) -> str:
        """The name of a private constant: ``base``, if it is free or has these bytes already."""
        return base if self.has_constant(base, data) else self.constant(base, data)

    def has_constant(self, name: str, data: bytes) -> bool:
        """Whether the constant of that name is there, and has these bytes."""
        found = self.find(name)
        return found is not None and self._is_constant(found, data)

    def _is_constant(self, operation: Operation, data: bytes) -> bool:
        return (
            operation.name == "llvm.mlir.global"
            and "constant" in operation.attributes
            and "value" in operation.attributes
            and operation.attributes["value"] == self.types.string(data)
        )

    def constant(self, base: str, data: bytes, *, align: int | None = None) -> str:
        """Add a private constant array of bytes, and return its name (made unique)."""
        types = self.types
        fixed = {
            "constant": types.attribute("unit"),
            # Where it stands says nothing, so equal ones may be merged; and no object names it.
            "unnamed_addr": types.int_attribute(64, 2),
            "linkage": types.attribute("#llvm.linkage<private>"),
        }
        return self._bytes(base, data, align, fixed)

    def variable(self, base: str, data: bytes, *, align: int | None = None) -> str:
        """Add an internal variable of these bytes at first, and return its name (made unique)."""
        fixed = {"linkage": self.types.attribute("#llvm.linkage<internal>")}
        return self._bytes(base, data, align, fixed)

    def destructor(self, function: str) -> None:
        """Have a function without arguments and result called when the code is unloaded."""
        types = self.types
        attributes = {
            "dtors": types.attribute(f"[@{function}]"),
            "priorities": types.attribute("[65535 : i32]"),
            "data": types.attribute("[#llvm.zero]"),
        }
        types.ir.Operation.create(
            "llvm.mlir.global_dtors", attributes=attributes, loc=self.location, ip=self._end
        )
        # It has no name to be found by, and counts as if it had been there.
        self._size += 1

    def _bytes(self, base: str, data: bytes, align: int | None, more: dict[str, Attribute]) -> str:
        types = self.types
        name = self.unique(base)
        attributes = {
            "sym_name": types.string(name),
            **types.of_bytes(data),
            "addr_space": types.int_attribute(32, 0),
            **more,
        }
        if align:
            attributes["alignment"] = types.int_attribute(64, align)
        operation = types.ir.Operation.create(
            "llvm.mlir.global", attributes=attributes, regions=1, loc=self.location, ip=self._end
        )
        self._add(name, operation)
        return name

    def adopt(self, bytecode: bytes) -> None:
        """Add the symbols of a module given as bytecode, but for those that are there already.

        Raises:
            BuildError: if one is there with another type.
        """
        source = self.types.ir.Module.parse(bytecode, self.types.context)
        for operation in list(source.body.operations):
            attributes = operation.operation.attributes
            name = attributes["sym_name"].value
            if name in self:
                if "function_type" in attributes:
                    self.declare_as(name, attributes["function_type"].value)
            else:
                self.take(name, operation.operation)

    def take(self, name: str, operation: Any) -> None:
        """Move a symbol, which has this name, here from another module of the same context."""
        self._end.insert(operation.detach_from_parent())
        self._add(name, operation)

    def sort_behind(self, operation: Operation) -> None:
        """Order by name what was added behind an operation, which was added itself."""
        first = self.added.index(operation) + 1
        behind = sorted(self.added[first:], key=lambda added: added.attributes["sym_name"].value)
        if behind != self.added[first:]:
            self.added[first:] = behind
            for added in behind:
                own: Any = added
                self._end.insert(own.detach_from_parent())

    def undo(self) -> None:
        """Take out every symbol that was not in the module at first, whoever added it.

        Also what has no name, or one that was there already, if it stands behind what was there.
        """
        behind = self._last is None
        for operation in list(self.module.body.operations):
            attributes = operation.operation.attributes
            name = getattr(attributes["sym_name"], "value", None) if "sym_name" in attributes else 0
            added = behind or (isinstance(name, str) and name not in self._before)
            behind = behind or operation.operation == self._last
            if added:
                operation.operation.erase()
        self._table = self._before
        self.added.clear()
        self._added_names.clear()
        self._texts.clear()

    def _add(self, name: str, operation: Operation) -> Operation:
        self.added.append(operation)
        self._added_names[name] = operation
        return operation


def describe(operation: Operation) -> str:
    """What a symbol is, for messages: its kind, and its type if it is a function."""
    if "function_type" in operation.attributes:
        return f"{operation.name} of type {operation.attributes['function_type']}"
    return operation.name


def function_parts(operation: Operation) -> tuple[str, tuple[str, ...]]:
    """The result and parameter types of an ``llvm.func``, as text; no result is ``!llvm.void``."""
    return _function_parts(str(operation.attributes["function_type"]))


@cache
def _function_parts(text: str) -> tuple[str, tuple[str, ...]]:
    match = re.fullmatch(r"!llvm\.func<(.*)>", text, re.DOTALL)
    assert match is not None, text
    inner = match[1]
    depth, start = 0, 0
    # The parameter list is the last bracketed group; result types may hold brackets themselves.
    for index in range(len(inner) - 1, -1, -1):
        depth += (inner[index] == ")") - (inner[index] == "(")
        if depth == 0:
            start = index
            break
    parameters = tuple(_full(part) for part in _split(inner[start + 1 : -1]))
    return _full(inner[:start].strip()), parameters


def _split(text: str) -> list[str]:
    """Split at the commas that are not inside brackets."""
    parts: list[str] = []
    depth = 0
    current = ""
    for character in text:
        depth += (character in "(<[") - (character in ")>]")
        if character == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += character
    return [*parts, current.strip()] if current.strip() else parts


def _full(text: str) -> str:
    """A type inside an LLVM type, written as it is outside: ``ptr`` is ``!llvm.ptr``."""
    return f"!llvm.{text}" if re.match(r"(ptr|struct|array|void|vec|target|func)\b", text) else text
