"""The messages of all errors.

Every message has the same frame, on one line::

    Mismatched B.shape[0] on argument #1 when calling: `matmul(A: …)`,
    expected 3 (k = A.shape[1]) but got 4

:class:`Words` hold the texts after ``expected`` and ``but got``. Names in braces stand for values
that are known when the check fails:

    {expected}, {got}   the two values: ints, floats, booleans, or addresses in hex
    {symbol}            the name of the symbol concerned
    {origin}            where that symbol was bound
    {text}              an expression, the other tensor concerned, or the accepted types
    {bindings}          the expression's symbols: ``n = 3 from A.shape[0], m = 4 from A.shape[1]``
    {path}              the parameter: ``B``, ``cfg[1]``
    {type}              the kind of the given value
    {dtype}, {device}   the dtype or device type of the given tensor
    {expected_dtype}, {expected_device}     the dtype or device type that is expected
    {range}             the least and greatest value of a dtype
    {shape}, {strides}  of the given tensor, in elements
    {address}, {offset} of the given data, in hex
    {alignment}         the largest power of two that divides the given address
    {bytes}, {other_bytes}  the first and last address of the tensor and of another one, in hex
    {or_none}           `` or None`` where the parameter is an Optional
    {string}            the given str, in quotes
    {nearest}           `` (did you mean 'relu'?)``, if a choice is similar
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from ffi_builder import abi

FRAME: Final = (
    "Mismatched {subject} on argument #{argument} when calling: `{signature}`, "
    "expected {wanted} but got {actual}"
)
FRAME_WITHOUT_ARGUMENT: Final = FRAME.replace(" on argument #{argument}", "")
BINDING: Final = "{symbol} = {bound} from {origin}"
"""One symbol of ``{bindings}``; symbols are joined by ", "."""
PROPERTY: Final = "{symbol} = {bound}"
"""A property, or an unbound symbol, in ``{bindings}``."""
SIGNATURE_LIMIT: Final = 400
"""Signatures up to this length are shown whole, longer ones with the other arguments elided."""
UNDECIDED: Final = "an argument changed while it was being checked, perhaps by another thread"
"""Message for a call that the fast path rejected and the diagnosis accepts."""


class Words(NamedTuple):
    """The words of an error, which a step declares: see :class:`~ffi_builder.plan.step.Step`.

    Examples:
        >>> from ffi_builder import plan
        >>> plan.Words("ValueError", "at least {expected}").got
        '{got}'
    """

    kind: str
    """The Python exception class: TypeError or ValueError."""
    expected: str
    """The template after ``expected``."""
    got: str = "{got}"
    """The template after ``but got``."""
    prefix: str = ""
    """Text before the place: ``type of B``."""


def value_error(expected: str, got: str = "{got}", *, of: str = "") -> Words:
    """Return the words of a ValueError about the value, or about its ``of``, such as ``length``."""
    return Words("ValueError", expected, got, f"{of} of " if of else "")


def type_error(expected: str, got: str = "{got}") -> Words:
    """Return the words of a TypeError about a value."""
    return Words("TypeError", expected, got)


def kind_error(expected: str, *, or_none: bool = True) -> Words:
    """Return the words of a TypeError about the kind of a value; an Optional adds "or None"."""
    template = f"{expected}{{or_none}}" if or_none else expected
    return Words("TypeError", template, "{type}", "type of ")


TYPE_NAMES: Final[dict[int, str]] = {
    0: "None",
    1: "int",
    2: "bool",
    3: "float",
    4: "opaque pointer",
    5: "dtype",
    6: "device",
    7: "DLTensor*",
    8: "char*",
    9: "TVMFFIByteArray*",
    10: "moved object",
    11: "str",
    12: "bytes",
    13: "Unchanged",
    **abi.TYPE_KEYS,
    65: "str",
    66: "bytes",
    71: "list",
    72: "dict",
    74: "Python object",
    78: "int beyond int64",
}
"""Names of the kinds of values in messages: what Python passes has its name there, other objects
their type key."""

OR_NONE: Final = " or None"
"""``{or_none}`` of an Optional."""
NEAREST: Final = " (did you mean '{nearest}'?)"
"""``{nearest}`` where a choice is similar."""
SHOWN_ENTRIES: Final = 64
"""Shapes, strides and strs (in bytes) are shown up to this length."""
LONGEST_TYPE_KEY: Final = 255
"""Type keys up to this length (in bytes) are shown; for longer ones, the type index."""
LONGEST_NEAREST: Final = 63
"""Choices up to this length (in bytes) are suggested for a misspelt str."""


def choices_text(choices: Iterable[str]) -> str:
    """List choices: ``'relu', 'gelu'``."""
    return ", ".join(f"'{choice}'" for choice in choices)


def float_text(value: float) -> str:
    """Show a float64 by ``%.15g``, or by ``%.17g`` if that would read back differently."""
    if value != value:
        return "nan"
    short = f"{value:.15g}"
    return short if float(short) == value else f"{value:.17g}"


def signature_text(name: str, arguments: list[str], failing: int | None) -> str:
    """Show a signature: whole up to 400 characters, else with the failing argument only."""
    whole = f"{name}({', '.join(arguments)})"
    if len(whole) <= SIGNATURE_LIMIT:
        return whole
    if failing is None:
        return f"{name}(...)"
    before = "..., " if failing > 0 else ""
    after = ", ..." if failing < len(arguments) - 1 else ""
    return f"{name}({before}{arguments[failing]}{after})"
