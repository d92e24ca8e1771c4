"""Wrappers that were made before, for modules that need the same again.

A JIT compiles one signature over and over: an autotuner tries its configurations, a program its
shapes, a library has many kernels that take the same. What attaching adds depends on the signature,
the provider, the callee's type and the location alone, so from the second time on it is kept as
bytecode, which MLIR reads in a fraction of the time that building it takes. The function's name is
not in the code but where the wrapper raises errors of its own: all others serve every name.
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any, Final, TypeAlias, cast

from ffi_builder import spec
from ffi_builder.builder.helpers import define_helpers, shared_name
from ffi_builder.builder.metadata import ATTRIBUTE as METADATA
from ffi_builder.builder.metadata import Metadata
from ffi_builder.diagnosis.table import Table
from ffi_builder.ir import Operation, Symbols, Types, bytecode
from ffi_builder.protocol import MEMREF_TYPES
from ffi_builder.providers.context import CallProvider
from ffi_builder.providers.memref import C_INTERFACE, MemRefCallProvider
from ffi_builder.providers.nested import NestedTensorCallProvider
from ffi_builder.providers.packing import DynamicParamPackCallProvider
from ffi_builder.providers.simple import DirectCallProvider, NopCallProvider
from ffi_builder.providers.status import CheckStatus

MOST: Final = 128
"""How many are kept, of some 5 to 50 KB; those that were not used for longest go first."""

TABLE: Final = "__ffi_builder_table_"
"""Followed by the name in the signature."""

_RESERVED: Final = "__ffi_builder_"
"""What placeholders begin with; a callee of such a name would be taken for one."""
_PLACEHOLDER: Final = "__ffi_builder_wrapper"
_OWN_TABLE: Final = "__ffi_builder_table"
_PURE: Final = (
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
    NestedTensorCallProvider,
)
"""What these emit depends on what they are equal by and on their callee; not so subclasses."""
_ENTRIES: Final = (str, int, spec.Data, spec.Field, spec.Expr, *spec.PARAM_TYPES)

_Key: TypeAlias = "tuple[object, ...]"


@dataclass(frozen=True)
class Names:
    """What depends on the name of a function."""

    symbol: str
    """What it is defined as."""
    function: str
    """The name in the signature."""
    backtrace: str
    description: str
    """Its metadata."""


@dataclass(frozen=True)
class _Made:
    """A wrapper: its table, its function, then what these refer to."""

    bytecode: bytes
    helpers: frozenset[str]
    table: Table


@dataclass
class _Kept:
    """``made`` is None at the first sight of what it is for."""

    made: _Made | None = None
    by_name: bool = False
    """Whether the code has the function's name in it: then there is one of these for each name."""


_KEPT: Final[OrderedDict[_Key, _Kept]] = OrderedDict()


class Template:
    """The place of one wrapper among those that are kept."""

    def __init__(self, key: _Key | None, name: str) -> None:
        self._key, self._name = key, name
        self._kept = None if key is None else _used(key)
        if key is not None and self._kept is not None and self._kept.by_name:
            self._key = (*key, name)
            self._kept = _used(self._key)

    @classmethod
    def of(
        cls, symbols: Symbols, names: Names, metadata: Metadata, provider: CallProvider
    ) -> Template:
        """That of a wrapper."""
        facts = _facts(symbols, provider)
        if facts is None or not _is_hashable(facts):
            return cls(None, names.function)
        key = (symbols.types.ir.__name__, metadata, str(symbols.location), *facts)
        return cls(key, names.function)

    def adopt(self, symbols: Symbols, names: Names) -> bool:
        """Add the wrapper, if it was made before and fits the module."""
        made = None if self._kept is None else self._kept.made
        if made is None:
            return False
        types = symbols.types
        source = types.ir.Module.parse(made.bytecode, types.context)
        table, function, *others = [operation.operation for operation in source.body.operations]
        data = made.table.named(names.function, names.backtrace)
        name = TABLE + names.function
        if not all(_fits(symbols, operation) for operation in others):
            return False  # built anew, it gets other names, or says what is wrong
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
        """Note that this wrapper was made; the second time, what was made."""
        if self._key is None:
            return
        # The order in which a wrapper that is kept is taken over: a module's text is the same, and
        # so is its key in the compile cache, however often a process has attached this before.
        symbols.sort_after(function)
        if self._kept is None:
            by_name = shared_name("raise") in symbols.wanted
            _KEPT[self._key] = _Kept(by_name=by_name)
            if by_name:
                _KEPT[(*self._key, self._name)] = _Kept()
            while len(_KEPT) > MOST:
                _KEPT.popitem(last=False)
        elif self._kept.made is None and not symbols.renamed:
            helpers = frozenset(symbols.wanted)
            code = _bytecode(symbols, function, TABLE + self._name)
            self._kept.made = _Made(code, helpers, table)


