"""The types with which LLVM IR defines a function."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from ffi_builder.errors import CompileError
from ffi_builder.suggest import did_you_mean
from ffi_builder.wrapping.c_types import CType, Prototype

_LLVM_DTYPES: Final = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "bfloat": "bfloat16",
    "i1": "bool",
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
}


def defined_in(text: str, function: str) -> Prototype:
    """Return the types with which LLVM IR defines a function.

    Raises:
        CompileError: it defines no such function, or one of other types than numbers and pointers.
    """
    quoted = re.escape(function)
    result = r"(<[^>]*>|\S+)"
    found = re.search(rf'^\s*define\b([^@\n]*?){result} @"?{quoted}"?\((.*)$', text, re.MULTILINE)
    if found is None:
        names = re.findall(r'^\s*define\b[^@\n]*@"?([^"(\s]+)', text, re.MULTILINE)
        meant = did_you_mean(function, names)
        raise CompileError(
            f"the LLVM IR defines no `{function}`; it has {', '.join(names[:8]) or 'none'}{meant}; "
            f"say which with function="
        )
    if re.search(r"\b(internal|private)\b", found[1]):
        raise CompileError(
            f"`{function}` is internal or private in the LLVM IR, so nothing else can call it: "
            f"make it external"
        )
    convention = re.search(r"\b(?!ccc\b)(\w+cc|cc \d+|spir_\w+|ptx_\w+)\b", found[1])
    if convention is not None:
        raise CompileError(
            f"`{function}` is {convention[1]}, which C does not call; give provider="
        )
    params: list[tuple[str, CType]] = []
    for param in _split(found[3]):
        vector = re.match(r"<[^>]*>", param)
        first, *rest = [vector[0]] if vector else param.split()
        if re.search(r"\b(byval|byref|inalloca|sret)\b", param):
            raise CompileError(f"`{function}` takes `{param}`, a struct by value; give provider=")
        name = rest[-1][1:].strip('"') if rest and rest[-1].startswith("%") else ""
        type_ = _of_llvm(function, first)
        if type_.is_pointer:
            align = re.search(r"\balign[ (](\d+)", param)
            is_restrict = "noalias" in rest and not {"readonly", "readnone"} & {*rest}
            type_ = replace(type_, is_restrict=is_restrict, align=int(align[1]) if align else 1)
        params.append(("" if name.isdecimal() else name, type_))
    result = None if found[2] == "void" else _of_llvm(function, found[2])
    return Prototype(function, tuple(params), result)


def _split(text: str) -> list[str]:
    """Return the parameters before the bracket that ends them."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{<") - (letter in ")]}>")
        if depth < 0:
            break
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in map(str.strip, parts) if part]


def _of_llvm(function: str, word: str) -> CType:
    if word == "ptr":
        return CType(None, is_pointer=True)
    if word.endswith("*"):
        raise CompileError(
            f"`{function}` takes `{word}`, but LLVM has had only opaque pointers since version 17: "
            f"let your compiler write `ptr`"
        )
    if word not in _LLVM_DTYPES:
        raise CompileError(f"`{function}` has a type that is not read: {word}; give provider=")
    return CType(_LLVM_DTYPES[word], is_signless=True)
