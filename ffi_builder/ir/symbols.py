"""The symbols of a module: lookup, unique names, declarations and definitions."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from ffi_builder.errors import BuildError
from ffi_builder.ir.protocols import Attribute, Module, Operation, Type
from ffi_builder.ir.types import Types
from ffi_builder.protocol import TEXT
from ffi_builder.suggest import did_you_mean

FUNCTIONS: Final = ("func.func", "llvm.func")
"""The operations that are kernels, before and after lowering."""


class Symbols:
    """Adds declarations, globals and functions to a module, and can remove all of them again.

    Examples:
        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder import ir
        >>> from ffi_builder.ir.distribution import of_module
        >>> module = mlir.Module.parse("llvm.func @relu(!llvm.ptr)", mlir.Context())
        >>> types = ir.Types(of_module(module).ir, module.context)
        >>> symbols = ir.Symbols(types, module, mlir.Location.unknown(module.context))
        >>> operation = symbols.declare("malloc", types.ptr, [types.i64])
        >>> "malloc" in symbols, symbols.unique("relu")
        (True, 'relu_1')
        >>> symbols.undo()
        >>> print(module)
        module {
          llvm.func @relu(!llvm.ptr)
        }
    """

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
        # Only a PlainModule knows the types of functions that are linked later.
        self._linked: Any = getattr(module, "linked", None)
        self.renamed = False
        """Whether a symbol got another name because the requested one was taken."""

    def __contains__(self, name: str) -> bool:
        return name in self._added_names or name in self._table

    def find(self, name: str) -> Operation | None:
        """Return the operation that defines or declares a symbol, or None.

        A function that is linked later, and whose types the module knows, is declared.
        """
        if name in self._added_names:
            return self._added_names[name]
        if name in self._table:
            return self._table[name].operation
        known = None if self._linked is None else self._linked(name)
        if known is None:
            return None
        result, parameters = known
        type_ = self.types.function(self.types.parse(result), [*map(self.types.parse, parameters)])
        return self._function(name, type_, {})

    def has_added(self, name: str) -> bool:
        """Return whether a symbol was added through this object."""
        return name in self._added_names

    @property
    def only_ours(self) -> bool:
        """Whether all additions to the module were made through this object."""
        return len(self.module.body.operations) == self._size + len(self.added)

    def refresh(self) -> None:
        """Look up symbols that were added to the module without this object."""
        self._table = self.types.ir.SymbolTable(self.module.operation)

    def unique(self, base: str) -> str:
        """Return ``base``, with a number appended if a symbol has that name."""
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
            BuildError: the module has a symbol of that name.
        """
        symbol = self.find(name)
        if symbol is not None:
            raise BuildError(f"the module has a symbol @{name} already: {describe(symbol)}")
        type_ = self.types.function(result, parameters)
        location = self.location if body else None
        operation = self._function(name, type_, attributes or {}, location)
        if body:
            locations = [self.location] * len(parameters)
            operation.regions[0].blocks.append(*parameters, arg_locs=locations)
        return operation

    def _function(
        self, name: str, type_: Type, attributes: dict[str, Attribute], location: Any = None
    ) -> Operation:
        """Add a function. A declaration has no location: LLVM refuses debug information there."""
        types = self.types
        location = location or types.ir.Location.unknown(types.context)
        every = {
            "sym_name": types.string(name),
            "function_type": types.type_attribute(str(type_)),
            "linkage": types.attribute("#llvm.linkage<external>"),
            **attributes,
        }
        operation = types.ir.Operation.create(
            "llvm.func", attributes=every, regions=1, loc=location, ip=self._end
        )
        return self._add(name, operation)

    def declare(
        self,
        name: str,
        result: Type,
        parameters: Sequence[Type],
        attributes: dict[str, Attribute] | None = None,
    ) -> Operation:
        """Return the function of that name, and declare it if the module does not have it.

        Raises:
            BuildError: the module has the symbol with another type.
        """
        return self.declare_as(name, self.types.function(result, parameters), attributes)

    def declare_as(
        self, name: str, type_: Type, attributes: dict[str, Attribute] | None = None
    ) -> Operation:
        """Like :meth:`declare`, with the function type as a whole (for variadic functions)."""
        symbol = self.find(name)
        if symbol is None:
            return self._function(name, type_, attributes or {})
        if symbol.name != "llvm.func" or symbol.attributes["function_type"].value != type_:
            raise BuildError(
                f"symbol @{name} is needed as {type_} but the module has {describe(symbol)}"
            )
        return symbol

    def text(self, data: bytes, *, align: int | None = None) -> str:
        """Return the name of a private constant with these bytes, and add it if it is new."""
        if data not in self._texts:
            # The name depends on the bytes, so that the next wrapper finds the constant.
            base = f"{TEXT}{hashlib.sha256(data).hexdigest()[:8]}"
            self._texts[data] = self.named(base, data, align=align)
        return self._texts[data]

    def named(self, base: str, data: bytes, *, align: int | None = None) -> str:
        """Return the name of a private constant with these bytes: ``base`` unless it is taken."""
        return base if self.has_constant(base, data) else self.constant(base, data, align=align)

    def has_constant(self, name: str, data: bytes) -> bool:
        """Return whether the module has a constant of that name with these bytes."""
        symbol = self.find(name)
        return (
            symbol is not None
            and symbol.name == "llvm.mlir.global"
            and "constant" in symbol.attributes
            and "value" in symbol.attributes
            and symbol.attributes["value"] == self.types.string(data)
        )

    def constant(
        self, base: str, data: bytes, *, align: int | None = None, keep_name: bool = False
    ) -> str:
        """Add a private constant array of bytes, and return its name (made unique).

        With ``keep_name`` it is internal: libraries have its symbol.
        """
        types = self.types
        fixed = {
            "constant": types.attribute("unit"),
            "linkage": types.attribute(f"#llvm.linkage<{'internal' if keep_name else 'private'}>"),
        }
        if not keep_name:
            # 2 is Global: the address has no meaning, so that LLVM may merge equal constants.
            fixed["unnamed_addr"] = types.int_attribute(64, 2)
        return self._bytes(base, data, align, fixed)

    def variable(self, base: str, data: bytes, *, align: int | None = None) -> str:
        """Add an internal variable with these initial bytes, and return its name (made unique)."""
        fixed = {"linkage": self.types.attribute("#llvm.linkage<internal>")}
        return self._bytes(base, data, align, fixed)

    def shared_variable(self, name: str, data: bytes, *, align: int | None = None) -> None:
        """Add a variable of exactly this name, which all objects of a library share."""
        self._bytes(name, data, align, {"linkage": self.types.attribute("#llvm.linkage<weak>")})

    def destructor(self, function: str) -> None:
        """Call a ``void ()`` function when the code is unloaded."""
        types = self.types
        attributes = {
            "dtors": types.attribute(f"[@{function}]"),
            "priorities": types.attribute("[65535 : i32]"),
            "data": types.attribute("[#llvm.zero]"),
        }
        types.ir.Operation.create(
            "llvm.mlir.global_dtors", attributes=attributes, loc=self.location, ip=self._end
        )
        # The operation has no symbol, so `added` cannot hold it: count it as an original one.
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

    def take(self, name: str, operation: Any) -> None:
        """Move the symbol of this name from another module of the same context to this one."""
        self._end.insert(operation.detach_from_parent())
        self._add(name, operation)

    def sort_after(self, operation: Operation) -> None:
        """Sort by name the symbols that were added after ``operation``."""
        first = self.added.index(operation) + 1
        ordered = sorted(self.added[first:], key=lambda added: added.attributes["sym_name"].value)
        if ordered != self.added[first:]:
            self.added[first:] = ordered
            for added in ordered:
                own: Any = added
                self._end.insert(own.detach_from_parent())

    def undo(self) -> None:
        """Erase every symbol that was not in the module at first, no matter what added it.

        Also erases operations after the module's original last one that have no name, or a name
        that was there already.
        """
        is_after = self._last is None
        for operation in list(self.module.body.operations):
            attributes = operation.operation.attributes
            name = getattr(attributes["sym_name"], "value", None) if "sym_name" in attributes else 0
            added = is_after or (isinstance(name, str) and name not in self._before)
            is_after = is_after or operation.operation == self._last
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


