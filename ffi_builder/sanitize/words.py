"""The words of errors about what a kernel has done to its tensors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, TypeVar

ERROR: Final = "AssertionError"
"""The class of the errors, as in ``testing.check_intents``: the kernel is wrong, not the call."""
OUTSIDE: Final = (
    "The kernel writes outside of the elements of {path}: byte {{}} from its data has changed "
    "({{}} in all; the elements are the {{}} bytes from byte {{}} on; check the bounds and the "
    "strides that the kernel writes with)"
)
CHANGED: Final = (
    "{path} is declared intent='in', but the kernel changes {path}{{}} from {{}} to {{}} (declare "
    "intent='inout' if it may)"
)
UNWRITTEN: Final = (
    "{path} is declared intent='out', but the kernel does not write {path}{{}}, which still holds "
    "the poison {{}} (declare intent='inout' if it may keep a part)"
)
UNWRITTEN_RESULT: Final = (
    "The kernel does not write {path}{{}} of the result {path}, which still holds the poison {{}}"
)
_BY_CHANCE: Final = "; 4 to 7 bytes may be right by chance: set poison=False if these are"
COMPUTED: Final = (
    "The kernel computes {path}{{}} from memory that nobody has written: an output or a Workspace "
    "before it writes it, or bytes outside of a tensor (it is a NaN with the digits of the poison)"
)
NAN: Final = "The kernel leaves NaN in {path}{{}} (leave out nan=True if NaN is a right value)"
NO_MEMORY: Final = "There is no memory for the copy of {path} that sanitize makes"
"""Messages. Braces that remain stand for values of the call."""
_BRACES: Final = re.compile(r"\{(?:path|\{\})\}")
_Value = TypeVar("_Value")


def worded(
    words: str, path: str, index: Sequence[_Value], values: Sequence[_Value]
) -> tuple[str, list[_Value]]:
    """Return one of these messages with its path, and a value for each of the remaining braces.

    Args:
        words: the message.
        path: the path of the tensor, or of the list that contains it.
        index: the index in the list; empty if the tensor is not in a list.
        values: the values of the braces in the message.
    """
    rest = iter(values)
    shown: list[_Value] = []
    for place in _BRACES.findall(words):
        shown += index if place == "{path}" else [next(rest)]
    return words.format(path=path + "[{}]" * len(index)), shown


def possibly(unwritten: str) -> str:
    """Return a message about unwritten elements, reworded for too few bytes to be certain."""
    return unwritten.replace("does not write", "possibly does not write") + _BY_CHANCE
