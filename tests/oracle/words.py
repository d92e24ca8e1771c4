"""How places, values and whole messages are worded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NoReturn, TypeAlias, Union

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from ffi_builder.spec import Signature, Var, argument_texts, short_text

Kind: TypeAlias = Literal["TypeError", "ValueError"]
Value: TypeAlias = Union[int, float, bool]

WHOLE_SIGNATURE: Final = 400
"""The most characters of a signature that an error shows whole."""

INT64_MAX: Final = 2**63 - 1

KINDS: Final[dict[int, str]] = {
    TypeIndex.NONE: "None",
    TypeIndex.INT: "int",
    TypeIndex.BOOL: "bool",
    TypeIndex.FLOAT: "float",
    TypeIndex.OPAQUE_PTR: "opaque pointer",
    TypeIndex.DATA_TYPE: "dtype",
    TypeIndex.DEVICE: "device",
    TypeIndex.DL_TENSOR_PTR: "DLTensor*",
    TypeIndex.RAW_STR: "char*",
    TypeIndex.BYTE_ARRAY_PTR: "TVMFFIByteArray*",
    TypeIndex.OBJECT_RVALUE_REF: "moved object",
    TypeIndex.SMALL_STR: "str",
    TypeIndex.STR: "str",
    TypeIndex.SMALL_BYTES: "bytes",
    TypeIndex.BYTES: "bytes",
    TypeIndex.UNCHANGED: "Unchanged",
    TypeIndex.OBJECT: "Object",
    TypeIndex.ERROR: "Error",
    TypeIndex.FUNCTION: "Function",
    TypeIndex.SHAPE: "Shape",
    TypeIndex.TENSOR: "Tensor",
    TypeIndex.ARRAY: "Array",
    TypeIndex.MAP: "Map",
    TypeIndex.MODULE: "Module",
    TypeIndex.OPAQUE_PY_OBJECT: "Python object",
    TypeIndex.LIST: "List",
    TypeIndex.DICT: "Dict",
    TypeIndex.VISIT_INTERRUPT: "VisitInterrupt",
    TypeIndex.BIG_INT: "int beyond int64",
}
DEVICES: Final = {code: name for name, code in abi.DEVICE_TYPES.items()}


@dataclass(frozen=True)
class Mismatch(Exception):
    """The first check that fails; ``argument`` is None where no argument is concerned."""

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

    def part(self, name: str) -> Place:
        """``A`` to ``A.shape``."""
        return Place(self.argument, f"{self.path}.{name}")

    def entry(self, index: int) -> Place:
        """``A.shape`` to ``A.shape[0]``."""
        return Place(self.argument, f"{self.path}[{index}]")

    def wrong_value(self, expected: str, got: str) -> NoReturn:
        raise Mismatch("ValueError", self.path, self.argument, expected, got)

    def wrong_dtype(self, expected: str, got: str) -> NoReturn:
        raise Mismatch("TypeError", self.path, self.argument, expected, got)

    def wrong_type(self, expected: str, type_index: int) -> NoReturn:
        got = KINDS.get(type_index, f"type index {type_index}")
        raise Mismatch("TypeError", f"type of {self.path}", self.argument, expected, got)

    def wrong_length(self, expected: int, got: int) -> NoReturn:
        subject = f"length of {self.path}"
        raise Mismatch("ValueError", subject, self.argument, str(expected), str(got))


def signature_text(signature: Signature, argument: int | None) -> str:
    """The signature whole, or with all arguments but the failing one elided."""
    whole = short_text(signature)
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
    return f"[{', '.join(map(str, values))}]"


def show_device(code: int) -> str:
    return DEVICES.get(code, f"device type {code}")


def show_value(var: Var, value: Value) -> str:
    """A value of the symbol ``var``, as its dtype is shown."""
    if var.dtype == "bool":
        return str(bool(value))
    if var.dtype == "handle":
        return hex(int(value))
    return show_int(int(value)) if var.is_integer else show_float(value)
