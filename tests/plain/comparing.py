"""Compares LLVM IR but for the numbers and names of values and blocks."""

from __future__ import annotations

import re
from itertools import count
from typing import Any, Final

from ffi_builder.runtime.codegen import llvm

_GROUP: Final = re.compile(r"(?m)^attributes (#\d+) = (\{.*\})$")
_NODE: Final = re.compile(r"(?m)^(!\d+) = (.*)$")
_NAME: Final = re.compile(r'%(?:"[^"]*"|[\w.$-]+)')
_LABEL: Final = re.compile(r'(?m)^("[^"]*"|[\w.$-]+):')


def symbols_of(text: str) -> dict[str, str]:
    """Return each function and global of LLVM IR as llvmlite prints it, with new numbers."""
    module: Any = llvm.parse_unverified(text)
    module.verify()
    printed = str(module)
    groups = dict(_GROUP.findall(printed))
    nodes = dict(_NODE.findall(printed))
    found: dict[str, str] = {}
    for symbol in (*module.functions, *module.global_variables):
        own = re.sub(r"(?m)^;.*\n|\s*;[^\n\"]*$", "", str(symbol))
        own = re.sub(r"#\d+$|#\d+(?= \{$)", lambda group: groups[group[0]], own, flags=re.M)
        own = re.sub(r'"[^"]*"|!\d+', lambda node: nodes.get(node[0], node[0]), own)
        found[symbol.name] = numbered(own).strip()
    return found


def numbered(function: str) -> str:
    """Number the values and blocks of a function in the order in which they are named first."""
    numbers = count()
    names: dict[str, str] = {}

    def number(found: re.Match[str]) -> str:
        name = found[0].lstrip("%").strip(':"')
        if name not in names:
            names[name] = str(next(numbers))
        return f"{names[name]}:" if found[0].endswith(":") else f"%{names[name]}"

    head, opened, body = function.partition(" {\n")
    if opened and not _LABEL.match(body):
        # The number of the first block follows those of the parameters, and is not printed.
        body = f"{len(_NAME.findall(head))}:\n{body}"
    both = re.compile(rf"{_LABEL.pattern}|{_NAME.pattern}")
    return both.sub(number, f"{head}{opened}{body}")
