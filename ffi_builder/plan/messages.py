"""The messages of all errors.

Every message has one frame, in one line::

    Mismatched B.shape[0] on argument #1 when calling: `matmul(A: …)`,
    expected 3 (k = A.shape[1]) but got 4

A row of :class:`Words` has the texts after ``expected`` and ``but got``. Names in braces stand for
values that are known when the check fails:

    {expected}, {got}   the two values: ints, floats, booleans, or addresses in hex
    {symbol}            the name of the symbol concerned
    {origin}            where that symbol was bound
    {text}              an expression, the other tensor concerned, or the types that are right
    {bindings}          the expression's symbols: ``n = 3 from A.shape[0], m = 4 from A.shape[1]``
    {path}              the parameter: ``B``, ``cfg[1]``
    {type}              the kind of value that came
    {dtype}, {device}   the dtype or device type that came
    {expected_dtype}, {expected_device}     and those that should have come
    {range}             the least and greatest value of a dtype
    {shape}, {strides}  of the tensor that came, in elements
    {address}, {offset} of the data that came, in hex
    {alignment}         the largest power of two that divides the address that came
    {bytes}, {other_bytes}  the first and last address of the tensor and of another one, in hex
    {or_none}           `` or None`` where the parameter is an Optional
    {string}            the str that came, in quotes
    {nearest}           `` (did you mean 'relu'?)``, where something is near
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum
from typing import Final, NamedTuple

from ffi_builder import abi

FRAME: Final = (
    "Mismatched {subject} on argument #{argument} when calling: `{signature}`, "
    "expected {wanted} but got {came}"
)
FRAME_WITHOUT_ARGUMENT: Final = FRAME.replace(" on argument #{argument}", "")
BINDING: Final = "{symbol} = {bound} from {origin}"
"""One symbol of ``{bindings}``; they are joined by ", "."""
SIGNATURE_LIMIT: Final = 400
"""Signatures up to this length are shown whole, longer ones with the other arguments elided."""
UNDECIDED: Final = "an argument changed while it was being checked, perhaps by another thread"
"""Message for a call that the fast path rejected and the diagnosis accepts."""


class _Row(NamedTuple):
    kind: str
    expected: str
    got: str
    prefix: str = ""


def _kind(expected: str) -> _Row:
    return _Row("TypeError", expected, "{type}", "type of ")


def _kind_or_none(expected: str) -> _Row:
    return _kind(f"{expected}{{or_none}}")


def _value(expected: str, got: str = "{got}") -> _Row:
    return _Row("ValueError", expected, got)


class Words(Enum):
    """One row per error: the Python class, the expected value, the value that came.

    Names that share a row are one member, so that an encoded table has each row once.

    Examples:
        >>> from ffi_builder import plan
        >>> plan.Words.ARGUMENTS_NULL.kind, plan.Words.ARGUMENTS_NULL.expected
        ('ValueError', 'a non-NULL pointer')
    """

    COUNT = _Row("TypeError", "{expected}", "{got}")
    ARGUMENTS_NULL = _value("a non-NULL pointer", "NULL")
    KIND_TENSOR = _kind_or_none("Tensor")
    KIND_SHAPE = _kind_or_none("Shape or list of ints")
    KIND_TUPLE = _kind_or_none("tuple")
    KIND_INT = _kind_or_none("int")
    KIND_BOOL = _kind_or_none("bool")
    KIND_FLOAT = _kind_or_none("float")
    KIND_STR = _kind_or_none("str")
    KIND_BYTES = _kind_or_none("bytes")
    KIND_DTYPE = _kind_or_none("dtype")
    KIND_DEVICE = _kind_or_none("device")
    KIND_OBJECT = _kind_or_none("{text}")
    KIND_NONE = _kind("None")
    KIND_HANDLE = _kind("opaque pointer or None")
    KIND_POINTER = _kind("opaque pointer, None or int")
    OBJECT_NULL = _value("a non-NULL object", "NULL")
    NDIM = _value("{expected}")
    DTYPE = _Row("TypeError", "{expected_dtype}", "{dtype}")
    DTYPES = _Row("TypeError", "one of {text}", "{dtype}")
    DEVICE_TYPE = _value("{expected_device}", "{device}")
    SAME_DEVICE = _value("{expected} (the device of {text})")
    SHAPE_NULL = ARGUMENTS_NULL
    NEGATIVE = _value("a non-negative value")
    EQUAL = NDIM
    EQUAL_SYMBOL = _value("{expected} ({symbol} = {origin})")
    EQUAL_EXPR = _value("{expected} ({text} with {bindings})")
    EXPR_OVERFLOW = _value("{text} within int64, with {bindings}")
    RELATION = _value("{text} with {bindings}", "{got} and {expected}")
    RELATION_INT = _value("{text} with {bindings}")
    RELATION_OVERFLOW = _value("{text} with {bindings}", "a value beyond int64")
    SOLVE = _value("a value of {text} for an integer {symbol}")
    FITS = _value("a value that fits {expected_dtype} ({range})")
    PACKED = _value("at most {expected} in magnitude, as elements are packed")
    AT_LEAST = _value("at least {expected} (min of {symbol})")
    AT_MOST = _value("at most {expected} (max of {symbol})")
    DIVISIBLE = _value("a multiple of {expected} (divisibility of {symbol})")
    BOOL = _value("True, False, 0 or 1")
    LENGTH = _Row("ValueError", "{expected}", "{got}", "length of ")
    SMALL = _Row("ValueError", "at most 7, as it is held in place", "{got}", "length of ")
    CELLS_NULL = _value("non-NULL elements", "NULL")
    CHOICE = _value("one of {text}", "{string}{nearest}")
    CONTIGUOUS = _value(
        "{expected} (row-major contiguous)", "{got} (shape={shape}, strides={strides})"
    )
    COLUMN_MAJOR = _value(
        "{expected} (column-major contiguous)", "{got} (shape={shape}, strides={strides})"
    )
    STRIDE = _value("{expected}", "{got} (shape={shape}, strides={strides})")
    STRIDE_SYMBOL = _value(
        "{expected} ({symbol} = {origin})", "{got} (shape={shape}, strides={strides})"
    )
    STRIDE_EXPR = _value(
        "{expected} ({text} with {bindings})", "{got} (shape={shape}, strides={strides})"
    )
    NUMEL = _value("a product of dimensions that fits int64", "{shape}")
    OFFSET = _value("data + byte_offset within the address space", "{address} + {offset}")
    DATA_NULL = _value("a non-NULL pointer, as {path} has elements", "NULL")
    ALIGNMENT = _value(
        "an address aligned to {expected} bytes (data_alignment of {path})",
        "{address} (aligned to {alignment})",
    )
    OVERLAP = _value(
        "memory apart from that of {text} (no_overlap)", "{bytes}, where {text} has {other_bytes}"
    )
    KIND_LIST = _kind_or_none("list of tensors")
    SAME_DTYPE = _Row("TypeError", "{expected_dtype} (dtype of {text})", "{dtype}")

    @property
    def kind(self) -> str:
        """The Python exception class: TypeError or ValueError."""
        return self.value.kind

    @property
    def prefix(self) -> str:
        """Text before the place: ``type of B``."""
        return self.value.prefix

    @property
    def expected(self) -> str:
        """The template after ``expected``."""
        return self.value.expected

    @property
    def got(self) -> str:
        """The template after ``but got``."""
        return self.value.got


PLACEHOLDERS: Final = (
    "expected",
    "got",
    "symbol",
    "origin",
    "text",
    "bindings",
    "path",
    "type",
    "dtype",
    "device",
    "expected_dtype",
    "expected_device",
    "range",
    "shape",
    "strides",
    "address",
    "offset",
    "alignment",
    "subject",
    "argument",
    "signature",
    "wanted",
    "came",
    "bound",
    "or_none",
    "string",
    "nearest",
    "bytes",
    "other_bytes",
)
"""Every placeholder. Encoded templates refer to it by its position here, plus one."""

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
    74: "Python object",
    78: "int beyond int64",
}
"""Names of value kinds in messages: for most objects, the type key."""

OR_NONE: Final = " or None"
"""``{or_none}`` of an Optional."""
NEAREST: Final = " (did you mean '{nearest}'?)"
"""``{nearest}`` where a choice is near."""
SHOWN_ENTRIES: Final = 64
"""Shapes, strides and strs (in bytes) are shown up to this length."""
LONGEST_TYPE_KEY: Final = 255
"""Type keys up to this length (in bytes) are shown; for longer ones, the type index."""
LONGEST_NEAREST: Final = 63
"""Choices up to this length (in bytes) are suggested as what may have been meant."""


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
    """Show a signature whole, or past 400 characters only the failing argument."""
    whole = f"{name}({', '.join(arguments)})"
    if len(whole) <= SIGNATURE_LIMIT:
        return whole
    if failing is None:
        return f"{name}(...)"
    before = "..., " if failing > 0 else ""
    after = ", ..." if failing < len(arguments) - 1 else ""
    return f"{name}({before}{arguments[failing]}{after})"


def template_parts(template: str) -> list[tuple[str, str | None]]:
    """Split ``"at least {expected}!"`` into ``[("at least ", "expected"), ("!", None)]``."""
    pieces = re.split(r"\{(\w+)\}", template)
    names: list[str | None] = [*pieces[1::2], None]
    return list(zip(pieces[0::2], names, strict=True))
