"""Wrappers that were made before, for modules that need the same again.

A JIT compiles one signature over and over: an autotuner tries its configurations, a program its
shapes. What attaching adds depends on the signature, the provider, the callee's type and the
location alone, so from the second time on it is kept as bytecode, which MLIR reads in a fraction
of the time that building it takes.
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, TypeAlias, cast

from ffi_builder import spec
from ffi_builder.builder.diagnosis import Helpers, define_helpers
from ffi_builder.ir import Operation, Symbols, bytecode
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

_PLACEHOLDER: Final = "__ffi_builder_wrapper"
_PURE: Final = (
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
    NestedTensorCallProvider,
)
"""What these emit depends on what they are equal by and on their callee; not so subclasses."""
_ENTRIES: Final = (str, int, spec.Data, spec.Field, spec.Expr, *spec.PARAM_TYPES)

_Key: TypeAlias = "tuple[object, ...]"


@dataclass
class _Kept:
    """``bytecode`` is None at the first sight of what it is for; False where it can never be."""

    helpers: Helpers | None = None
    bytecode: bytes | Literal[False] | None = None


_KEPT: Final[OrderedDict[_Key, _Kept]] = OrderedDict()


class Template:
    """The place of one wrapper among those that are kept."""

    def __init__(self, key: _Key | None) -> None:
        self._key = key
        self._kept = None if key is None else _KEPT.get(key)
        if key is not None and self._kept is not None:
            with suppress(KeyError):  # another thread has just thrown it away
                _KEPT.move_to_end(key)

    @classmethod
    def of(cls, symbols: Symbols, description: str, provider: CallProvider) -> Template:
        """That of a wrapper whose metadata is ``description``."""
        facts = _facts(symbols, provider)
        if facts is None or not _is_hashable(facts):
            return cls(None)
        return cls((symbols.types.ir.__name__, description, str(symbols.location), *facts))

    def adopt(self, symbols: Symbols, name: str) -> bool:
        """Add the wrapper under this name, if it was made before and fits the module."""
        kept = self._kept
        if kept is None or kept.helpers is None or not isinstance(kept.bytecode, bytes):
            return False
        types = symbols.types
        source = types.ir.Module.parse(kept.bytecode, types.context)
        operations = [operation.operation for operation in source.body.operations]
        if not all(_fits(symbols, operation) for operation in operations):
            return False  # built anew, it gets other names, or says what is wrong
        define_helpers(symbols, kept.helpers)
        for operation in operations:
            own = operation.attributes["sym_name"].value
            if own == _PLACEHOLDER:
                operation.attributes["sym_name"] = types.string(name)
                symbols.take(name, operation)
            elif own not in symbols:
                symbols.take(own, operation)
        return True

    def keep(self, symbols: Symbols, function: Operation, helpers: Helpers) -> None:
        """Note that this wrapper was made; the second time, what was made."""
        if self._key is None:
            return
        # The order in which a wrapper that is kept is taken over: a module's text is the same, and
        # so is its key in the compile cache, however often a process has attached this before.
        symbols.sort_behind(function)
        if self._kept is None:
            _KEPT[self._key] = _Kept()
            while len(_KEPT) > MOST:
                _KEPT.popitem(last=False)
        elif self._kept.bytecode is None:
            self._kept.helpers = helpers
            self._kept.bytecode = not symbols.renamed and _bytecode(symbols, function)


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
    names = [name for name in ("function_type", "CConv") if name in attributes]
    # A declaration has the attributes that a call gets, such as signext.
    declared = not operation.regions[0].blocks if operation.name == "llvm.func" else None
    return operation.name, declared, *(str(attributes[name]) for name in names)


def _fits(symbols: Symbols, operation: Operation) -> bool:
    """Whether the module has nothing else under the name."""
    attributes = operation.attributes
    found = symbols.find(attributes["sym_name"].value)
    if found is None:
        return True
    name = "function_type" if operation.name == "llvm.func" else "value"
    return (
        found.name == operation.name
        and name in found.attributes
        and found.attributes[name] == attributes[name]
    )


def _bytecode(symbols: Symbols, function: Operation) -> bytes:
    """The wrapper and all that it refers to, as a module."""
    types = symbols.types
    unknown = types.ir.Location.unknown(types.context)
    module = types.ir.Module.create(unknown)
    end = types.ir.InsertionPoint(module.body)
    target = Symbols(types, module, unknown)
    own: Any = function
    names = _references(function)
    table = next(name for name in names if name.startswith(TABLE))
    found: Any = symbols.find(table)
    found.clone(end)
    copy = own.clone(end)
    copy.operation.attributes["sym_name"] = types.string(_PLACEHOLDER)
    for name in sorted(names - {table}):
        found = symbols.find(name)
        if found.name == "llvm.func" and found.regions[0].blocks:
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
