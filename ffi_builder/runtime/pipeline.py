"""Splits the text of a pass pipeline into pipelines that run one after the other.

The first of these becomes the other three, behind one that only loads dialects::

    builtin.module(one-shot-bufferize{a=1 b=2},func.func(cse,canonicalize),convert-to-llvm)

    builtin.module(one-shot-bufferize{a=1 b=2})
    builtin.module(func.func(cse,canonicalize))
    builtin.module(convert-to-llvm)

MLIR describes the text under "Textual Pass Pipeline Specification" in
https://mlir.llvm.org/docs/PassManagement/.
"""

from __future__ import annotations

import re

_NO_OPERATION = "ffi_builder.none"


def steps(pipeline: str) -> list[str]:
    """Split a pipeline into the pipelines to run instead; none if its text is of another form.

    The first one runs no pass: it is for an operation that no module has. MLIR loads the dialects
    that passes create before it runs a pipeline, and some passes rely on those of later passes.
    """
    found = re.fullmatch(r"\s*([\w.$-]+)\s*\((.*)\)\s*", pipeline, re.DOTALL)
    if found is None:
        return []
    anchor, passes = found[1], found[2]
    load = f"{anchor}({_NO_OPERATION}({anchor}({passes})))"
    return [load, *(f"{anchor}({one})" for one in _separated(passes))]


def _separated(passes: str) -> list[str]:
    """Split at the commas that are outside of parentheses and braces.

    Within the braces around options, parentheses mean nothing.
    """
    found, start, parentheses, braces = list[str](), 0, 0, 0
    for at, char in enumerate(passes):
        braces += (char == "{") - (char == "}")
        if braces:
            continue
        parentheses += (char == "(") - (char == ")")
        if char == "," and not parentheses:
            found.append(passes[start:at])
            start = at + 1
    return [*found, passes[start:]]
