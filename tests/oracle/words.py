"""The texts of places, values and whole messages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NoReturn, TypeAlias, Union

from ffi_builder import abi
from ffi_builder.spec import Signature, Var, outline
from ffi_builder.spec.outlines import argument_texts

Kind: TypeAlias = Literal["TypeError", "ValueError"]
Value: TypeAlias = Union[int, float, bool]

WHOLE_SIGNATURE: Final = 400
"""The length of the longest signature that an error shows whole."""

MOST_ENTRIES: Final = 64
"""The number of entries of a shape or strides, and of bytes of a str, that are shown."""

INT64_MAX: Final = 2**63 - 1

DEVICES: Final = {code: name for name, code in abi.DEVICE_TYPES.items()}


@dataclass(frozen=True)
class Mismatch(Exception):
    """The first check that fails; ``argument`` is None if it concerns no argument."""

    kind: Kind
    subject: str
    argument: int | None
    expected: str
    got: str

    def message(self, signature: Signature) -> str:
        """The whole error message."""
        where = "" if self.argument is None else f" on argument #{self.argument}"
        return (
            f"Mismatched {self.subject}{where} when calling: "
            f"`{signature_text(signature, self.argument)}`, "
            f"expected {self.expected} but got {self.got}"
        )


@dataclass(frozen=True)
class Place:
    """A part of an argument, such as ``cfg[1].strides`` of argument 2."""

    argument: int
    path: str
    optional: bool = False
    """Whether None is allowed here; False for parts."""

    def part(self, name: str) -> Place:
        """Return the place of a part: from ``A`` to ``A.shape``."""
        return Place(self.argument, f"{self.path}.{name}")

    def entry(self, index: int) -> Place:
        """Return the place of an entry: from ``A.shape`` to ``A.shape[0]``."""
        return Place(self.argument, f"{self.path}[{index}]")

    def wrong_value(self, expected: str, got: str) -> NoReturn:
        raise Mismatch("ValueError", self.path, self.argument, expected, got)

    def wrong_dtype(self, expected: str, got: str) -> NoReturn:
        raise Mismatch("TypeError", self.path, self.argument, expected, got)

    def wrong_type(self, expected: str, kind: str) -> NoReturn:
        says_none = expected.endswith(" or None")  # a handle is one
        words = f"{expected} or None" if self.optional and not says_none else expected
        raise Mismatch("TypeError", f"type of {self.path}", self.argument, words, kind)

    def wrong_length(self, expected: str, got: int) -> NoReturn:
        subject = f"length of {self.path}"
        raise Mismatch("ValueError", subject, self.argument, expected, str(got))


def signature_text(signature: Signature, argument: int | None) -> str:
    """Return the signature, whole or with all arguments but the failing one elided."""
    whole = outline(signature)
    if len(whole) <= WHOLE_SIGNATURE:
        return whole
    if argument is None:
        return f"{signature.name}(...)"
    texts = argument_texts(signature)
    before = "..., " if argument > 0 else ""
    behind = ", ..." if argument < len(texts) - 1 else ""
    return f"{signature.name}({before}{texts[argument]}{behind})"


def show_int(value: int) -> str:
    return str(value) if -(2**63) <= value < 2**64 else "an int beyond 64 bits"


def show_float(value: float) -> str:
    if math.isnan(value):
        return "nan"
    short = f"{value:.15g}"
    return short if float(short) == value else f"{value:.17g}"


def show_ints(values: Sequence[int]) -> str:
    shown = [str(value) for value in values[:MOST_ENTRIES]]
    return f"[{', '.join(shown + ['...'] * (len(values) > MOST_ENTRIES))}]"


def show_str(content: bytes) -> str:
    shown = "".join(map(show_byte, content[:MOST_ENTRIES]))
    return f"'{shown}'" + "..." * (len(content) > MOST_ENTRIES)


def show_byte(byte: int) -> str:
    """Show printable ASCII except quotes and backslashes as it is, other bytes escaped."""
    is_plain = 0x20 <= byte < 0x7F and byte not in b"'\"\\"
    return chr(byte) if is_plain else f"\\x{byte:02x}"


def show_device(code: int) -> str:
    return DEVICES.get(code, f"device type {code}")


def show_value(var: Var, value: Value) -> str:
    """Show a value of the symbol ``var`` according to its dtype."""
    if var.dtype == "bool":
        return str(bool(value))
    if var.dtype == "handle":
        return hex(int(value))
    return show_int(int(value)) if var.is_integer else show_float(value)
