"""A cache of wrappers, so that modules can share them.

A JIT compiles the same signature many times: an autotuner tries configurations, a program has many
shapes, a library many kernels with equal parameters. A wrapper depends only on the signature, the
location, the callee and the provider's cache key. When it is built for the second time, it is
stored as bytecode, which MLIR reads in a fraction of the time that building takes. Code that raises
errors itself contains the function's name, and is stored by name; other code serves every name.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final, TypeAlias

from ffi_builder import support
from ffi_builder.builder.names import is_declaration
from ffi_builder.diagnosis.writing import Table
from ffi_builder.ir import Module, Symbols, Types
from ffi_builder.ir.distribution import stored
from ffi_builder.ir.protocols import Operation
from ffi_builder.plan.sanitize import Watching
from ffi_builder.protocol import METADATA, PREFIX, SHARED, TABLE, TEXT
from ffi_builder.providers.context import ModuleContext
from ffi_builder.providers.provider import Members, describe_callee
from ffi_builder.records import dataclass
from ffi_builder.spec.metadata import MetadataText

MOST: Final = 128
"""The most wrappers in the cache, of 5 to 50 KB each; the least recently used is removed first."""

_PLACEHOLDER: Final = f"{PREFIX}wrapper"
_OWN_TABLE: Final = f"{PREFIX}table"

_Key: TypeAlias = "tuple[object, ...]"


@dataclass(frozen=True)
class Names:
    """The parts of a wrapper that depend on the function's name."""

    symbol: str
    """The name of the function in the module."""
    function: str
    """The name in the signature, which errors show."""
    backtrace: str
    description: str
    """The text of the metadata."""


_BY_NAME: Final = "by name"
"""Stands for code that contains the function's name. Then each name has a key of its own."""

_KEPT: Final[OrderedDict[_Key, tuple[Any, Table] | str | None]] = OrderedDict()
"""Modules as :func:`~ffi_builder.ir.distribution.stored` returns them, with their tables.

A module has the wrapper, its table, and the symbols that it refers to. None stands for a wrapper
that has been built once.
"""


class Template:
    """The entry of one wrapper in the cache."""

    def __init__(self, key: _Key | None, name: str, provider: Members) -> None:
        self._key, self._name, self._provider = key, name, provider
        self._kept = None if key is None else _used(key)
        self._by_name = self._kept == _BY_NAME
        if key is not None and self._by_name:
            self._key = (*key, name)
            self._kept = _used(self._key)

    @classmethod
    def of(
        cls,
        context: ModuleContext,
        names: Names,
        metadata: MetadataText,
        provider: Members,
        watching: Watching | None,
    ) -> Template:
        """Find the entry for a wrapper, by everything that its code depends on."""
        symbols, own = context.symbols, provider.cache_key(context)
        # Functions that set memory to 0 on a GPU are not stored with a wrapper.
        if own is None or any(w.zero and w.device != "cpu" for w in context.signature.workspaces):
            return cls(None, names.function, provider)
        callee = provider.callee
        operation = None if callee is None else symbols.find(callee)
        place = (symbols.types.ir.__name__, str(symbols.location))
        key: _Key = (metadata, *place, own, callee, describe_callee(operation), watching)
        if not provider.trusted:  # it may emit the name, or read more than the metadata has
            key = (*key, names.symbol, context.signature)
        try:
            hash(key)
        except TypeError:  # a field is not hashable
            return cls(None, names.function, provider)
        return cls(key, names.function, provider)

    def adopt(self, symbols: Symbols, names: Names) -> bool:
        """Add the wrapper from the cache.

        Returns False if the cache has no such wrapper, or if it does not fit the module.
        """
        if not isinstance(self._kept, tuple):
            return False
        module, made = self._kept
        types = symbols.types
        source = types.ir.Module.parse(module, types.context)
        table, function, *others = [operation.operation for operation in source.body.operations]
        data = made.named(names.function, names.backtrace)
        name = TABLE + names.function
        if not all(_fits(symbols, operation) for operation in others):
            return False  # building the wrapper then renames symbols, or raises an error
        if not symbols.has_constant(name, data):
            if name in symbols:
                return False
            own = {"sym_name": types.string(name), **types.of_bytes(data)}
            for attribute, value in own.items():
                table.attributes[attribute] = value
            symbols.take(name, table)
        types.ir.SymbolTable.replace_all_symbol_uses(_OWN_TABLE, name, source.operation)
        _rename(types, function, names)
        symbols.take(names.symbol, function)
        for operation in others:
            symbol = operation.attributes["sym_name"].value
            if symbol not in symbols:
                symbols.take(symbol, operation)
        symbols.sort_after(function)
        return True

    def keep(self, symbols: Symbols, function: Operation, table: Table) -> None:
        """Note that this wrapper was built; the second time, store it."""
        if self._key is None:
            return
        # The same order as in ``adopt``, so that a module's text, and its key in the compile cache,
        # do not depend on what the process attached before.
        symbols.sort_after(function)
        if self._key not in _KEPT:
            if not self._by_name and _raises(symbols, function):
                _KEPT[self._key] = _BY_NAME
                self._key = (*self._key, self._name)
            _KEPT[self._key] = None
            while len(_KEPT) > MOST:
                _KEPT.popitem(last=False)
        elif self._kept is None and not symbols.renamed:
            code = _stored(symbols, function, TABLE + self._name, self._provider)
            if code is not None:
                _KEPT[self._key] = code, table


