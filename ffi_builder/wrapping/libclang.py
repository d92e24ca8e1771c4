"""What libclang makes of a file in C: declarations, and what is wrong with them."""

from __future__ import annotations

import builtins
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Final

from ffi_builder import CompileError
from ffi_builder.extending import install

_PACKAGES: Final = ("libclang-ng", "libclang")
"""The packages of PyPI that have the library and its bindings, the newer one first."""
_UNKNOWN: Final = r"'_*(preserve_none|no_callee_saved_registers|hardbool)_*'"
"""Attributes of GCC that change calls or types, and of which libclang only warns."""
_HARMLESS: Final = "'_*malloc_*' attribute takes no arguments"
"""What libclang 18 calls an error, and that changes neither."""
_SKIP_BODIES: Final = 0x40
_STRUCTS, _CONSTANT, _FUNCTION, _VARIABLE, _LISTS = (2, 3, 4), 7, 8, 9, (5, 23)
"""``CXCursorKind``: structs, a constant, a function, a variable; enums and ``extern "C"``."""
_NAMED: Final = (5, 20)
"""The declarations of an enum and of a typedef."""
_ENUM: Final = 106
"""A ``CXTypeKind``."""


@cache
def bindings() -> Any:
    """Return LLVM's bindings, ``clang.cindex``, as a module of our own.

    The usual one chooses the library of the whole process, and other packages have a module
    ``clang``, too. That of version 18 imports ``clang.enumerations``, which nothing here needs.
    """

    def imported(name: str, *args: Any) -> Any:
        none = SimpleNamespace(enumerations=SimpleNamespace(TokenKinds=()))
        return none if name == "clang.enumerations" else builtins.__import__(name, *args)

    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            folder = Path(str(distribution(package).locate_file("clang")))
            module: Any = ModuleType("cindex")
            module.__file__ = str(folder / "cindex.py")
            module.__builtins__ = {**vars(builtins), "__import__": imported}
            try:
                SourceFileLoader("cindex", module.__file__).exec_module(module)
                module.Config.library_file = folder / "native" / "libclang.so"
                module.Config.libcxx_dir = module.Config.resource_dir = None  # of libclang-ng
                module.Config.compatibility_check = False  # pip may have mixed two versions
                module.index = module.Index.create()
                module.package = f"{package} {version(package)}"
            except Exception as error:
                raise CompileError(
                    f"prototype=: {package} does not load ({error}): install it again"
                ) from None
            return module
    raise CompileError(f"prototype= needs libclang: {install('prototype')}")


