"""Keeps the machine code of wrappers, to link it instead of compiling equal wrappers again.

Wrappers of one structure recur under other names, around other kernels: a JIT compiles one wrapper
over and over, and many kernels of a library take the same arguments. The first time, a wrapper is
compiled with the rest of its module, which saves LLVM's fixed cost per object. The second time it
is compiled as a separate module, and from the third time on not at all.

In that module of LLVM IR, placeholders replace the names of the wrapper, its table (which has all
texts) and its callees, and attributes and metadata have no number of the whole module. So wrappers
of one structure have equal texts:

    define i32 @__tvm_ffi_matmul(…) #4 { … @__ffi_builder_table_matmul … @matmul … !prof !7 … }
    ─►  define i32 @__tvm_ffi__unit(…) noinline optnone
        { … @__ffi_builder_unit_1 … @__ffi_builder_unit_2 … !prof !0 … }

A wrapper that cannot be separated is compiled with the rest of its module.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Sequence
from typing import Final

from ffi_builder import abi, protocol
from ffi_builder.errors import CompileError
from ffi_builder.protocol import METADATA, SHARED, TABLE, TEXT
from ffi_builder.records import dataclass
from ffi_builder.runtime.codegen.constants import LlvmIr, string_bytes
from ffi_builder.runtime.codegen.emit import Steps
from ffi_builder.runtime.files.object_files import Constant, with_constants
from ffi_builder.runtime.isolate.locks import fork_safe_lock
from ffi_builder.runtime.jit.link import RESERVED

MOST: Final = 512
"""The number of structures to keep. The least recently used are dropped first."""

_MOST_AT_ONCE: Final = 4
"""The most structures of one module to compile separately. More compile faster together."""

_kept: Final[OrderedDict[bytes, bytes | None]] = OrderedDict()
"""Objects, of 1 to 10 KB each, by structure and level; None for one that was seen once."""
_lock = fork_safe_lock()

_WRAPPER: Final = f"{abi.PREFIX}_unit"
_PLACEHOLDER: Final = f"{protocol.PREFIX}unit_"

_QUOTE: Final = '"'
_SYMBOL: Final = re.compile(r'@("[^"]*"|[\w.$-]+)')
_TOKEN: Final = re.compile(rf'{_SYMBOL.pattern}|"[^"]*"|#\d+|!\d+')
"""A symbol, a string, a group of attributes, or a node of metadata."""
_DESCRIPTION: Final = re.compile(rf' "{METADATA}"="[^"]*"')
_NESTED: Final = re.compile(r"!(?:\d|DI)|distinct")
_DATA: Final = re.compile(r' c"([^"]*)"')
_NOT_EXTERNAL: Final = re.compile(
    r"define [^@]*\b(?:internal|private|hidden|weak\w*|linkonce\w*|available_externally)\b"
)


def compiled_objects(text: str, level: int, read: Callable[[str], LlvmIr]) -> Steps[list[bytes]]:
    """Compile a module for this CPU, to its own object, if any, then those of its wrappers.

    `text` is LLVM IR as LLVM or a plain module writes it, and `read` prepares such text for
    compiling. Either all wrappers are compiled separately or none, so that functions keep their
    order. Raises CompileError.
    """
    module = _Module(text)
    units = module.units(level)
    only_wrappers = module.only_declares and len(units) == len(module.functions)
    known = _are_known([unit.key for unit in units.values()])
    if known or (only_wrappers and len(units) == 1):
        try:
            objects: list[bytes] = []
            for unit in units.values():
                objects += yield from unit.compiled()
            if only_wrappers:
                return objects
            own = yield read(module.without(units))
            return [own, *objects]
        except CompileError:
            pass  # compiling the whole module reports the error
    own = yield read(text)
    return [own]


def callers_in(text: str, symbol: str) -> list[str]:
    """Return the wrappers of a module that mention a symbol, by their names."""
    mention = re.compile(rf'@"?{re.escape(symbol)}(?![\w.$])')
    names = [name for name, parts in _Module(text).functions.items() if mention.search(parts[1])]
    return [name.removeprefix(abi.PREFIX) for name in names if name.startswith(abi.PREFIX)]


def _are_known(keys: Sequence[bytes]) -> bool:
    """Tell whether each structure was seen before, or occurs twice; and note them all."""
    counts = Counter(keys)
    if not 0 < len(counts) <= _MOST_AT_ONCE:
        return False
    with _lock:
        known = all(count > 1 or key in _kept for key, count in counts.items())
        for key in counts:
            _kept.setdefault(key, None)
            _kept.move_to_end(key)
        while len(_kept) > MOST:
            _kept.popitem(last=False)
    return known


@dataclass(frozen=True)
class _Unit:
    """The module of one wrapper."""

    text: str
    key: bytes
    names: dict[str, str]
    """The symbols that the placeholders stand for."""
    table: dict[str, Constant]
    """The wrapper's table, which the module only declares, by its symbol."""

    def compiled(self) -> Steps[list[bytes]]:
        """Make the object of the wrapper. Raises CompileError."""
        code = _kept.get(self.key)
        if code is None:
            code = yield LlvmIr(self.text)
            with _lock:
                _kept[self.key] = code
        return [with_constants(code, self.table, renamed=self.names)]


class _InseparableError(Exception):
    """A wrapper needs more of its module than declarations, or LLVM's passes would change it."""


