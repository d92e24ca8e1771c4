"""A cache of wrappers, for modules that need one that another module has.

A JIT compiles one signature over and over: an autotuner tries its configurations, a program its
shapes, a library has many kernels with equal parameters. A wrapper depends on the signature, the
location, the callee and the provider's cache key alone. The second time that one is built it is
stored as bytecode, which MLIR reads in a fraction of the time that building takes. The code
contains the function's name only if it raises errors of its own; all others serve every name.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ffi_builder.builder.helpers import define_helpers, shared_name
from ffi_builder.builder.metadata import Metadata
from ffi_builder.diagnosis.writing import Table
from ffi_builder.ir import Module, Operation, Symbols, Types, bytecode
from ffi_builder.protocol import METADATA, PREFIX, TABLE
from ffi_builder.providers.context import ModuleContext
from ffi_builder.providers.provider import Members, describe_callee

MOST: Final = 128
"""The most wrappers that are kept, of 5 to 50 KB each. The least recently used goes first."""

_PLACEHOLDER: Final = f"{PREFIX}wrapper"
_OWN_TABLE: Final = f"{PREFIX}table"

_Key: TypeAlias = "tuple[object, ...]"


@dataclass(frozen=True)
class Names:
    """The parts of a wrapper that depend on the function's name."""

    symbol: str
    """The symbol."""
    function: str
    """The name in the signature."""
    backtrace: str
    description: str
    """The metadata."""


@dataclass(frozen=True)
class _Made:
    """A module with the wrapper's table, the wrapper, and the symbols that these refer to."""

    bytecode: bytes
    helpers: frozenset[str]
    table: Table


@dataclass
class _Kept:
    """An entry of the cache; ``made`` is None until the wrapper has been built twice."""

    made: _Made | None = None
    by_name: bool = False
    """Whether the code contains the function's name: then each name has an entry of its own."""


_KEPT: Final[OrderedDict[_Key, _Kept]] = OrderedDict()


class Template:
    """The entry of one wrapper in the cache."""

    def __init__(self, key: _Key | None, name: str, provider: Members) -> None:
        self._key, self._name, self._provider = key, name, provider
        self._kept = None if key is None else _used(key)
        if key is not None and self._kept is not None and self._kept.by_name:
            self._key = (*key, name)
            self._kept = _used(self._key)

    @classmethod
    def of(
        cls, context: ModuleContext, names: Names, metadata: Metadata, provider: Members
    ) -> Template:
        """Find the template of a wrapper by everything that its code depends on."""
        symbols, own = context.symbols, provider.cache_key(context)
        if own is None:
            return cls(None, names.function, provider)
        callee = provider.callee
        found = None if callee is None else symbols.find(callee)
        place = (symbols.types.ir.__name__, str(symbols.location))
        key: _Key = (metadata, *place, own, callee, describe_callee(found))
        if not provider.trusted:  # it may emit the name, or read what the metadata does not have
            key = (*key, names.symbol, context.signature)
        try:
            hash(key)
        except TypeError:  # some field holds a list or the like
            return cls(None, names.function, provider)
        return cls(key, names.function, provider)

    def adopt(self, symbols: Symbols, names: Names) -> bool:
        """Add the wrapper from the cache; False if it is not there, or does not fit the module."""
        made = None if self._kept is None else self._kept.made
        if made is None:
            return False
        types = symbols.types
        source = types.ir.Module.parse(made.bytecode, types.context)
        table, function, *others = [operation.operation for operation in source.body.operations]
        data = made.table.named(names.function, names.backtrace)
        name = TABLE + names.function
        if not all(_fits(symbols, operation) for operation in others):
            return False  # building it renames symbols, or raises an error
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
        define_helpers(symbols, made.helpers)
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
        # The order in which ``adopt`` adds symbols, so that a module's text, and its key in the
        # compile cache, do not depend on what the process attached before.
        symbols.sort_after(function)
        if self._kept is None:
            by_name = shared_name("raise") in symbols.wanted
            _KEPT[self._key] = _Kept(by_name=by_name)
            if by_name:
                _KEPT[(*self._key, self._name)] = _Kept()
            while len(_KEPT) > MOST:
                _KEPT.popitem(last=False)
        elif self._kept.made is None and not symbols.renamed:
            code = _bytecode(symbols, function, TABLE + self._name, self._provider)
            if code is not None:
                self._kept.made = _Made(code, frozenset(symbols.wanted), table)


