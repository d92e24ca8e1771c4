"""Compares what a module calls with the functions that LLVM IR in ``link=`` defines.

A linker compares names alone. Functions that take other arguments than they get read garbage.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from ffi_builder.errors import CompileError
from ffi_builder.runtime.codegen import constants, emit
from ffi_builder.runtime.codegen.constants import LlvmIr
from ffi_builder.runtime.sources.links import Item
from ffi_builder.runtime.sources.modules import LlvmSource, Source, callers, llvm_ir

_SIMPLE: Final = r"(?:void|ptr|half|bfloat|float|double|i\d+)"
_TYPE: Final = rf"{_SIMPLE} \((?:{_SIMPLE}(?:, {_SIMPLE})*)?\)"
_NAMED: Final = r"^%[^\n=]+ = type [^\n]*"
_FUNCTION: Final = r'^ *{} [^\n@]*@("[^"\n]*"|[-\w$.]+)\('


def check_declared(source: Source, items: Sequence[Item]) -> LlvmIr | None:
    """Check that LLVM IR defines functions with the types with which the module calls them.

    Only numbers and pointers are compared. A result that is not used may be of any type. Returns
    the module's LLVM IR, if it was needed.

    Raises:
        CompileError: a function takes or returns something else; the module does not translate.
    """
    linked = [item.text for item in items if isinstance(item, LlvmSource)]
    ir = llvm_ir(source) if linked else None
    if ir is None:
        return None
    declared = _functions(ir.text, "declare")
    for text in linked:
        defined = _functions(text, "define")
        both = sorted(declared.keys() & defined.keys())
        called = _types(ir.text, (_head(ir.text, declared[name]) for name in both))
        taken = _types(text, (f"{_head(text, defined[name])} {{ unreachable }}" for name in both))
        for name in sorted(taken.keys() & called.keys()):
            _compare(source, name, called[name], taken[name])
    return ir


def _compare(source: Source, name: str, ours: str, theirs: str) -> None:
    if ours == theirs or not (re.fullmatch(_TYPE, ours) and re.fullmatch(_TYPE, theirs)):
        return
    (result, passed), (returned, taken) = (each[:-1].split(" (") for each in (ours, theirs))
    if passed == taken and result == "void":
        return
    given, words = f"passes ({passed})", f"takes ({taken})"
    if passed == taken:
        given, words = f"expects {result}", f"returns {returned}"
    by = "".join(f" in `{each}`" for each in callers(source, name)[:1])
    raise CompileError(
        f"`{name}` {words} in the LLVM IR of link=, but the module {given}{by}: change the "
        f"signature or args=, and what the module declares of `{name}`"
    )


def _functions(text: str, word: str) -> dict[str, re.Match[str]]:
    """Return where functions are declared or defined in LLVM IR, by their names."""
    found = re.finditer(_FUNCTION.format(word), text, re.MULTILINE)
    return {match[1].strip('"'): match for match in found}


def _head(text: str, match: re.Match[str]) -> str:
    """Return a function up to its last parameter. A body takes long to parse."""
    depth = 1
    for token in re.compile(r'"[^"]*"|[()]').finditer(text, match.end()):
        depth += (token[0] == "(") - (token[0] == ")")
        if depth == 0:
            return text[match.start() : token.end()]
    return ""


def _types(text: str, functions: Iterable[str]) -> dict[str, str]:
    """Return the types of functions, ``void (ptr, i64)``; none if they do not parse.

    ``functions`` are in ``text``, which has the types that they name.
    """
    lines = [*functions]
    if not lines:
        return {}
    lines = [*re.findall(_NAMED, text, re.MULTILINE), *lines]
    try:
        return emit.function_types(constants.read("\n".join(lines)))
    except CompileError:
        return {}  # who compiles it says what is wrong
