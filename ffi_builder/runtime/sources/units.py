"""Compiles the LLVM IR of modules without MLIR; equal wrappers share their machine code.

`sources.wrappers` says how, and does the same for MLIR. Here the module is text whose parts
(functions, declarations and globals) are separated by empty lines. A wrapper becomes a module of
its own in which placeholders stand for the names of the wrapper, its table and its callees:

    define i32 @__tvm_ffi_matmul(…) { … @__ffi_builder_table_matmul … @matmul … }
    ─►  define i32 @__tvm_ffi__unit(…) { … @__ffi_builder_unit_1 … @__ffi_builder_unit_2 … }
"""

from __future__ import annotations

import functools
import re
from typing import Final

from ffi_builder import abi, protocol
from ffi_builder.errors import CompileError
from ffi_builder.protocol import METADATA, SHARED, TABLE, TEXT
from ffi_builder.records import dataclass
from ffi_builder.runtime.codegen import constants
from ffi_builder.runtime.codegen.emit import Steps
from ffi_builder.runtime.files import object_files
from ffi_builder.runtime.files.object_files import Constant
from ffi_builder.runtime.jit.link import RESERVED
from ffi_builder.runtime.sources.wrappers import kept_object, were_seen

_WRAPPER: Final = f"{abi.PREFIX}_unit"
_PLACEHOLDER: Final = f"{protocol.PREFIX}unit_"

_NAME: Final = re.compile(r'@("[^"]*"|[\w.$-]+)')
_STRING: Final = re.compile(r'(?<!@)"[^"]*"')
_DESCRIPTION: Final = re.compile(rf' "{METADATA}"="[^"]*"')
_DATA: Final = re.compile(r' c"([^"]*)"')
_HIDDEN: Final = re.compile(r"define (?:internal|private|hidden) ")


@dataclass(frozen=True)
class _Unit:
    """The module of one wrapper."""

    text: str
    names: dict[str, str]
    """The symbols that the placeholders stand for."""
    table: dict[str, Constant]
    """The wrapper's table, which the module only declares, by its symbol."""

    def compiled(self, level: int) -> Steps[list[bytes]]:
        """Make the object of the wrapper. Raises CompileError."""
        read = functools.partial(constants.read, self.text)
        code = yield from kept_object(self.text.encode(), level, read)
        named = object_files.rename_symbols(code, self.names)
        return [object_files.with_constants(named, self.table)]


def compiled_objects(text: str, level: int) -> Steps[list[bytes]]:
    """Compile a module for this CPU, to its own object, if any, then those of its wrappers.

    Raises CompileError.
    """
    parts = _parts(text)
    units = _units(parts)
    rest = {name: part for name, part in parts.items() if name not in units}
    alone = len(units) == 1 and all(map(_only_declares, rest.items()))
    if alone or (units and were_seen([unit.text for unit in units.values()], level)):
        objects: list[bytes] = []
        try:
            for unit in units.values():
                objects += yield from unit.compiled(level)
        except CompileError:
            objects = []  # compiling the whole module reports the error
        if objects and all(map(_only_declares, rest.items())):
            return objects
        if objects:
            declared = [_declaration(parts[name]) for name in units]
            text = "\n\n".join([*rest.values(), *declared])
            own = yield constants.read(text)
            return [own, *objects]
    own = yield constants.read(text)
    return [own]


def callers(text: str, symbol: str) -> list[str]:
    """Return the wrappers of a module that mention a symbol, by their names."""
    mention = re.compile(rf'@"?{re.escape(symbol)}(?![\w.$])')
    defined = {name: part for name, part in _parts(text).items() if part.startswith("define ")}
    found = [name for name, part in defined.items() if mention.search(part)]
    return [name.removeprefix(abi.PREFIX) for name in found if name.startswith(abi.PREFIX)]


def _parts(text: str) -> dict[str, str]:
    """Return the parts of a module by the symbols that they define or declare."""
    parts: dict[str, str] = {}
    for part in text.split("\n\n"):
        found = _NAME.search(part)
        parts[found[1].strip('"') if found else ""] = part
    return parts


def _units(parts: dict[str, str]) -> dict[str, _Unit]:
    """Return the wrappers that can be compiled separately; none if one of them cannot."""
    found: dict[str, _Unit] = {}
    for name, part in parts.items():
        own = name.removeprefix(abi.PREFIX)
        if own == name or own.startswith(RESERVED) or not part.startswith("define "):
            continue
        unit = _unit(name, part, parts)
        if unit is None:
            return {}
        found[name] = unit
    return found


def _unit(name: str, wrapper: str, parts: dict[str, str]) -> _Unit | None:
    """Make the module of a wrapper; None if LLVM's passes would change it, or see more of it.

    None also if it refers to a symbol that other objects cannot see.
    """
    head, _, body = _DESCRIPTION.sub("", wrapper).partition(" {\n")
    if " optnone" not in head:
        return None
    references = dict.fromkeys(_NAME.findall(body))
    names, own_table, table = {name: _WRAPPER}, f"{TABLE}{name}", dict[str, Constant]()
    texts: list[str] = []
    for reference in references:
        part = parts.get(reference)
        if part is None or reference == _WRAPPER or reference.startswith(_PLACEHOLDER):
            if reference.startswith("llvm."):  # LLVM declares its intrinsics itself
                continue
            return None
        if reference.startswith(TABLE):
            data = _DATA.search(part)
            if data is None or table:
                return None
            table[own_table] = Constant(constants.string_bytes(data[1], 0, len(data[1])))
            part = f"@{reference} = external hidden unnamed_addr constant [1 x i8]"
        elif part.startswith("define "):
            if _HIDDEN.match(part) is not None:
                return None
            part = _declaration(part)
        elif part.startswith("@") and not reference.startswith(TEXT):
            return None
        if not reference.startswith((SHARED, TEXT)):
            names[reference] = f"{_PLACEHOLDER}{len(names)}"
        texts.append(part)
    if not table:
        return None
    text = "\n\n".join([*texts, f"{head} {{\n{body}", parts.get("", "")])
    text = _NAME.sub(lambda found: f"@{names.get(found[1], found[1])}", text)
    shown = {new: own_table if old.startswith(TABLE) else old for old, new in names.items()}
    return _Unit(text, shown, table)


def _declaration(definition: str) -> str:
    """Return the declaration of a function that a part defines."""
    head, _, _ = _DESCRIPTION.sub("", definition).partition(" {\n")
    return f"declare {head.removeprefix('define ')}"


def _only_declares(named: tuple[str, str]) -> bool:
    """Tell whether a part is a declaration, a table or text of a wrapper, or metadata."""
    name, part = named
    return part.startswith(("declare ", "!")) or name.startswith((TABLE, TEXT))