def _used(key: _Key) -> tuple[Any, Table] | str | None:
    """Find an entry, and make it the most recently used."""
    with suppress(KeyError):  # another thread may just have removed it
        _KEPT.move_to_end(key)
    return _KEPT.get(key)


def _rename(types: Types, function: Any, names: Names) -> None:
    """Set the name and the metadata (the last passthrough pair) of a wrapper from the cache."""
    function.attributes["sym_name"] = types.string(names.symbol)
    *flags, _ = function.attributes["passthrough"]
    pair = [types.string(METADATA), types.string(names.description)]
    array = types.ir.ArrayAttr.get
    function.attributes["passthrough"] = array([*flags, array(pair, types.context)], types.context)


def _fits(symbols: Symbols, operation: Operation) -> bool:
    """Return whether the operation's name is free, or its symbol is equal to the operation."""
    attributes = operation.attributes
    symbol = symbols.find(attributes["sym_name"].value)
    if symbol is None:
        return True
    name = "function_type" if operation.name == "llvm.func" else "value"
    return name in symbol.attributes and symbol.attributes[name] == attributes[name]


def _stored(symbols: Symbols, function: Operation, table: str, provider: Members) -> Any:
    """Return a stored module with the wrapper and the symbols that it refers to.

    Returns None if one of the symbols has the name of a placeholder, or if the stored module would
    lack something that attaching added.
    """
    names = _references(function) - {table}
    if any(name.startswith((_OWN_TABLE, _PLACEHOLDER)) for name in names):
        return None
    if not provider.trusted and not _is_complete(symbols, function, names, provider.callee):
        return None
    types = symbols.types
    unknown = types.ir.Location.unknown(types.context)
    module = types.ir.Module.create(unknown)
    end = types.ir.InsertionPoint(module.body)
    target = Symbols(types, module, unknown)
    originals: list[tuple[Any, str]] = [
        (symbols.find(table), _OWN_TABLE),
        (function, _PLACEHOLDER),
    ]
    for operation, name in originals:
        operation.clone(end).operation.attributes["sym_name"] = types.string(name)
    types.ir.SymbolTable.replace_all_symbol_uses(table, _OWN_TABLE, module.operation)
    for name in sorted(names):
        symbol: Any = symbols.find(name)
        if symbol.name == "llvm.func" and not is_declaration(symbol):
            target.declare_as(name, symbol.attributes["function_type"].value)
        else:
            symbol.clone(end)
    return stored(module) if provider.trusted or _verifies(module) else None


def _verifies(module: Module) -> bool:
    """Return whether a module verifies; it would not if ``_references`` missed a symbol."""
    try:
        return bool(module.operation.verify())
    except Exception:  # each distribution's bindings have their own class of exception
        return False


def _is_complete(
    symbols: Symbols, function: Operation, names: set[str], callee: str | None
) -> bool:
    """Return whether attaching added only a wrapper, and declarations that can be copied with it.

    The key describes the callee.
    """
    if not symbols.only_ours or any(len(operation.regions) for operation in _operations(function)):
        return False
    added = {symbol.attributes["sym_name"].value for symbol in symbols.added if symbol != function}
    others = (
        symbols.find(name)
        for name in added | names - {callee}
        if not name.startswith((SHARED, TABLE, TEXT))
    )
    return all(other is not None and is_declaration(other) for other in others)


def _raises(symbols: Symbols, function: Operation) -> bool:
    """Return whether the code raises errors itself. Few modules declare the functions for that."""
    symbol = support.symbol("raise")
    return symbol in symbols and symbol in _references(function)


def _references(function: Operation) -> set[str]:
    """Return the symbols that a function calls or takes the address of."""
    return {
        operation.attributes[attribute].value
        for operation in _operations(function)
        for attribute in ("callee", "global_name")
        if attribute in operation.attributes
    }


def _operations(function: Operation) -> Iterator[Operation]:
    return (op.operation for block in function.regions[0].blocks for op in block.operations)
