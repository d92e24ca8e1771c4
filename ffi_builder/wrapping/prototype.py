"""Prototypes of C functions: the types that an object or an address lacks, as libclang reads them.

It reads headers as ``$CC`` does, by its macros, its folders and its target. A text without
directives needs no compiler.
"""

from __future__ import annotations

import os
import re
import subprocess
import textwrap
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Final

from ffi_builder import BuildError, CompileError
from ffi_builder.extending import dataclass, did_you_mean, importing
from ffi_builder.runtime.extending import c_compiler
from ffi_builder.wrapping.by_value import with_registers
from ffi_builder.wrapping.c_types import (
    DLTENSOR,
    HALIDE_BUFFER,
    POINTER,
    CType,
    Layout,
    Prototype,
    first_of,
    mangled_hint,
)
from ffi_builder.wrapping.layouts import layout_of
from ffi_builder.wrapping.libclang import Unit, element

_DTYPES: Final = {
    "_Bool": "bool",
    "bool": "bool",
    "float": "float32",
    "double": "float64",
    "_Float16": "float16",
    "__fp16": "float16",
    "__bf16": "bfloat16",
}
_UNSIGNED, _SIGNED = (4, 5, 8, 9, 10, 11), (13, 14, 16, 17, 18, 19)
_CHARS: Final = (4, 13)
_VOID, _COMPLEX, _POINTER, _RECORD, _ENUM = 2, 100, 101, 105, 106
_WITH_TYPES, _FUNCTIONS, _ARRAYS, _UNSIZED = 111, (110, 111), (112, 114, 115), 114
"""Kinds of types, as ``CXTypeKind`` of libclang numbers them."""
_UNION, _CALLS_OF_C = 3, (1, 11)
"""A ``CXCursorKind``, and the calls of C in ``CXCallingConv``."""
_INTEGERS: Final = {("struct DLDataType", 4): "int32", ("struct DLDevice", 8): "int64"}
"""Structs that are passed as an integer of their size, in bytes."""
_NO_STRUCTS: Final = (DLTENSOR, HALIDE_BUFFER, "struct __va_list_tag", "struct __va_list")
"""Structs that ``args=`` has no fields for: descriptors of tensors, and ``va_list``."""
_TWICE: Final = ("setjmp", "sigsetjmp", "vfork")
_TEXT: Final = "<prototype>"
_PREFIX: Final = "ffi_builder_constant_"
_C: Final = Path(__file__).with_name("c")
_GCC: Final = ("-include", f"{_C / 'gcc.h'}")
_KNOWN: Final = ("-include", f"{_C / 'known.h'}")
_CXX: Final = ("-xc++", *_KNOWN)
_ATTEMPTS: Final = (("-xc", *_KNOWN), ("-xc",), ("-xc", *_KNOWN, "-Dcomplex=_Complex"), _CXX)
"""Ways to read a file, until one has no errors: with names that need no header, or its own."""
_HINTS: Final = {
    r"\bfn\b": "; it is Rust: write the declaration in C, as cbindgen does",
    r"\b(namespace|template|class|using|std)\b|extern *\"C\"|^'\w+' file not found": "; it is "
    "C++: guard that by `#ifdef __cplusplus`, or give the declaration as text",
    "file not found": "; name its folder with include=, or a compiler that has it with $CC",
    "unknown type name": ", which a header may declare, as in prototype='#include <…>\\n…'",
}
_NO_INTEGERS: Final = {
    r"'[^']*char\[\d+\]'": "; a text is passed as bytes, as in b'…'",
    "must have integer type": "; a pointer that is a number is an intptr_t in a prototype of your "
    "own, and that of a variable the handle which a function in C returns",
}
"""What to do about constants that are no integers, by the words of Clang's errors."""
_LOCK: Final = Lock()