def function_names(module: Module) -> list[str]:
    """Return the names of the functions of a module."""
    views = [view.operation for view in module.body.operations]
    return [str(view.attributes["sym_name"].value) for view in views if view.name in FUNCTIONS]


def misspelt(symbols: Symbols, name: str) -> str:
    """Return a question for an error, if a function was only declared here, and one is alike.

    It is empty otherwise, as what calls a function may be linked with what defines it.
    """
    if not symbols.has_added(name):
        return ""
    names = (each for each in function_names(symbols.module) if not symbols.has_added(each))
    meant = did_you_mean(name, names, "@{}")
    return meant and f"the module has no @{name}{meant} "


def describe(operation: Operation) -> str:
    """Describe a symbol for messages: the operation, and the type of a function.

    Examples:
        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder.ir.symbols import describe
        >>> module = mlir.Module.parse("llvm.func @relu(!llvm.ptr, i64)", mlir.Context())
        >>> describe(module.body.operations[0])
        'llvm.func of type !llvm.func<void (ptr, i64)>'
    """
    if "function_type" in operation.attributes:
        return f"{operation.name} of type {operation.attributes['function_type']}"
    return operation.name


def function_parts(operation: Operation) -> tuple[str, tuple[str, ...]]:
    """Return the result type, maybe ``!llvm.void``, and the parameter types of an ``llvm.func``.

    Examples:
        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder.ir.symbols import function_parts
        >>> module = mlir.Module.parse("llvm.func @relu(!llvm.ptr, i64)", mlir.Context())
        >>> result, parameters = function_parts(module.body.operations[0])
        >>> print(result, *parameters)
        !llvm.void !llvm.ptr i64
    """
    return split_function_type(str(operation.attributes["function_type"]))