def _used(key: _Key) -> _Kept | None:
    """Find an entry, and make it the most recently used."""
    kept = _KEPT.get(key)
    if kept is not None:
        with suppress(KeyError):  # another thread has just removed it
            _KEPT.move_to_end(key)
    return kept


def _rename(types: Types, function: Any, names: Names) -> None:
    """Give a wrapper from the cache its name and its metadata, the last of the attributes."""
    function.attributes["sym_name"] = types.string(names.symbol)
    *flags, _ = function.attributes["passthrough"]
    pair = [types.string(METADATA), types.string(names.description)]
    array = types.ir.ArrayAttr.get
    function.attributes["passthrough"] = array([*flags, array(pair, types.context)], types.context)


def _fits(symbols: Symbols, operation: Operation) -> bool:
    """Whether the module has no other symbol of that name."""
    attributes = operation.attributes
    found = symbols.find(attributes["sym_name"].value)
    if found is None:
        return True
    name = "function_type" if operation.name == "llvm.func" else "value"
    return name in found.attributes and found.attributes[name] == attributes[name]


def _bytecode(symbols: Symbols, function: Operation, table: str, provider: Members) -> bytes | None:
    """The wrapper and the symbols that it refers to, as a module.

    None if one of them has the name of a placeholder, or if adding this module to another one would
    not do all that attaching has done.
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
    own: Any = function
    for operation, name in ((symbols.find(table), _OWN_TABLE), (own, _PLACEHOLDER)):
        copy: Any = operation
        copy.clone(end).operation.attributes["sym_name"] = types.string(name)
    types.ir.SymbolTable.replace_all_symbol_uses(table, _OWN_TABLE, module.operation)
    for name in sorted(names):
        found: Any = symbols.find(name)
        if found.name == "llvm.func" and not _is_declaration(found):
            target.declare_as(name, found.attributes["function_type"].value)
        else:
            found.clone(end)
    return bytecode(module) if provider.trusted or _verifies(module) else None


def _verifies(module: Module) -> bool:
    """Whether no attribute of an operation refers to a symbol that ``_references`` does not see."""
    try:
        return bool(module.operation.verify())
    except Exception:  # the error of the bindings, whichever they are
        return False


def _is_complete(
    symbols: Symbols, function: Operation, names: set[str], callee: str | None
) -> bool:
    """Whether attaching added no more than a wrapper, and symbols that can be copied with it.

    Helpers are added apart, and the key says what the callee is.
    """
    if not symbols.only_ours or any(len(operation.regions) for operation in _operations(function)):
        return False
    added = {symbol.attributes["sym_name"].value for symbol in symbols.added if symbol != function}
    others = (
        symbols.find(name) for name in added | names - {callee} if not name.startswith(PREFIX)
    )
    return all(other is not None and _is_declaration(other) for other in others)


def _is_declaration(symbol: Operation) -> bool:
    return symbol.name == "llvm.func" and not len(symbol.regions[0].blocks)


def _references(function: Operation) -> set[str]:
    """The symbols that a function calls or takes the address of."""
    return {
        operation.attributes[attribute].value
        for operation in _operations(function)
        for attribute in ("callee", "global_name")
        if attribute in operation.attributes
    }


def _operations(function: Operation) -> Iterator[Operation]:
    return (op.operation for block in function.regions[0].blocks for op in block.operations)
