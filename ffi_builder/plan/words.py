"""All the words of errors, and nothing else.

Every message has one frame, in one line::

    Mismatched B.shape[0] on argument #1 when calling: `matmul(A: …)`,
    expected 3 (k = A.shape[1]) but got 4

What stands behind ``expected`` and ``but got`` is a row of :class:`Words`. The names in braces are
values that are known when the check fails; the compiled wrapper and :mod:`ffi_builder.testing` fill
them in alike:

    {expected}, {got}   the two values: ints, floats, booleans, or addresses in hex
    {symbol}            the name of the symbol concerned
    {origin}            where that symbol was bound
    {text}              an expression, or the other tensor concerned
    {bindings}          the expression's symbols: ``n = 3 from A.shape[0], m = 4 from A.shape[1]``
    {path}              the parameter: ``B``, ``cfg[1]``
    {type}              the kind of value that came
    {dtype}, {device}   the dtype or device type that came
    {expected_dtype}, {expected_device}     and those that should have come
    {range}             the least and greatest value of a dtype
    {shape}, {strides}  of the tensor that came, in elements
    {address}, {offset} of the data that came, in hex
    {alignment}         the largest power of two that divides the address that came
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, NamedTuple

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
"""What is raised when the hot path found something wrong and the diagnosis did not."""


class _Row(NamedTuple):
    kind: str
    expected: str
    got: str
    prefix: str = ""


def _kind(expected: str) -> _Row:
    return _Row("TypeError", expected, "{type}", "type of ")


def _value(expected: str, got: str = "{got}") -> _Row:
    return _Row("ValueError", expected, got)


class Words(Enum):
    """One row an error: the Python class, what was expected, what came.

    Two names may share a row (they are one member then): an encoded table has each row once.
    """

    COUNT = _Row("TypeError", "{expected}", "{got}")
    ARGUMENTS_NULL = _value("a non-NULL pointer", "NULL")
    KIND_TENSOR = _kind("Tensor")
    KIND_SHAPE = _kind("Shape or list of ints")
    KIND_TUPLE = _kind("tuple")
    KIND_INT = _kind("int")
    KIND_BOOL = _kind("bool")
    KIND_FLOAT = _kind("float")
    KIND_NONE = _kind("None")
    KIND_HANDLE = _kind("opaque pointer or None")
    KIND_POINTER = _kind("opaque pointer, None or int")
    OBJECT_NULL = _value("a non-NULL object", "NULL")
    NDIM = _value("{expected}")
    DTYPE = _Row("TypeError", "{expected_dtype}", "{dtype}")
    DEVICE_TYPE = _value("{expected_device}", "{device}")
    SAME_DEVICE = _value("{expected} (the device of {text})")
    SHAPE_NULL = ARGUMENTS_NULL
    NEGATIVE = _value("a non-negative value")
    EQUAL = NDIM
    EQUAL_SYMBOL = _value("{expected} ({symbol} = {origin})")
    EQUAL_EXPR = _value("{expected} ({text} with {bindings})")
    EXPR_OVERFLOW = _value("{text} within int64, with {bindings}")
    SOLVE = _value("a value of {text} for an integer {symbol}")
    FITS = _value("a value that fits {expected_dtype} ({range})")
    PACKED = _value("at most {expected} in magnitude, as elements are packed")
    AT_LEAST = _value("at least {expected} (min of {symbol})")
    AT_MOST = _value("at most {expected} (max of {symbol})")
    DIVISIBLE = _value("a multiple of {expected} (divisibility of {symbol})")
    BOOL = _value("True, False, 0 or 1")
    LENGTH = _Row("ValueError", "{expected}", "{got}", "length of ")
    CELLS_NULL = _value("non-NULL elements", "NULL")
    CONTIGUOUS = _value(
        "{expected} (row-major contiguous)", "{got} (shape={shape}, strides={strides})"
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

    @property
    def kind(self) -> str:
        """The Python exception class: TypeError or ValueError."""
        return self.value.kind

    @property
    def prefix(self) -> str:
        """What stands before the place: ``type of B``."""
        return self.value.prefix

    @property
    def expected(self) -> str:
        """The template behind ``expected``."""
        return self.value.expected

    @property
    def got(self) -> str:
        """The template behind ``but got``."""
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
)
"""Every placeholder; one's number in an encoded template is its position here, plus one."""

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
    64: "Object",
    65: "str",
    66: "bytes",
    67: "Error",
    68: "Function",
    69: "Shape",
    70: "Tensor",
    71: "Array",
    72: "Map",
    73: "Module",
    74: "Python object",
    75: "List",
    76: "Dict",
    77: "VisitInterrupt",
    78: "int beyond int64",
}
"""How messages call the kind of a value; any other is shown as ``type index 131``."""


def type_name(type_index: int) -> str:
    """What messages call a value of this type index."""
    return TYPE_NAMES.get(type_index, f"type index {type_index}")


def float_text(value: float) -> str:
    """``%.15g``, or ``%.17g`` where that would be another float64; ``nan`` for every NaN."""
    if value != value:
        return "nan"
    short = f"{value:.15g}"
    return short if float(short) == value else f"{value:.17g}"


def signature_text(name: str, arguments: list[str], failing: int | None) -> str:
    """The signature as a message shows it: whole, or past 400 characters only the failing part."""
    whole = f"{name}({', '.join(arguments)})"
    if len(whole) <= SIGNATURE_LIMIT:
        return whole
    if failing is None:
        return f"{name}(...)"
    before = "..., " if failing > 0 else ""
    after = ", ..." if failing < len(arguments) - 1 else ""
    return f"{name}({before}{arguments[failing]}{after})"


def template_parts(template: str) -> list[tuple[str, str | None]]:
    """``"at least {expected}!"`` as ``[("at least ", "expected"), ("!", None)]``."""
    pieces = re.split(r"\{(\w+)\}", template)
    names: list[str | None] = [*pieces[1::2], None]
    return list(zip(pieces[0::2], names, strict=True))