@cache
def split_function_type(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the result type and the parameter types in the text of a function type.

    Examples:
        >>> from ffi_builder.ir.symbols import split_function_type
        >>> split_function_type("!llvm.func<ptr (i64, ...)>")
        ('!llvm.ptr', ('i64', '...'))
    """
    match = re.fullmatch(r"!llvm\.func<(.*)>", text, re.DOTALL)
    assert match is not None, text
    inner = match[1]
    depth, start = 0, 0
    # The parameters are the last group in brackets; the result may have brackets too.
    for index in range(len(inner) - 1, -1, -1):
        depth += (inner[index] == ")") - (inner[index] == "(")
        if depth == 0:
            start = index
            break
    parameters = tuple(_full(part) for part in split_at_commas(inner[start + 1 : -1]))
    return _full(inner[:start].strip()), parameters


def aggregate_members(text: str) -> tuple[str, ...] | None:
    """Return the types of the members of an LLVM struct or array; None for another type.

    Examples:
        >>> from ffi_builder.ir.symbols import aggregate_members
        >>> aggregate_members("!llvm.struct<(ptr, struct<(i64, i32)>)>")
        ('!llvm.ptr', '!llvm.struct<(i64, i32)>')
    """
    struct = re.fullmatch(r'!llvm\.struct<(?:"[^"]*", )?(?:packed )?\((.*)\)>', text, re.DOTALL)
    if struct is not None:
        return tuple(map(_full, split_at_commas(struct[1])))
    array = re.fullmatch(r"!llvm\.array<(\d+) x (.*)>", text, re.DOTALL)
    return None if array is None else (_full(array[2]),) * int(array[1])


def split_at_commas(text: str) -> list[str]:
    """Split a text at commas outside brackets.

    Examples:
        >>> from ffi_builder.ir.symbols import split_at_commas
        >>> split_at_commas("ptr, struct<(i64, i32)>")
        ['ptr', 'struct<(i64, i32)>']
    """
    parts: list[str] = []
    depth = 0
    current = ""
    for character in text:
        depth += (character in "(<[{") - (character in ")>]}")
        if character == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += character
    return [*parts, current.strip()] if current.strip() else parts


def _full(text: str) -> str:
    """Return the full text of a type inside an LLVM type: ``!llvm.ptr`` for ``ptr``."""
    return f"!llvm.{text}" if re.match(r"(ptr|struct|array|void|vec|target|func)\b", text) else text