class _Module:
    """The statements of LLVM IR."""

    def __init__(self, text: str) -> None:
        self.functions: dict[str, tuple[str, str]] = {}
        """The first line and the rest of each defined function."""
        self.statements: dict[str, str] = {}
        """Other lines: `@…` for what is declared and for globals, `#…` and `!…`."""
        self.target: list[str] = []
        self.only_declares = True
        """Whether all but functions are declarations, and tables or texts of wrappers."""
        self._pieces: list[tuple[str, str]] = []
        """The text before each function, and the name of the function."""
        for piece in f"{text}\n".split("\n}\n"):
            at = f"\n{piece}".find("\ndefine ")
            before = piece if at < 0 else piece[:at]
            for line in before.split("\n"):
                self._read(line)
            name = ""
            if at >= 0:
                head, _, body = piece[at:].partition(" {\n")
                name = _name(head)
                self.functions[name] = head, body
            self._pieces.append((before, name))

    def _read(self, line: str) -> None:
        if line.startswith(("@", "declare ")):
            name = _name(line)
            self.statements[f"@{name}"] = line
            self.only_declares &= line[0] != "@" or name.startswith((TABLE, TEXT))
        elif line.startswith(("attributes #", "!")):
            key, _, value = line.removeprefix("attributes ").partition(" = ")
            self.statements[key] = value
        elif line.startswith("target "):
            self.target.append(line)
        else:
            self.only_declares &= not line.startswith(("module ", "$"))

    def without(self, names: Collection[str]) -> str:
        """Return the text in which these functions are only declared."""
        pieces: list[str] = []
        for before, name in self._pieces:
            pieces.append(before)
            if name:
                head, body = self.functions[name]
                pieces.append(_declaration(head) if name in names else f"{head} {{\n{body}\n}}")
                pieces.append("\n")
        return "".join(pieces)

    def units(self, level: int) -> dict[str, _Unit]:
        """Return the wrappers that can be compiled separately; none if one of them cannot."""
        names = [name for name in self.functions if name.startswith(abi.PREFIX)]
        wrappers = [n for n in names if not n.removeprefix(abi.PREFIX).startswith(RESERVED)]
        try:
            return {name: _Separation(self, name).unit(level) for name in wrappers}
        except _InseparableError:
            return {}


class _Separation:
    """Makes the module of a wrapper: replaces names and numbers, and collects what they need."""

    def __init__(self, module: _Module, name: str) -> None:
        self._module, self._name = module, name
        self._symbols = {name: _WRAPPER}
        self._nodes: dict[str, str] = {}
        self._lines: list[str] = [*module.target]
        self._own_table = f"{TABLE}{name}"
        self._table: dict[str, Constant] = {}

    def unit(self, level: int) -> _Unit:
        """Return the module. Raises _InseparableError."""
        head, body = self._module.functions[self._name]
        head = self._replaced(_DESCRIPTION.sub("", head))
        if " optnone" not in head or _NOT_EXTERNAL.match(head) or "\\" in self._name:
            raise _InseparableError
        lines = [head, "{", self._replaced(body), "}"]
        if not self._table:
            raise _InseparableError
        nodes = (f"{new} = {self._module.statements[old]}" for old, new in self._nodes.items())
        text = "\n".join([*self._lines, *lines, *nodes])
        key = hashlib.sha256(text.encode()).digest() + bytes([level])
        shown = {
            new: self._own_table if old.startswith(TABLE) else old
            for old, new in self._symbols.items()
            if old != new
        }
        return _Unit(text, key, shown, self._table)

    def _replaced(self, text: str) -> str:
        return _TOKEN.sub(self._token, text)

    def _token(self, match: re.Match[str]) -> str:
        token, name = match[0], match[1]
        if name:
            return f"@{self._symbol(name.strip(_QUOTE))}"
        if token[0] == _QUOTE:
            return token
        value = self._module.statements.get(token, "")
        if token[0] == "#":
            return _DESCRIPTION.sub("", value).strip("{ }")
        if not value or _NESTED.search(value):  # such as debug information
            raise _InseparableError
        return self._nodes.setdefault(token, f"!{len(self._nodes)}")

    def _symbol(self, name: str) -> str:
        """Return the name to write for a symbol. Declare it when it occurs first."""
        if name in self._symbols or name.startswith("llvm."):  # LLVM declares its intrinsics
            return self._symbols.get(name, name)
        if name.startswith(_PLACEHOLDER) or name == _WRAPPER or "\\" in name:
            raise _InseparableError
        kept = name.startswith((SHARED, TEXT))
        new = self._symbols[name] = name if kept else f"{_PLACEHOLDER}{len(self._symbols)}"
        line = self._module.statements.get(f"@{name}", "")
        if name in self._module.functions:
            head, _ = self._module.functions[name]
            if _NOT_EXTERNAL.match(head):
                raise _InseparableError
            line = _declaration(head)
        elif name.startswith(TABLE):
            data = _DATA.search(line)
            if data is None or self._table:
                raise _InseparableError
            self._table[self._own_table] = Constant(string_bytes(data[1], 0, len(data[1])))
            line = f"@{new} = external hidden unnamed_addr constant [1 x i8]"
        elif not line or (line[0] == "@" and not name.startswith(TEXT)):
            raise _InseparableError
        self._lines.append(line if name.startswith(TABLE) else self._replaced(line))
        return new


def _name(line: str) -> str:
    """Return the first symbol in a line."""
    match = _SYMBOL.search(line)
    return "" if match is None else match[1].strip(_QUOTE)


def _declaration(head: str) -> str:
    """Return the declaration of a function that begins with this line."""
    head = _DESCRIPTION.sub("", head).removeprefix("define ")
    return f"declare {head[: head.rindex(')') + 1]}"
