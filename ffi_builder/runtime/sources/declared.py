"""Compares what a module calls with the functions that LLVM IR in ``link=`` defines.

A linker compares names alone. Functions that take other arguments than they get read garbage.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ffi_builder.errors import CompileError
from ffi_builder.runtime.codegen import constants, emit
from ffi_builder.runtime.sources.links import Item
from ffi_builder.runtime.sources.modules import LlvmSource, Source, callers, llvm_ir

_SIMPLE: Final = r"(?:void|ptr|half|bfloat|float|double|i\d+)"
_TYPE: Final = rf"{_SIMPLE} \((?:{_SIMPLE}(?:, {_SIMPLE})*)?\)"
_DEFINED: Final = r'^ *define [^\n@]*@("[^"\n]*"|[-\w$.]+)\('


def check_declared(source: Source, items: Sequence[Item]) -> None:
    """Check that LLVM IR defines functions with the types with which the module calls them.

    Only numbers and pointers are compared. A result that is not used may be of any type.

    Raises:
        CompileError: a function takes or returns something else.
    """
    linked = [item.text for item in items if isinstance(item, LlvmSource)]
    if not linked:
        return
    called = _types(_declarations(source))
    for text in linked:
        names = {name.strip('"') for name in re.findall(_DEFINED, text, re.MULTILINE)}
        defined = {} if names.isdisjoint(called) else _types(text)
        for name in sorted(names & called.keys() & defined.keys()):
            _compare(source, name, called[name], defined[name])


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


def _declarations(source: Source) -> str:
    """Return the declarations of functions in a module, as LLVM IR."""
    ir = llvm_ir(source)
    lines = re.findall(r"^(?:declare |%[^\n=]+ = type )[^\n]*", ir.text if ir else "", re.MULTILINE)
    return "\n".join(re.sub(r"( #\d+| ![\w.]+ !\d+)+$", "", line) for line in lines)


def _types(text: str) -> dict[str, str]:
    """Return the types of functions in LLVM IR, ``void (ptr, i64)``; none if it does not parse."""
    try:
        return emit.function_types(constants.read(text))
    except CompileError:
        return {}  # who compiles it says what is wrong