@dataclass(frozen=True)
class Header:
    """Declarations in C, and how they are read.

    Args:
        given: ``"int gemv(int64_t m, const float *A)"``, or the path of a header.
        include: folders of headers, before those of the compiler.
        target: the triple of the machine, if it is neither the compiler's nor this one's.
    """

    given: str | os.PathLike[str]
    include: Iterable[str | os.PathLike[str]] = ()
    target: str | None = None

    def read(self, function: str | None, default: str, *, is_destroyer: bool = False) -> Prototype:
        """Return the prototype of a function.

        Args:
            function: its name; None for the only function that is declared, or ``default``. The
                only function also stands for a name that is no identifier of C, such as ``f.1``.
            default: the name of the signature.
            is_destroyer: whether it takes one pointer, for the names that an error suggests.

        Raises:
            CompileError: C that is not read, with its line; no such function; a type of a parameter
                or result that is neither a number nor a pointer.
        """
        with _LOCK:
            unit, path = self._read()
            where = f"{self.given}" if path != _TEXT else "the prototype"
            found = _declared(unit, path, where, function, default, is_destroyer=is_destroyer)
            return with_registers(found, self.target)

    def check_function(self, option: str, name: str) -> None:
        """Raise BuildError if a name is a variable in C, whose bytes would be called."""
        with _LOCK:
            unit, _ = self._read()
        if name in unit.variables:
            raise BuildError(variable(option, name))

    def constants(
        self, expressions: Sequence[str], known: Sequence[str], option: str = "args="
    ) -> dict[str, int]:
        """Return the integers that C has for enumerators, macros and expressions of them.

        Args:
            expressions: what to evaluate, such as ``CblasRowMajor`` and ``O_RDWR | O_CREAT``.
            known: other names that may have been meant.
            option: which has the expressions.

        Raises:
            BuildError: a name that nothing declares, or no integer.
        """
        names = {text: f"{_PREFIX}{at}" for at, text in enumerate(expressions)}
        added = "".join(f"\n;enum {{ {name} = ({text}) }};" for text, name in names.items())
        with _LOCK:
            unit, _ = self._read(added)
            for text, name in names.items():
                error = unit.error_in(name)
                if error is None and name in unit.constants:
                    continue
                _unit.cache_clear()
                words = error.spelling if error is not None else ""
                lacking = re.search(r"undeclared identifier '(\w+)'", words)
                if lacking is None:
                    hints = (hint for part, hint in _NO_INTEGERS.items() if re.search(part, words))
                    is_ = f"is no integer of C: {words}{next(hints, '')}"
                    raise BuildError(f"{option} has {text!r}, which {is_}")
                meant = did_you_mean(lacking[1], [*known, *unit.constants, *unit.macros()])
                raise BuildError(
                    f"{option} has {text!r}, and {lacking[1]} is "
                    f"{'neither in the signature nor' if known else 'not'} a constant that "
                    f"prototype= declares{meant}"
                )
            return {text: unit.constants[name].enum_value for text, name in names.items()}

    def choices(self, enum: str) -> dict[str, int]:
        """Return the enumerators of an enum, by its tag or a typedef's name.

        Raises:
            BuildError: there is no such enum.
        """
        with _LOCK:
            for type_ in (enum, f"enum {enum}"):
                unit, _ = self._read(f"\n;void {_PREFIX}({type_});")
                if unit.error_in(_PREFIX) is not None:
                    _unit.cache_clear()
                    continue
                argument = unit.lib.conf.lib.clang_getArgType(unit.functions[_PREFIX][0].type, 0)
                argument._tu = unit.functions[_PREFIX][0]._tu
                declared = argument.get_canonical().get_declaration()
                every = unit.constants.values()
                names = [each for each in every if each.semantic_parent == declared]
                if names:
                    return {each.spelling: each.enum_value for each in names}
        raise BuildError(
            f"Choice({enum}): prototype= declares no enum of that name with enumerators"
            f"{did_you_mean(enum, unit.enums())}"
        )

    def of_another_enum(self, enum: str, names: Collection[str]) -> list[str]:
        """Return those names that are enumerators, but not of this enum."""
        try:
            own = self.choices(enum)
        except BuildError:  # an `enum class`, or one whose enumerators are elsewhere
            return []
        with _LOCK:
            unit, _ = self._read()
        return [name for name in names if name in unit.constants and name not in own]

    def numbers(self, names: Collection[str]) -> dict[str, int]:
        """Return the integers of enumerators and macros; none if one of the names is neither."""
        with _LOCK:
            unit, _ = self._read()
        enums = {name: unit.constants[name].enum_value for name in names if name in unit.constants}
        others = [name for name in names if name not in enums]
        if not others:
            return enums
        if {*others} <= unit.macros().keys():
            with suppress(BuildError):  # a macro that is no integer
                return enums | self.constants(others, ())
        return {}

    def _read(self, added: str = "") -> tuple[Unit, str]:
        """Read C, or a header and what is added to it; return the path of what was given, too."""
        given, target = self.given, self.target
        if not isinstance(given, (str, os.PathLike)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(
                f"wrap: prototype= is C as text or the path of a header, but got {given!r}"
            )
        is_path = not isinstance(given, str) or re.fullmatch(r"[^\n();{}]+\.\w+", given)
        if isinstance(given, str) and re.fullmatch(r"[^\n();{}]{1,255}", given):
            is_path = is_path or Path(given).exists()
        path, text = (f"{Path(given).absolute()}", "") if is_path else (_TEXT, f"{given}")
        if is_path and not Path(path).is_file():
            meant = ": it is a folder; name the header in it" if Path(path).is_dir() else ""
            raise CompileError(f"prototype=: there is no header {given}{meant}")
        folders = [Path(folder) for folder in self.include or ()]
        if lacking := next((each for each in folders if not each.is_dir()), None):
            raise CompileError(f"include= has {lacking}, which is no folder")
        if added:
            path, text = _TEXT, (f'#include "{path}"' if is_path else text) + added
        variables = map(os.environ.get, ("CC", "PATH", "CPATH", "C_INCLUDE_PATH"))
        options = [*(_compiler(target, *variables) if is_path or "#" in text else _GCC)]
        options += [] if target is None else ["-target", target]
        options += [f"-I{folder.absolute()}" for folder in folders]
        unit = _unit(path, text, *options)
        if not unit.is_current():
            _unit.cache_clear()
            unit = _unit(path, text, *options)
        return unit, path


def variable(option: str, name: str) -> str:
    """Return the error for a variable that is given as a function."""
    return (
        f"wrap: {option}={name!r} is a variable in C, and no function: name the function to which "
        f"it points, or a function of your own that calls it, "
        f"`void give_back(void *p) {{ {name}(p); }}`, compiled to link=['give_back.o']"
    )


@lru_cache(maxsize=8)
def _unit(path: str, text: str, *options: str) -> Unit:
    """Read a file, or a text, in the way in which it has the fewest errors."""
    units = list[Unit]()
    for attempt in _ATTEMPTS[: None if text else 2]:
        texts = {_TEXT: f"{text}\n;{'}' * (attempt is _CXX)}"}
        unit = Unit(path, [*attempt, *options], texts)
        if not unit.errors:
            return unit
        units += [unit] * (attempt is not _CXX)
    return min(reversed(units), key=lambda each: len(each.errors))


@lru_cache(maxsize=4)
def _compiler(machine: str | None, *_: str | None) -> tuple[str, ...]:
    """Return what makes libclang read headers as a compiler for a machine does; the least if not.

    Macros and headers of a compiler for another machine may say something else.
    """
    include_paths = importing.load("tvm_ffi.libinfo").include_paths
    own = ("-nostdinc", *(f"-isystem{folder}" for folder in include_paths()))  # DLPack's, too
    try:
        words = c_compiler()
    except CompileError:  # headers that include no others need none
        return _GCC + own
    asked, variables = [*words, "-E", "-dM", "-v", "-xc", os.devnull], os.environ | {"LC_ALL": "C"}
    done = subprocess.run(asked, capture_output=True, text=True, errors="replace", env=variables)
    target = re.search(r"^Target: (\S+)", done.stderr, re.M)
    folders = re.search(r"^#include \"\.\.\.\"(.*)^End of search", done.stderr, re.M | re.S)
    macros = dict(re.findall(r"^#define (\w+(?:\([^)]*\))?) ?(.*)$", done.stdout, re.M))
    if not target or not folders or macros.get("__SIZEOF_POINTER__") != "8":
        errors = [line for line in done.stderr.splitlines() if "error" in line]
        why = "it is not for 64 bits" if macros else (errors or ["it says nothing of itself"])[0]
        raise CompileError(f"prototype=: {words[0]}, as which headers are read: {why}")
    if machine is not None and machine.partition("-")[0] != target[1].partition("-")[0]:
        return _GCC + own
    return (
        *("-undef", "-target", target[1], *(() if "__clang__" in macros else _GCC)),
        *(["-std=gnu2x"] if macros.get("__STDC_VERSION__", "") > "201710L" else ()),
        *({*words} & {"-fshort-enums", "-fsigned-char", "-funsigned-char"}),
        *(f"-isystem{folder}" for folder in re.findall(r"^ (.+)$", folders[1], re.M)),
        *own,
        *(f"-D{name}={value}" for name, value in macros.items()),
    )


def _declared(
    unit: Unit, path: str, where: str, function: str | None, default: str, *, is_destroyer: bool
) -> Prototype:
    functions, symbol = unit.functions, function
    if len(functions) == 1 and (function is None or not function.isidentifier()):
        [function] = functions  # C cannot declare a symbol such as `f.1`, but something like it
    function = function or default
    error = unit.error_in(function)
    if error is None and function not in functions:
        error = next((each for each in unit.errors if f"{each.location.file}" == path), None)
    if error is not None:
        _unit.cache_clear()  # a file that is missing may be there the next time
        text = unit.shown(error).partition(": ")[2]
        if "not valid UTF-8" in text:
            raise CompileError(f"prototype=: {where} is no text in UTF-8: give a header")
        hint = next((hint for words, hint in _HINTS.items() if re.search(words, text)), "")
        raise CompileError(f"prototype=: not read as C: {unit.shown(error, hint)}")
    if function not in functions:
        fit = [each for each in functions if not is_destroyer or _takes_pointer(functions[each])]
        meant = did_you_mean(function, fit)
        if macro := unit.macros().get(function):
            shown = textwrap.shorten(f"{function}{macro}", 80, placeholder="…")
            meant = f": it is a macro, `{shown}`; let a function in C use it, or wrap what it calls"
        elif function.startswith("_Z"):
            meant = f": {mangled_hint(function)}"
        has = f"; it has {first_of(functions) or 'none'}"
        has += "; say which with function=" * (bool(functions) and not is_destroyer)
        raise CompileError(f"{where} declares no function {function!r}{meant or has}")
    return _prototype(unit, symbol or function, functions[function])


def _takes_pointer(cursors: Sequence[Any]) -> bool:
    """Return whether a function takes one pointer, not to const, as a destroyer does."""
    types = [each.type.get_canonical() for each in cursors[-1].get_arguments()]
    is_one = len(types) == 1 and types[0]._kind_id == _POINTER
    return is_one and not types[0].get_pointee().is_const_qualified()


def _prototype(unit: Unit, name: str, cursors: Sequence[Any]) -> Prototype:
    """Return the prototype of a function that is declared, maybe several times."""
    lib, type_ = unit.lib.conf.lib, cursors[-1].type.get_canonical()  # what all of them say
    if type_._kind_id != _WITH_TYPES:
        raise CompileError(f"{name} is declared without parameters: write (void) if it has none")
    if type_.is_function_variadic():
        raise CompileError(
            f"{name}: a function with `...` cannot be called by a wrapper; let one in C with the "
            f"parameters that you need call it"
        )
    if name.lstrip("_") in _TWICE:
        raise CompileError(
            f"{name} returns twice, so only the function that calls it may go on: let one in C "
            "call it, and all that may jump back to it"
        )
    if lib.clang_getFunctionTypeCallingConv(type_) not in _CALLS_OF_C:
        raise CompileError(f"{name} is not called as C is: {type_.spelling}")
    # The last declaration may be the user's own, behind that of a header.
    declared = ([*cursor.get_arguments()] for cursor in reversed(cursors))
    named = max(declared, key=lambda each: sum(bool(cursor.spelling) for cursor in each))
    names = [re.sub("^__(?=[A-Za-z])", "", cursor.spelling) for cursor in named]  # as in glibc
    if len({*names, ""}) <= sum(map(bool, names)):
        names = [cursor.spelling for cursor in named]
    params = list[tuple[str, CType]]()
    for at, cursor in enumerate(named):
        given = lib.clang_getArgType(type_, at)
        given._tu = type_._tu  # as the bindings' own way, which knows fewer kinds of types
        what = f"{name}: parameter {names[at] or f'#{at}'}"
        params.append((names[at], _type(unit, what, given, cursor)))
    result, label = type_.get_result(), cursors[-1].mangled_name
    return Prototype(
        name if label == cursors[-1].spelling else label,
        tuple(params),
        None if result._kind_id == _VOID else _result(unit, name, result, cursors[-1]),
    )


def _result(unit: Unit, name: str, type_: Any, function: Any) -> CType:
    """Return the type of a result, with the name of what is ``void``, as of ``CURL *``."""
    result, written = _type(unit, f"{name}: the result", type_), function.result_type
    return replace(result, pointee=result.pointee or _alias(written))


def _type(unit: Unit, what: str, type_: Any, cursor: Any = None) -> CType:
    """Return a type; the cursor of a parameter has sizes that the type of a function lacks."""
    words = _words(type_)
    if type_._kind_id == _POINTER:
        pointer, to = _pointer(unit, type_, cursor), type_.get_pointee()
        return replace(pointer, layout=None if pointer.row else _layout(unit, to, _words(to)))
    number = _number(type_)
    if number is not None:
        return number
    layout = _layout(unit, type_, words)
    if layout is not None:
        return CType(None, opaque=words, layout=layout)
    if type_._kind_id == _RECORD:
        raise CompileError(
            f"{what} is a {words}, which is not passed by value, as its fields are not known; let "
            f"a function in C take its address"
        )
    raise CompileError(
        f"{what} is a {words}, which no parameter of a signature is; let a function in C take or "
        f"return what converts to it"
    )


def _number(type_: Any) -> CType | None:
    """Return the type of a number, or of what is passed as one; None for any other."""
    dtype = _dtype(type_) or _INTEGERS.get((_words(type_), type_.get_size()))
    if dtype is None or dtype.startswith("complex"):
        return None
    enum = _words(type_).removeprefix("enum ") if type_._kind_id == _ENUM else ""
    return CType(dtype, enum=enum if enum.isidentifier() else "")


def _layout(unit: Unit, type_: Any, words: str) -> Layout | None:
    """Return the layout of a struct or complex number."""
    if type_._kind_id not in (_RECORD, _COMPLEX) or words in _NO_STRUCTS:
        return None

    def read(field: Any) -> CType | None:
        return _pointer(unit, field, None) if field._kind_id == _POINTER else _number(field)

    words = words if type_._kind_id == _RECORD else type_.spelling
    return layout_of(unit, type_, words, read)


def _pointer(unit: Unit, type_: Any, cursor: Any) -> CType:
    """Return the type of a pointer, or of an array, which is passed as one."""
    written = type_ if cursor is None else cursor.type
    whole, to = written.get_canonical(), type_.get_pointee()
    is_const, is_restrict = to.is_const_qualified(), whole.is_restrict_qualified()
    first, own, sizes = 0, _sizes(whole), _sizes(type_)
    if cursor is not None and whole._kind_id in _ARRAYS:
        first, *own = own
        is_restrict = _is_restrict(whole, cursor)
    both = zip(sizes, own, strict=False)  # of all declarations together, and of this one
    rows = (size if isinstance(size, int) else words for size, words in both)
    row = tuple(rows) if to._kind_id in _ARRAYS else ()
    while to._kind_id in _ARRAYS:
        to = element(to)
    dtype, opaque = _dtype(to), None
    last = to.get_pointee() if to._kind_id == _POINTER else to
    named = last._kind_id == _RECORD and "(" not in last.spelling  # as those without a name have
    if to._kind_id == _POINTER:
        dtype, opaque = _dtype(to.get_pointee()), POINTER
    elif to._kind_id != _VOID and (dtype is None or (to._kind_id, to.get_size()) == (_ENUM, 1)):
        opaque = _words(to)  # an enum of a byte is not any memory, as a byte is
    align = max(1, written.get_pointee().get_align()) if opaque is None and dtype else 1
    first = first if isinstance(first, int) else 0
    is_restrict = is_restrict and not is_const
    is_char = to._kind_id in _CHARS
    return CType(
        *(dtype, True, is_const, opaque, is_restrict, align),
        first=first,
        row=row,
        pointee=_words(last) if named else _alias(written),
        is_char=is_char,
    )


def _alias(written: Any) -> str | None:
    """Return ``CURL`` for ``CURL *`` and ``CURL **``, where it is ``void``; None for others."""
    to = written
    for _ in range(2):
        to = to.get_pointee() if to._kind_id == _POINTER else to
    is_void = to._kind_id not in (_POINTER, _VOID) and to.get_canonical()._kind_id == _VOID
    return _words(to) if is_void and written._kind_id == _POINTER else None


def _is_restrict(array: Any, cursor: Any) -> bool:
    """Return whether a parameter is ``x[restrict]``.

    Of an array without a size libclang keeps only the words, which may be a macro: it is believed
    to be ``restrict``.
    """
    if array._kind_id != _UNSIZED:
        return re.match(r"[^]]*\brestrict\b", array.spelling) is not None
    match = re.search(r"\[(.*?)\]", " ".join(token.spelling for token in cursor.get_tokens()))
    return match is not None and not re.fullmatch(r"(_*(const|volatile)_*| )*", match[1])


def _sizes(type_: Any) -> list[int | str | None]:
    """Return the sizes between brackets: numbers, expressions, or none."""
    every = re.findall(r"\[([^]]*)\]", type_.spelling)
    sizes = (re.sub(r"\b(restrict|static|const|volatile)\b", "", each).strip() for each in every)
    return [int(size) if size.isdecimal() else size or None for size in sizes]


def _dtype(type_: Any) -> str | None:
    """Return the dtype of a number, or of elements of which it is two; None for another type."""
    if type_._kind_id == _ENUM:
        type_ = type_.get_declaration().enum_type.get_canonical()
    if type_._kind_id == _COMPLEX:
        parts = {"float32": "complex64", "float64": "complex128"}
        return parts.get(f"{_dtype(element(type_))}")
    if type_._kind_id in (*_UNSIGNED, *_SIGNED) and type_.get_address_space() == 0:
        return f"{'u' * (type_._kind_id in _UNSIGNED)}int{8 * type_.get_size()}"
    return _DTYPES.get(_words(type_))


def _words(type_: Any) -> str:
    """Return what errors call a type that has no dtype."""
    words = re.sub(r"\b(const|volatile) ", "", type_.spelling)
    if type_._kind_id == _RECORD and words != DLTENSOR:
        kind = "union" if type_.get_declaration()._kind_id == _UNION else "struct"
        return f"{kind} {words.removeprefix(f'{kind} ')}"
    return "a function" if type_._kind_id in _FUNCTIONS else words
