"""Find text with brackets that are nested too deep.

LLVM's and MLIR's parsers, and everything that walks types and attributes, call themselves for each
level. Some ten thousand levels exhaust the stack, which ends the process.
"""

from __future__ import annotations

from typing import Final

_PAIRS: Final = ("()", "[]", "{}", "<>")
_OPENING: Final = "([{<"
_REST: Final = {code: None for code in range(128) if chr(code) not in "".join(_PAIRS)}


def is_deeper(code: str, most: int) -> bool:
    """Tell whether brackets are certainly more than `most`, or a little more, levels deep.

    Args:
        code: text without strings and comments.
        most: up to twice as many levels may pass.
    """
    brackets = code.translate(_REST)
    for _ in range(most):
        before = brackets
        for pair in _PAIRS:
            brackets = brackets.replace(pair, "")
        if len(brackets) == len(before):
            break
    return sum(map(brackets.count, _OPENING)) > most
