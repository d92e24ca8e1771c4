"""Finds text with brackets that are nested too deeply.

LLVM's and MLIR's parsers are recursive, and so is all code that walks types and attributes. Some
ten thousand levels exhaust the stack, which ends the process.
"""

from __future__ import annotations

from typing import Final

_PAIRS: Final = ("()", "[]", "{}", "<>")
_OPENING: Final = "([{<"
_REST: Final = {code: None for code in range(128) if chr(code) not in "".join(_PAIRS)}


def is_deeper(code: str, most: int) -> bool:
    """Tell whether brackets are nested too deeply: True means more than `most` levels.

    Args:
        code: text without strings and comments.
        most: the limit, which is not exact: up to twice as many levels may pass.
    """
    brackets = code.translate(_REST)
    for _ in range(most):
        before = brackets
        for pair in _PAIRS:
            brackets = brackets.replace(pair, "")
        if len(brackets) == len(before):
            break
    return sum(map(brackets.count, _OPENING)) > most
