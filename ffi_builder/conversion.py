"""Python values that tvm-ffi does not pass: those nested without end, and those it cannot convert.

tvm-ffi converts containers by recursion in C, which ends the process where one contains itself. So
whoever passes values looks first. What else it does not convert is an error of whatever the value
raises, without the name of an argument. The name is found when that has happened.
"""

from __future__ import annotations

import ctypes
import enum
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, Final, cast

from ffi_builder import importing

LEVELS: Final = 64
"""The most levels of lists, tuples, dicts, and objects that stand for other values."""
EXPECTED: Final = f"at most {LEVELS} levels of lists, tuples and dicts"
GOT: Final = "more, perhaps of one that contains itself"
"""What errors say of a value with more."""

FLAT: Final[set[type[object]]] = {int, float, bool, str, bytes, type(None), ctypes.c_void_p}
"""Classes whose values contain no others. :func:`deep` adds some."""
_MOST_FLAT: Final = 256
_CONTAINERS: Final = (tuple, list, dict, enum.Enum)
_OF_CONVERSIONS: Final = (TypeError, ValueError, OverflowError, BufferError)
_STANDS_FOR: Final = "__tvm_ffi_value__"
"""The method with which an object gives tvm-ffi the value that it stands for."""


def deep(values: Iterable[Any]) -> int | None:
    """Return the number of the first value with too many levels; None if there is none."""
    for number, value in enumerate(values):
        kind = cast("type[object]", type(value))
        if kind in FLAT:
            continue
        if issubclass(kind, _CONTAINERS) or hasattr(kind, _STANDS_FOR):
            with suppress(Exception):  # of a method, which raises it again when it is converted
                if _is_deep(value, LEVELS):
                    return number
        elif len(FLAT) < _MOST_FLAT:
            FLAT.add(kind)
    return None


def _is_deep(value: Any, levels: int) -> bool:
    kind = cast("type[object]", type(value))
    if kind in FLAT:
        return False
    inner: Iterable[Any]
    if issubclass(kind, tuple):  # as tvm-ffi does, whatever the methods of a subclass are
        inner = cast("Any", tuple).__iter__(value)
    elif issubclass(kind, dict):
        inner = chain.from_iterable(cast("Any", dict).items(value))
    elif issubclass(kind, list):
        inner = value
    elif issubclass(kind, enum.Enum):
        inner = (value.value,)
    elif hasattr(kind, _STANDS_FOR):
        inner = (value.__tvm_ffi_value__(),)
    else:
        return False
    if levels == 0:
        return True
    items = [*inner]
    # The first is quick for a long list of numbers.
    return not FLAT.issuperset(map(type, items)) and any(_is_deep(i, levels - 1) for i in items)


def unconverted(values: Sequence[Any], error: Exception) -> tuple[int, str] | None:
    """Return the number of the value that raised an error when tvm-ffi converted it.

    Returns:
        The number, and words for the value; None if no value raises this error, or if it is one of
        the value's own, such as that of a stream which is closed.
    """
    if not isinstance(error, _OF_CONVERSIONS) or hasattr(error, "__tvm_ffi_error__"):
        return None  # with the attribute, code that was called has raised it
    if str(error).startswith("Mismatched "):  # it names the argument
        return None
    for number, value in enumerate(values):
        refusal = _refusal(value)
        if (type(refusal), str(refusal)) == (type(error), str(error)):
            kind = cast("type[object]", type(value))
            name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
            return number, f"a {name} that is not converted: {type(error).__name__}: {error}"
    return None


def _refusal(value: Any) -> Exception | None:
    """Return the error with which tvm-ffi refuses to pass a value."""
    try:
        importing.load("tvm_ffi").get_global_func("ffi.Array")(value)
    except Exception as error:
        return error
    return None