def _used(key: _Key) -> _Kept | None:
    """What is kept, which is the one that was used last now."""
    kept = _KEPT.get(key)
    if kept is not None:
        with suppress(KeyError):  # another thread has just thrown it away
            _KEPT.move_to_end(key)
    return kept


def _rename(types: Types, function: Any, names: Names) -> None:
    """Give a wrapper that was kept its name, and metadata, which stands last."""
    function.attributes["sym_name"] = types.string(names.symbol)
    *flags, _ = function.attributes["passthrough"]
    pair = [types.string(METADATA), types.string(names.description)]
    array = types.ir.ArrayAttr.get
    function.attributes["passthrough"] = array([*flags, array(pair, types.context)], types.context)


def _facts(symbols: Symbols, provider: Any) -> tuple[object, ...] | None:
    """What a provider goes by, of its own and of the module; None if nobody knows."""
    kind = cast("type[CallProvider]", type(provider))
    facts: list[object] = [kind]
    if kind is CheckStatus:
        inner = _facts(symbols, provider.provider)
        return None if inner is None else (kind, provider.error, provider.message, *inner)
    if kind is NopCallProvider:
        return kind, None
    if kind not in _PURE or not isinstance(provider.callee, str):
        return None
    if provider.callee.startswith(_RESERVED):
        return None
    args: Any = provider.args or ()
    if type(args) not in (list, tuple) or not all(isinstance(arg, _ENTRIES) for arg in args):
        return None
    for field in fields(provider):
        value: Any = args if field.name == "args" else (getattr(provider, field.name),)
        facts += [*map(type, value), *value]  # types too: 1 and True are equal
    plain = provider.callee.removeprefix(C_INTERFACE)
    facts += [_described(symbols.find(name)) for name in (plain, C_INTERFACE + plain)]
    return tuple(facts)


def _is_hashable(facts: tuple[object, ...]) -> bool:
    """Whether each field holds what it is for, or at least nothing like a list."""
    try:
        hash(facts)
    except TypeError:
        return False
    return True


def _described(operation: Operation | None) -> object:
    """What a provider may look at of a callee."""
    if operation is None:
        return None
    attributes = operation.attributes
    names = [name for name in ("function_type", "CConv", MEMREF_TYPES) if name in attributes]
    return operation.name, *(str(attributes[name]) for name in names)


def _fits(symbols: Symbols, operation: Operation) -> bool:
    """Whether the module has nothing else under the name."""
    attributes = operation.attributes
    found = symbols.find(attributes["sym_name"].value)
    if found is None:
        return True
    name = "function_type" if operation.name == "llvm.func" else "value"
    return name in found.attributes and found.attributes[name] == attributes[name]


def _bytecode(symbols: Symbols, function: Operation, table: str) -> bytes:
    """The wrapper and all that it refers to, as a module."""
    types = symbols.types
    unknown = types.ir.Location.unknown(types.context)
    module = types.ir.Module.create(unknown)
    end = types.ir.InsertionPoint(module.body)
    target = Symbols(types, module, unknown)
    own: Any = function
    names = _references(function)
    for operation, name in ((symbols.find(table), _OWN_TABLE), (own, _PLACEHOLDER)):
        copy: Any = operation
        copy.clone(end).operation.attributes["sym_name"] = types.string(name)
    types.ir.SymbolTable.replace_all_symbol_uses(table, _OWN_TABLE, module.operation)
    for name in sorted(names - {table}):
        found: Any = symbols.find(name)
        if found.regions[0].blocks:  # a function that is defined
            target.declare_as(name, found.attributes["function_type"].value)
        else:
            found.clone(end)
    return bytecode(module)


def _references(function: Operation) -> set[str]:
    """The symbols that a function calls or takes the address of."""
    names: set[str] = set()
    for block in function.regions[0].blocks:
        for operation in block.operations:
            attributes: Any = operation.operation.attributes
            for attribute in ("callee", "global_name"):
                if attribute in attributes:
                    names.add(attributes[attribute].value)
    return names
