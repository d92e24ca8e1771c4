"""The words of an error, filled in: exactly those of the compiled wrapper."""

from __future__ import annotations

from typing import Final, TypeAlias, Union

from ffi_builder import spec
from ffi_builder.plan import Place, Words
from ffi_builder.plan.words import FRAME, FRAME_WITHOUT_ARGUMENT, float_text, signature_text
from ffi_builder.testing import memory as mem

Scalar: TypeAlias = Union[int, float]

LAYOUT_WORDS: Final = (
    Words.CONTIGUOUS,
    Words.STRIDE,
    Words.STRIDE_SYMBOL,
    Words.STRIDE_EXPR,
)
"""Errors that show the shape and strides of the tensor."""

_CLASSES: Final = {"TypeError": TypeError, "ValueError": ValueError}


def error(
    signature: spec.Signature, place: Place, words: Words, shown: dict[str, str]
) -> TypeError | ValueError:
    """The exception; ``shown`` has what the braces of the words stand for."""
    argument = place.argument if place.argument >= 0 else None
    frame = FRAME_WITHOUT_ARGUMENT if argument is None else FRAME
    message = frame.format(
        subject=f"{words.prefix}{place}",
        argument=argument,
        signature=signature_text(signature.name, spec.argument_texts(signature), argument),
        wanted=words.expected.format(**shown),
        came=words.got.format(**shown),
    )
    return _CLASSES[words.kind](message)


def layout(tensor: int) -> dict[str, str]:
    """The shape and strides of a tensor object, as stored."""
    strides = mem.given_strides(tensor)
    return {
        "shape": str(mem.dims(tensor)),
        "strides": "NULL" if strides is None else str(strides),
    }


def same(lhs: Scalar, rhs: Scalar) -> bool:
    """Equal, or both NaN."""
    return lhs == rhs or (lhs != lhs and rhs != rhs)


def show(value: Scalar, dtype: str = "int64") -> str:
    """As messages show a value of a dtype."""
    if isinstance(value, bool) or dtype == "bool":
        return str(bool(value))
    if dtype in spec.FLOAT_DTYPES:
        return float_text(float(value))
    if not -(2**63) <= value < 2**64:
        return "an int beyond 64 bits"
    return hex(int(value)) if dtype == "handle" else str(value)
