"""The words of an error, filled in: exactly those of the compiled wrapper."""

from __future__ import annotations

from typing import Final, TypeAlias, Union

from ffi_builder import spec
from ffi_builder.plan import Place, Words
from ffi_builder.plan.messages import (
    FRAME,
    FRAME_WITHOUT_ARGUMENT,
    float_text,
    list_text,
    signature_text,
)
from ffi_builder.plan.steps import AnyStep
from ffi_builder.testing import memory as mem

Scalar: TypeAlias = Union[int, float]

LAYOUT_WORDS: Final = (
    Words.CONTIGUOUS,
    Words.COLUMN_MAJOR,
    Words.STRIDE,
    Words.STRIDE_SYMBOL,
    Words.STRIDE_EXPR,
)
"""Errors that show the shape and strides of the tensor."""

_CLASSES: Final = {"TypeError": TypeError, "ValueError": ValueError}


class Mismatch(Exception):
    """A check that failed; ``shown`` has what the braces of its words stand for."""

    def __init__(self, place: Place, words: Words, shown: dict[str, str]) -> None:
        super().__init__(str(place))
        self.place, self.words, self.shown = place, words, shown

    def error(self, signature: spec.Signature) -> TypeError | ValueError:
        """What the wrapper raises."""
        argument = self.place.argument if self.place.argument >= 0 else None
        frame = FRAME_WITHOUT_ARGUMENT if argument is None else FRAME
        shown = {"or_none": "", **self.shown}
        message = frame.format(
            subject=f"{self.words.prefix}{self.place}",
            argument=argument,
            signature=signature_text(signature.name, spec.argument_texts(signature), argument),
            wanted=self.words.expected.format(**shown),
            came=self.words.got.format(**shown),
        )
        return _CLASSES[self.words.kind](message)


def require(fine: bool, step: AnyStep, **shown: str) -> None:
    """Raise what a step says unless things are ``fine``."""
    if not fine:
        raise Mismatch(step.place, step.words, shown)


def require_equal(step: AnyStep, expected: Scalar, got: Scalar, **shown: str) -> None:
    """Raise what a step says unless the two are equal."""
    require(expected == got, step, expected=show(expected), got=show(got), **shown)


def layout(tensor: int) -> dict[str, str]:
    """The shape and strides of a tensor object, as stored."""
    strides = mem.given_strides(tensor)
    return {
        "shape": list_text(mem.dims(tensor)),
        "strides": "NULL" if strides is None else list_text(strides),
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