class Unit:
    """What libclang made of a file, or of the text that stands for one in ``texts``.

    Raises:
        CompileError: there is no libclang, or it has crashed.
    """

    def __init__(self, path: str, options: Sequence[str], texts: Mapping[str, str]) -> None:
        self.lib, self._texts = bindings(), texts
        words = [*options, "-ferror-limit=0"]
        try:
            self._made = self.lib.index.parse(path, words, [*texts.items()], _SKIP_BODIES)
        except self.lib.TranslationUnitLoadError:
            raise CompileError(f"prototype=: libclang fails on {path}") from None
        errors = [
            (each, f"{each.location.file}", each.location.offset)
            for each in self._made.diagnostics
            if re.search(_UNKNOWN, each.spelling)
            or (each.severity > 2 and not re.search(_HARMLESS, each.spelling))
        ]
        self.errors, self._places = [each for each, _, _ in errors], errors
        self.functions, self._declared = dict[str, list[Any]](), dict[str, list[Any]]()
        self.constants, self.variables = dict[str, Any](), set[str]()
        for each in self.parts(self._made.cursor, _LISTS):
            if each._kind_id == _FUNCTION:
                self.functions.setdefault(each.spelling, []).append(each)
            if each._kind_id == _CONSTANT:
                self.constants[each.spelling] = each
            if each._kind_id == _VARIABLE:
                self.variables.add(each.spelling)
            if each._kind_id not in _STRUCTS:
                whole = each.semantic_parent if each._kind_id == _CONSTANT else each
                self._declared.setdefault(each.spelling, []).append(whole)
        files = {path, *(each.include.name for each in self._made.get_includes())}
        self._states = {file: _state(file) for file in files}

    def is_current(self) -> bool:
        """Return whether the files are as they were."""
        return all(_state(file) == state for file, state in self._states.items())

    def macros(self) -> dict[str, str]:
        """Return what is behind the names of macros in the files."""
        files = (Path(file).read_text(errors="replace") for file in self._states if _state(file))
        texts = (*files, *self._texts.values())
        define = r"(?m)^\s*#\s*define\s+(\w+)((?:\\\n|.)*)"
        macros = (each for text in texts for each in re.findall(define, text))
        return {name: text.replace("\\\n", " ") for name, text in macros}

    def enums(self) -> list[str]:
        """Return the names of enums, and of typedefs of them."""
        return [
            name
            for name, cursors in self._declared.items()
            if any(
                each._kind_id in _NAMED
                and each.spelling == name  # and not that of an enumerator
                and each.type.get_canonical()._kind_id == _ENUM
                for each in cursors
            )
        ]

    def error_in(self, function: str) -> Any:
        """Return the first error in a function's declarations, or in types that they mention.

        Structs do not count, as a function only gets pointers to them. Errors of the preprocessor
        do, wherever they are. None if there is none.
        """
        errors = [e for e in self.errors if re.search("Preproc|User-Defined", e.category_name)][:1]
        names, seen = [function] if self.errors else [], set[str]()
        while names and not errors:
            seen.add(name := names.pop())
            for cursor in self._declared.get(name, ()):
                errors += self.errors_at(cursor)
                parts = [(part, part.referenced) for part in self.parts(cursor)]
                names += {to.spelling for part, to in parts if to is not None and to != part} - seen
        return errors[0] if errors else None

    def errors_at(self, cursor: Any) -> list[Any]:
        """Return the errors in a declaration, or between it and the end of the one before."""
        start, end = cursor.extent.start, cursor.extent.end
        if not self._places or start.file is None:  # the compiler's own
            return []
        before, file = self._text(start.file)[: start.offset], f"{start.file}"
        first = max(before.rfind(b";"), before.rfind(b"}"))
        return [e for e, of, at in self._places if of == file and first < at <= end.offset]

    def shown(self, error: Any, hint: str = "") -> str:
        """Return an error with its place, a hint, its line and a caret."""
        at = error.location
        if at.file is None:
            return f"{error.spelling}{hint}"
        name, text = f"{at.file}".strip("<>"), self._text(at.file)
        before = text[: at.offset].rpartition(b"\n")[2].decode(errors="replace")
        after = text[at.offset :].partition(b"\n")[0].decode(errors="replace")
        caret = re.sub(r"[^\t]", " ", before)
        place = f"{name}:{at.line}:{at.column}"
        return f"{place}: {error.spelling}{hint}\n    {before}{after}\n    {caret}^"

    def _text(self, file: Any) -> bytes:
        name = f"{file}"
        return self._texts[name].encode() if name in self._texts else Path(name).read_bytes()

    def parts(self, cursor: Any, kinds: Sequence[int] | None = None) -> list[Any]:
        """Return the parts of a cursor, and the parts of those of some kinds; None: of all."""
        parts = list[Any]()

        def visit(part: Any, _parent: object, _data: object) -> int:
            part._tu = cursor._tu
            parts.append(part)
            is_list = kinds is None or part._kind_id in kinds
            return 2 if is_list else 1  # go on within it, or after it

        function = self.lib.conf.lib.clang_visitChildren
        if function(cursor, function.argtypes[1](visit), parts):
            raise KeyboardInterrupt  # ctypes has printed and dropped it
        return parts


def element(type_: Any) -> Any:
    """Return what an array or a complex number has, as the bindings know fewer kinds of types."""
    inner = bindings().conf.lib.clang_getElementType(type_)
    inner._tu = type_._tu
    return inner


def _state(file: str) -> tuple[int, ...]:
    with suppress(OSError):
        status = Path(file).stat()
        return status.st_ino, status.st_mtime_ns, status.st_size
    return ()
