"""The types with which LLVM IR defines functions, as LLVM itself reads them.

A function is called as C calls it. What C does not call so, by its convention, by attributes of its
parameters or by its types, is refused, whoever packs the arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Final

from ffi_builder import CompileError
from ffi_builder.extending import did_you_mean
from ffi_builder.plain.types import Type
from ffi_builder.runtime.extending import headers, read_constants
from ffi_builder.wrapping.c_types import CType, Prototype, llvm_type

_DTYPES: Final = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "bfloat": "bfloat16",
    "i1": "bool",
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
}
_TYPE: Final = r"(?:<.*>|\{.*\}|\[.*\]|[^ @]+)(?: addrspace\(\d+\))?"
_HEAD: Final = rf'define (?:((?:"[^"]*"|[^@"])*?) )??({_TYPE}) @("[^"]*"|[^"(]+)\('
_PARAM: Final = rf'({_TYPE})( .*?)??(?: %("[^"]*"|[^ "]+))?'
_CONVENTION: Final = (
    r"\b(?!x86_64_sysvcc\b)(\w+cc|cc ?\d+|(?:aarch64|amdgpu|arm|ptx|riscv|spir)_\w+)(?![\w(])"
)
"""Conventions of calls other than C's. LLVM prints nothing for that of C."""
_UNLIKE_C: Final = (
    r"\b(byref|byval|inalloca|inreg|nest|preallocated|sret|swiftasync|swifterror|swiftself)\b"
)
"""Attributes of parameters that are passed in other places."""
_SIGN: Final = {"zeroext": "uint", "signext": "int"}


class LlvmFunctions:
    """The functions that LLVM IR defines. LLVM reads it when the first is looked up."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _headers(self) -> dict[str, str]:
        return headers(read_constants(self._text))

    def prototype(self, function: str) -> Prototype:
        """Return the types of a function.

        Raises:
            CompileError: the LLVM IR does not parse; it defines no such function, or one that C
                does not call.
        """
        if function not in self._headers:
            names = [*self._headers]
            meant = did_you_mean(function, names)
            raise CompileError(
                f"the LLVM IR defines no `{function}`; it has {', '.join(names[:8]) or 'none'}"
                f"{meant}; say which with function="
            )
        words, result, params = self._parts(function)
        read = [_param(function, *_read_param(function, param)) for param in params]
        read = [*self._pointing(function, read)]
        returned = None if result == "void" else _number(function, result, words)
        return Prototype(function, tuple(read), returned)

    def _pointing(
        self, function: str, params: list[tuple[str, CType]]
    ) -> Iterator[tuple[str, CType]]:
        """Yield parameters with what they point to, if old syntax says that they are floats.

        LLVM forgets it; ``i8*`` stood for anything.
        """
        head = re.search(rf'^define [^\n]*@"?{re.escape(function)}"?\(', self._text, re.MULTILINE)
        written = _split(self._text[head.end() :]) if head else []
        for at, (name, type_) in enumerate(params):
            text = written[at] if at < len(written) else ""
            to = re.match(r"(half|bfloat|float|double)\*(?!\*)", text) if type_.is_pointer else None
            yield name, replace(type_, dtype=_DTYPES[to[1]]) if to else type_

    def declaration(self, function: str) -> tuple[str, list[str]] | None:
        """Return the types of a function as texts of MLIR's LLVM dialect: result, parameters.

        None if the LLVM IR defines no such function. Raises CompileError for one that C does not
        call.
        """
        if function not in self._headers:
            return None
        _, result, params = self._parts(function)
        types = [_read_param(function, param)[0] for param in params]
        return _in_mlir(function, result), [_in_mlir(function, type_) for type_ in types]

    def _parts(self, function: str) -> tuple[str, str, list[str]]:
        """Return the words before the type of the result, that type, and the parameters."""
        header = self._headers[function]
        head = re.match(_HEAD, header)
        if head is None:
            raise _refused(function, f"is no function, but `{header}`")
        words = re.sub('"[^"]*"', "", head[1] or "")
        if re.search(r"\b(internal|private)\b", words):
            raise CompileError(
                f"`{function}` is internal or private in the LLVM IR, so nothing else can call it: "
                f"make it external"
            )
        convention = re.search(_CONVENTION, words)
        if convention is not None:
            raise _refused(function, f"is {convention[1]}, which C does not call")
        return words, head[2], _split(header[head.end() :])


def _split(text: str) -> list[str]:
    """Return the parameters before the bracket that ends them."""
    parts, depth = [""], 0
    for match in re.finditer(r'"[^"]*"|[^"]', text):  # a module may follow
        token = match[0]
        depth += (token in "([{<") - (token in ")]}>")
        if depth < 0:
            break
        if token == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += token
    return [part for part in map(str.strip, parts) if part]


def _read_param(function: str, param: str) -> tuple[str, str, str]:
    """Return the type of a parameter, its attributes and its name."""
    match = re.fullmatch(_PARAM, param)
    assert match is not None, param
    attributes = re.sub('"[^"]*"', "", match[2] or "")
    unlike = re.search(_UNLIKE_C, attributes)
    if unlike is not None or param == "...":
        raise _refused(function, f"takes `{param}`, which C does not pass so")
    name = (match[3] or "").strip('"')
    return match[1], attributes, "" if name.isdecimal() else name


def _param(function: str, type_: str, attributes: str, name: str) -> tuple[str, CType]:
    read = _number(function, type_, attributes)
    if not read.is_pointer:
        return name, read
    align = re.search(r"\balign[ (](\d+)", attributes)
    is_restrict = re.search(r"\bnoalias\b(?!.*\b(readonly|readnone)\b)", attributes) is not None
    return name, replace(read, is_restrict=is_restrict, align=int(align[1]) if align else 1)


def _number(function: str, type_: str, attributes: str) -> CType:
    """Return the type of a number or pointer. Its extension to a C int says its sign."""
    if type_ == "ptr":
        return CType(None, is_pointer=True)
    if type_ not in _DTYPES:
        raise _refused(function, f"has the type {type_}, which no wrapper passes")
    sign = re.search(r"\b(zeroext|signext)\b", attributes)
    dtype = _DTYPES[type_]
    if sign is None or not dtype.startswith("int"):
        return CType(dtype, is_signless=True)
    return CType(dtype.replace("int", _SIGN[sign[1]]))


def _in_mlir(function: str, type_: str) -> str:
    words = re.sub(r"\b(float|double|half|bfloat)\b", lambda m: llvm_type(_DTYPES[m[0]]), type_)
    text = re.sub(r"ptr addrspace\((\d+)\)", r"ptr<\1>", words)
    for own, theirs in (("{ ", "struct<("), (" }", ")>"), ("[", "array<"), ("]", ">")):
        text = text.replace(own, theirs)
    try:
        Type.parse(text)
    except ValueError:
        raise _refused(function, f"has the type {type_}, which no wrapper passes") from None
    return text


def _refused(function: str, why: str) -> CompileError:
    return CompileError(
        f"`{function}` {why}: add a function to the LLVM IR that takes numbers and pointers, as C "
        f"does, and calls it"
    )
